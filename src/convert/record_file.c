/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record_file.h"

#include "core/memory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads what there is of `size` bytes. */
static size_t file_read(const char *path, uint64_t at, void *data, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(file, (char *)data + done, size - done, (off_t)(at + done));
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    close(file);
    return done;
}

static bool header_valid(const struct record_header *header)
{
    return header->version == RECORD_VERSION && header->block_size >= RECORD_BLOCK_MIN &&
           header->block_size <= RECORD_BLOCK_MAX && (header->block_size & (header->block_size - 1)) == 0 &&
           header->rank >= 0 && header->rank < header->size;
}

enum status record_file_open(struct record_file *file, char *path, struct error *err)
{
    struct stat about;
    file->path = path;
    if (stat(path, &about) != 0)
        return error_set_errno(err, ERROR_INPUT, "%s: cannot open", path);
    file->size = (uint64_t)about.st_size;
    size_t got = file_read(path, 0, &file->header, sizeof file->header);
    if (got < sizeof file->header || memcmp(file->header.magic, RECORD_MAGIC, sizeof file->header.magic) != 0)
        return error_set(err, ERROR_INPUT, "%s: is no buffer file of a recording", path);
    if (!header_valid(&file->header))
        return error_set(err, ERROR_INPUT, "%s: was written by another version of sight, or is damaged", path);
    file->header.host_name[sizeof file->header.host_name - 1] = '\0';
    return STATUS_OK;
}

void record_file_close(struct record_file *file)
{
    free(file->path);
    free(file->window);
}

void record_file_start(struct record_file *file, size_t window_size)
{
    free(file->window);
    file->window = memory_new(window_size);
    file->window_size = window_size;
    file->window_filled = 0;
    file->window_at = file->position = RECORD_HEADER_SIZE;
}

/* `size` bytes at the position, or NULL where the file ends before. */
static const unsigned char *file_need(struct record_file *file, size_t size)
{
    if (file->position + size > file->size)
        return NULL;
    uint64_t in_window = file->position - file->window_at;
    if (in_window + size > file->window_filled) {
        file->window_at = file->position;
        file->window_filled = file_read(file->path, file->position, file->window, file->window_size);
        in_window = 0;
        if (file->window_filled < size)
            return NULL;
    }
    return file->window + in_window;
}

const struct record_base *record_file_next(struct record_file *file)
{
    uint64_t block = file->header.block_size;
    while (!file->damaged) {
        uint64_t in_block = (file->position - RECORD_HEADER_SIZE) % block;
        bool fits = block - in_block >= sizeof(struct record_base);
        const unsigned char *at = fits ? file_need(file, sizeof(struct record_base)) : NULL;
        if (fits && !at)
            return NULL;
        struct record_base base = {0};
        if (at)
            memcpy(&base, at, sizeof base);
        if (base.kind == RECORD_NONE) {
            if (in_block == 0)
                return NULL;
            file->position += block - in_block;
            continue;
        }
        size_t size = (size_t)base.words * 8;
        at = size >= sizeof base && in_block + size <= block ? file_need(file, size) : NULL;
        file->damaged = !at;
        if (at)
            file->position += size;
        return (const struct record_base *)(const void *)at;
    }
    return NULL;
}

bool record_file_definition(const struct record_file *file, uint64_t *offset, void *record, size_t size)
{
    uint64_t at = *offset;
    if (at == 0) {
        at = file->header.first_definition;
    } else {
        struct record_comm *last = record; /* all definitions begin alike */
        at = last->next > at ? last->next : 0;
    }
    memset(record, 0, size);
    if (at < RECORD_HEADER_SIZE || at >= file->size)
        return false;
    size_t got = file_read(file->path, at, record, size);
    struct record_base base;
    memcpy(&base, record, sizeof base);
    size_t length = (size_t)base.words * 8;
    if (got < sizeof(struct record_comm) - 8 || length < sizeof base + 8 || length > got)
        return false;
    if (length < size)
        memset((char *)record + length, 0, size - length);
    *offset = at;
    return base.kind >= RECORD_COMM;
}
