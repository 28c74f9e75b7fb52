/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads an index without trusting it. */
#include "timeline/index.h"

#include "core/input.h"
#include "timeline/index_format.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char index_magic[8] = "SIGHTTL";
const size_t index_sizes[SECTION_COUNT] = {
#define INDEX_SIZE(name, type) sizeof(type),
    INDEX_SECTIONS(INDEX_SIZE)
#undef INDEX_SIZE
};

const void *index_section(const struct index *index, enum index_section section, size_t *count)
{
    *count = index->header->section[section].count;
    return index->data + index->header->section[section].at;
}

/* Files are looked at from end to end, and then used here and there. What was looked at goes back to the system, whose
   page cache keeps it: an index of a GB must not count as memory of this program. */
void index_give_back(const void *from, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = ((uintptr_t)from + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)from + size) & ~(page - 1);
    if (end > begin)
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED); /* only a hint */
}

uint64_t index_checksum(const unsigned char *data, size_t size)
{
    uint64_t checksum = CHECKSUM_START;
    for (; size > INDEX_PIECE; data += INDEX_PIECE, size -= INDEX_PIECE) {
        checksum = checksum_add(checksum, data, INDEX_PIECE);
        index_give_back(data, INDEX_PIECE);
    }
    return checksum_add(checksum, data, size);
}

/* Checksums find what decayed or was cut; the tests of numbers below are for files made to deceive, whose checksums are
   right: nothing in an index may lead outside of it. */
static bool header_is_sound(const struct index *index, bool pyramid)
{
    const struct index_header *header = index->header;
    if (index->size < sizeof *header || memcmp(header->magic, index_magic, sizeof index_magic) != 0 ||
        header->version != INDEX_VERSION || header->size != sizeof *header || header->file_size != index->size ||
        header->checksum != checksum_add(CHECKSUM_START, header, offsetof(struct index_header, checksum)))
        return false;
    if (memchr(header->format, 0, sizeof header->format) == NULL ||
        memchr(header->damage, 0, sizeof header->damage) == NULL || header->end_ns < header->begin_ns)
        return false;
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        uint64_t at = header->section[i].at, size;
        if (__builtin_mul_overflow(header->section[i].count, index_sizes[i], &size) || at % 8 != 0 ||
            at > index->size || size > index->size - at)
            return false;
        bool of_pyramid = i >= SECTION_LEVELS && i <= SECTION_CELLS;
        if ((pyramid || !of_pyramid) && header->section[i].checksum != index_checksum(index->data + at, size))
            return false;
    }
    return true;
}

/* Its header is whole, but of another version of sight, which may have one of another size. */
static bool is_of_other_version(const struct index *index)
{
    const struct index_header *header = index->header;
    bool whole = header->size != sizeof *header ||
                 header->checksum == checksum_add(CHECKSUM_START, header, offsetof(struct index_header, checksum));
    return memcmp(header->magic, index_magic, sizeof index_magic) == 0 && header->version != INDEX_VERSION && whole;
}

static bool numbers_below(const struct index *index, enum index_section section, size_t limit)
{
    size_t count;
    const uint32_t *numbers = index_section(index, section, &count);
    for (size_t i = 0; i < count; i++)
        if (numbers[i] >= limit)
            return false;
    return true;
}

/* Without adding, which could wrap. */
static bool within(uint64_t at, uint64_t count, size_t limit)
{
    return at <= limit && count <= limit - at;
}

static bool checkpoints_are_sound(const struct index *index)
{
    size_t count, open, waiting, spans, transits, rows;
    const struct checkpoint *checkpoints = index_section(index, SECTION_CHECKPOINTS, &count);
    index_section(index, SECTION_OPEN, &open);
    index_section(index, SECTION_WAITING, &waiting);
    const struct span *span = index_section(index, SECTION_SPANS, &spans);
    const struct transit *transit = index_section(index, SECTION_TRANSITS, &transits);
    index_section(index, SECTION_ROWS, &rows);
    if (count == 0 || !numbers_below(index, SECTION_OPEN, spans) || !numbers_below(index, SECTION_WAITING, transits))
        return false;
    /* Windows are found by halving: checkpoints must be in order. */
    for (size_t i = 0; i < count; i++)
        if (!within(checkpoints[i].open_at, checkpoints[i].open, open) ||
            !within(checkpoints[i].waiting_at, checkpoints[i].waiting, waiting) ||
            (i > 0 &&
             (checkpoints[i].offset < checkpoints[i - 1].offset || checkpoints[i].events < checkpoints[i - 1].events ||
              checkpoints[i].time_ns < checkpoints[i - 1].time_ns)))
            return false;
    for (size_t i = 0; i < spans; i++)
        if (span[i].row >= rows)
            return false;
    for (size_t i = 0; i < transits; i++)
        if (transit[i].row >= rows || (transit[i].other_row != TIMELINE_NONE && transit[i].other_row >= rows))
            return false;
    return true;
}

static bool pyramid_is_sound(const struct index *index)
{
    size_t levels, groups, skips, cells;
    const struct pyramid_level *level = index_section(index, SECTION_LEVELS, &levels);
    const struct pyramid_group *group = index_section(index, SECTION_GROUPS, &groups);
    index_section(index, SECTION_SKIPS, &skips);
    index_section(index, SECTION_CELLS, &cells);
    /* Times are shifted by these: by 63 and more is undefined. */
    for (size_t i = 0; i < levels; i++)
        if (level[i].shift > 62 || level[i].fold > 24 || !within(level[i].group_at, level[i].groups, groups))
            return false;
    for (size_t i = 0; i < groups; i++)
        if (!within(group[i].skip_at, group[i].skips, skips) || group[i].cell_end > cells ||
            group[i].cell_at > group[i].cell_end)
            return false;
    return true;
}

static bool definitions_are_sound(const struct index *index)
{
    size_t count;
    const struct clog2_range *ranges = index_section(index, SECTION_DEFINITIONS, &count);
    for (size_t i = 0; i < count; i++)
        if (ranges[i].from >= ranges[i].to || ranges[i].to > index->header->trace_size ||
            (i > 0 && ranges[i].from < ranges[i - 1].to))
            return false;
    return true;
}

/* What a mark is, is not known here: see timeline_counters. */
static bool curves_are_sound(const struct index *index)
{
    size_t curves, steps, rows;
    const struct counter_curve *curve = index_section(index, SECTION_CURVES, &curves);
    const struct counter_step *step = index_section(index, SECTION_STEPS, &steps);
    index_section(index, SECTION_ROWS, &rows);
    for (size_t i = 0; i < curves; i++) {
        if (curve[i].row >= rows || !within(curve[i].step_at, curve[i].steps, steps))
            return false;
        int64_t end_ns = curve[i].begin_ns;
        for (uint64_t at = curve[i].step_at; at < curve[i].step_at + curve[i].steps; at++) {
            if (step[at].end_ns < end_ns)
                return false;
            end_ns = step[at].end_ns;
        }
    }
    return true;
}

static bool rows_are_sound(const struct index *index)
{
    size_t count;
    const struct timeline_row *rows = index_section(index, SECTION_ROWS, &count);
    for (size_t i = 0; i < count; i++)
        if (rows[i].process >= PROCESS_LIMIT || rows[i].end_ns < rows[i].begin_ns)
            return false;
    return true;
}

enum status index_open(struct index *index, const char *path, const struct trace_identity *identity, bool pyramid,
                       const char **why)
{
    struct stat about;
    *why = "";
    *index = (struct index){0};
    int file = private_open(path);
    if (file < 0) {
        if (errno != ENOENT)
            *why = "not written by this user alone";
        return STATUS_END;
    }
    *why = "damaged";
    if (fstat(file, &about) == 0 && about.st_size >= (off_t)sizeof *index->header) {
        void *data = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (data != MAP_FAILED)
            index->size = (size_t)about.st_size;
        index->data = data;
        index->header = data;
    }
    close(file);
    bool sound = index->size > 0 && header_is_sound(index, pyramid) && rows_are_sound(index) &&
                 definitions_are_sound(index) && checkpoints_are_sound(index) &&
                 (!pyramid || pyramid_is_sound(index)) && curves_are_sound(index);
    if (index->size > 0)
        index_give_back(index->data, index->size);
    if (sound && identity_equal(&index->header->identity, identity))
        return STATUS_OK;
    if (sound)
        *why = "outdated: the trace has changed";
    else if (index->size > 0 && is_of_other_version(index))
        *why = "made by another version of sight";
    index_close(index);
    return STATUS_END;
}

void index_close(struct index *index)
{
    if (index->size > 0)
        munmap((void *)(uintptr_t)index->data, index->size);
    *index = (struct index){0};
}
