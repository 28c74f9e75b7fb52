/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what metrics files contain about the places of waits. */
#include "core/memory.h"
#include "metrics/file_parts.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

static bool is_site(const struct site_def *site, const char *name, const char *function, int32_t line)
{
    return site->line == line && strcmp(site->file, name) == 0 &&
           strcmp(site->function ? site->function : "", function) == 0;
}

uint32_t file_site(struct metrics_file *file)
{
    struct defs *defs = file->metrics->own_defs;
    char *name = memory_copy_string(file_text(file, ATTRIBUTE_file));
    int32_t line = (int32_t)file_count(file, ATTRIBUTE_line, INT32_MAX);
    char *function = (char *)(uintptr_t)file_text(file, ATTRIBUTE_function);
    uint64_t hash = hash_text(hash_text(map_hash((uint32_t)line), name), function), *index;
    for (;; hash += 2) {
        index = map_put(&file->sites, hash >> 1, UINT64_MAX);
        if (*index == UINT64_MAX)
            *index = defs_add_site(
                defs, &(struct site_def){
                          .file = name, .function = *function ? function : NULL, .id = EVENT_UNKNOWN, .line = line});
        if (is_site(&defs->sites[*index], name, function, line))
            break;
    }
    free(name);
    return (uint32_t)*index;
}

void read_site(struct metrics_file *file)
{
    if (file->wait)
        ARRAY_PUSH(file->wait->sites, file->wait->site_count, file->wait_site_capacity,
                   (struct wait_place){file_site(file), file_time(file, ATTRIBUTE_time_s)});
}

void read_among(struct metrics_file *file)
{
    int64_t id = file_number(file, ATTRIBUTE_communicator);
    if (file->wait && id != EVENT_UNKNOWN)
        ARRAY_PUSH(file->wait->comms, file->wait->comm_count, file->wait_comm_capacity,
                   (struct wait_place){(uint32_t)defs_comm(file->metrics->own_defs, (int32_t)id),
                                       file_time(file, ATTRIBUTE_time_s)});
}
