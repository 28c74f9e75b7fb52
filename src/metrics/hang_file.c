/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what metrics files contain about why a run hung. Times are from the run's begin. */
#include "core/memory.h"
#include "core/payload.h"
#include "metrics/file_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "2 0 1": the ranks of an attribute, in that order; owned by the caller. */
static uint32_t *read_ranks(struct metrics_file *file, enum file_attribute attribute, size_t *count)
{
    uint32_t *ranks = NULL;
    size_t capacity = 0;
    for (const char *at = file_text(file, attribute); *at;) {
        char *end;
        errno = 0;
        unsigned long rank = strtoul(at, &end, 10);
        if (*at < '0' || *at > '9' || errno || rank >= PROCESS_LIMIT || (*end && *end != ' ')) {
            file_attribute_damage(file, attribute);
            break;
        }
        ARRAY_PUSH(ranks, *count, capacity, (uint32_t)rank);
        at = *end ? end + 1 : end;
    }
    return ranks;
}

void read_hang(struct metrics_file *file)
{
    struct metrics *metrics = file->metrics;
    enum stuck_kind kind = stuck_kind_find(file_text(file, ATTRIBUTE_kind));
    if (metrics->own_stuck)
        return;
    if (kind <= STUCK_SLOW) {
        file_attribute_damage(file, ATTRIBUTE_kind);
        return;
    }
    struct stuck *stuck = memory_new(sizeof *stuck);
    metrics->stuck = metrics->own_stuck = stuck;
    stuck->kind = kind;
    stuck->defs = metrics->own_defs;
    stuck->text = memory_copy_string(file_text(file, ATTRIBUTE_text));
    stuck->since_ns = file_time(file, ATTRIBUTE_since_s);
    stuck->end_ns = file_time(file, ATTRIBUTE_end_s);
    stuck->processes = read_ranks(file, ATTRIBUTE_processes, &stuck->process_count);
    stuck->cycle = read_ranks(file, ATTRIBUTE_cycle, &stuck->cycle_count);
}

/* "any", a number, or nothing. */
static int32_t read_known(struct metrics_file *file, enum file_attribute attribute)
{
    if (strcmp(file_text(file, attribute), "any") == 0)
        return PENDING_ANYBODY;
    return (int32_t)file_number(file, attribute);
}

void read_pending(struct metrics_file *file)
{
    struct stuck *stuck = file->metrics->own_stuck;
    if (!stuck)
        return;
    struct stuck_call call = {.rank = (uint32_t)file_count(file, ATTRIBUTE_rank, PROCESS_LIMIT - 1),
                              .state = UINT32_MAX,
                              .last = UINT32_MAX,
                              .partner = read_known(file, ATTRIBUTE_partner),
                              .tag = read_known(file, ATTRIBUTE_tag),
                              .comm = EVENT_UNKNOWN,
                              .since_ns = file_time(file, ATTRIBUTE_since_s),
                              .loops = strcmp(file_text(file, ATTRIBUTE_loops), "true") == 0,
                              .died = xml_sax_has(&file->sax, ATTRIBUTE_died_s),
                              .died_ns = file_time(file, ATTRIBUTE_died_s)};
    if (xml_sax_has(&file->sax, ATTRIBUTE_name))
        call.state = file_state_named(file, file_text(file, ATTRIBUTE_name), NULL);
    else if (xml_sax_has(&file->sax, ATTRIBUTE_after))
        call.last = file_state_named(file, file_text(file, ATTRIBUTE_after), NULL);
    if (xml_sax_has(&file->sax, ATTRIBUTE_file))
        call.site = file_site(file) + 1;
    int64_t comm = file_number(file, ATTRIBUTE_communicator);
    if (comm != EVENT_UNKNOWN)
        call.comm = defs_comm(file->metrics->own_defs, (int32_t)comm);
    ARRAY_PUSH(stuck->calls, stuck->call_count, file->pending_capacity, call);
}
