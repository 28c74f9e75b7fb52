/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/recording_links.h"

#include "core/event.h"
#include "core/memory.h"
#include "core/numbers.h"

static uint64_t link_key(size_t program, uint64_t key)
{
    return map_hash(key ^ (uint64_t)program << 32) >> 1;
}

static bool leads_out(uint32_t kin)
{
    return kin != RECORD_OWN && kin != RECORD_OF_PARENT && kin != RECORD_STRANGE;
}

static bool in_range(int64_t time_ns)
{
    return time_ns <= RECORD_TIME_MAX && time_ns >= -RECORD_TIME_MAX;
}

union definition {
    struct record_comm comm;
    struct record_clock clock;
};

static struct record_clock_line clock_of(const struct record_file *file)
{
    struct record_clock_line clock = {0};
    union definition definition;
    uint64_t offset = 0;
    while (record_file_definition(file, &offset, &definition, sizeof definition))
        if (definition.comm.base.kind == RECORD_CLOCK)
            record_offset_add(&clock, &definition.clock);
    return clock;
}

/* All processes of a program have the same one, made in calls of their own. */
static void add_link(struct recordings *recordings, const struct record_file *file,
                     const struct record_clock_line *clock, const struct record_comm *record)
{
    int64_t since_ns = record->since_ns + record_clock_offset(clock, record->since_ns);
    int64_t until_ns = record->until_ns + record_clock_offset(clock, record->until_ns);
    uint64_t *index = map_put(&recordings->link_of, link_key(file->program, record->key), recordings->link_count);
    if (*index == recordings->link_count)
        ARRAY_PUSH(recordings->links, recordings->link_count, recordings->link_capacity,
                   (struct recording_link){.program = file->program,
                                           .key = record->key,
                                           .kin = record->kin,
                                           .size = record->size,
                                           .remote_size = record->remote_size,
                                           .since_ns = since_ns,
                                           .until_ns = until_ns,
                                           .other = SIZE_MAX});
    struct recording_link *link = &recordings->links[*index];
    if (since_ns < link->since_ns)
        link->since_ns = since_ns;
    if (until_ns > link->until_ns)
        link->until_ns = until_ns;
}

static void read_links(struct recordings *recordings, const struct record_file *file)
{
    struct record_clock_line clock = clock_of(file);
    union definition definition;
    uint64_t offset = 0;
    while (record_file_definition(file, &offset, &definition, sizeof definition))
        if (definition.comm.base.kind == RECORD_COMM && leads_out(definition.comm.kin) &&
            in_range(definition.comm.since_ns) && in_range(definition.comm.until_ns))
            add_link(recordings, file, &clock, &definition.comm);
}

static size_t root_of(const struct recordings *recordings, size_t program)
{
    while (recordings->programs[program].base != SIZE_MAX)
        program = recordings->programs[program].base;
    return program;
}

/* The clock of program `from` relative to that of `to`: by a process of `to` on the host of process 0 of `from`.
   False: there is none. */
static bool clock_between(const struct recordings *recordings, size_t from, size_t to, struct record_clock_line *clock)
{
    uint64_t host = recordings->programs[from].host;
    *clock = (struct record_clock_line){0};
    /* One clock: there is nothing between them. */
    if (host == recordings->programs[to].host)
        return true;
    for (size_t i = 0; i < recordings->file_count; i++) {
        const struct record_file *file = &recordings->files[i];
        if (file->program != to || file->header.thread != 0 || file->header.host != host)
            continue;
        *clock = clock_of(file);
        return true;
    }
    return false;
}

static int64_t processes_with(const struct recordings *recordings, size_t program)
{
    size_t root = root_of(recordings, program);
    int64_t count = 0;
    for (size_t i = 0; i < recordings->program_count; i++)
        if (root_of(recordings, i) == root)
            count += recordings->programs[i].size;
    return count;
}

/* The two ends of one inter-communicator, if `clock` leads from the time of `passive` to that of `active`. */
static bool same_link(const struct recording_link *active, const struct recording_link *passive,
                      const struct record_clock_line *clock)
{
    int64_t since_ns = passive->since_ns + record_clock_offset(clock, passive->since_ns);
    int64_t until_ns = passive->until_ns + record_clock_offset(clock, passive->until_ns);
    /* Nothing that MPI gives both sides identifies the connection: its kind, the sizes of both groups, and that the
       calls overlapped in time must do. */
    return active->kin + 1 == passive->kin && active->program != passive->program && passive->other == SIZE_MAX &&
           active->size == passive->remote_size && active->remote_size == passive->size &&
           since_ns <= active->until_ns && until_ns >= active->since_ns;
}

/* If several are possible, the earliest one: both sides create them in the same order. */
static void find_other(struct recordings *recordings, size_t index)
{
    struct recording_link *active = &recordings->links[index], *found = NULL;
    struct record_clock_line clock, clock_found = {0};
    for (size_t i = 0; i < recordings->link_count; i++) {
        struct recording_link *passive = &recordings->links[i];
        if ((!found || passive->since_ns < found->since_ns) && active->kin + 1 == passive->kin &&
            clock_between(recordings, passive->program, active->program, &clock) &&
            same_link(active, passive, &clock)) {
            found = passive;
            clock_found = clock;
        }
    }
    if (!found)
        return;
    /* Programs already joined need no second relation between their clocks; one that follows a third program's clock
       cannot follow this one's too. */
    struct recording_program *joins = &recordings->programs[found->program];
    if (root_of(recordings, found->program) != root_of(recordings, active->program)) {
        if (joins->base != SIZE_MAX ||
            processes_with(recordings, found->program) + processes_with(recordings, active->program) > PROCESS_LIMIT)
            return;
        joins->base = active->program;
        joins->clock = clock_found;
    }
    active->other = (size_t)(found - recordings->links);
    found->other = index;
}

static int compare_links(const void *a, const void *b)
{
    const struct recording_link *left = a, *right = b;
    if (left->since_ns != right->since_ns)
        return left->since_ns < right->since_ns ? -1 : 1;
    if (left->program != right->program)
        return left->program < right->program ? -1 : 1;
    if (left->key < right->key)
        return -1;
    return left->key > right->key;
}

void recording_links_find(struct recordings *recordings)
{
    for (size_t i = 0; i < recordings->file_count; i++)
        if (recordings->files[i].header.linked)
            read_links(recordings, &recordings->files[i]);
    if (recordings->link_count == 0)
        return;
    /* The result must not depend on the order in which a directory lists its files. */
    qsort(recordings->links, recordings->link_count, sizeof *recordings->links, compare_links);
    map_clear(&recordings->link_of);
    for (size_t i = 0; i < recordings->link_count; i++)
        map_put(&recordings->link_of, link_key(recordings->links[i].program, recordings->links[i].key), i);
    for (size_t i = 0; i < recordings->link_count; i++)
        if (recordings->links[i].kin == RECORD_SPAWNED || recordings->links[i].kin == RECORD_ACCEPTED)
            find_other(recordings, i);
}

uint64_t recordings_shared_key(const struct recordings *recordings, size_t program, uint64_t key)
{
    const uint64_t *index = map_find(&recordings->link_of, link_key(program, key));
    if (!index || recordings->links[*index].other == SIZE_MAX)
        return 0;
    size_t other = recordings->links[*index].other;
    return map_hash(smaller(other, *index) + UINT64_C(0x5851F42D4C957F2D)) | 1;
}

int64_t recordings_offset(const struct recordings *recordings, size_t program, int64_t time_ns)
{
    const struct recording_program *at = &recordings->programs[program];
    int64_t offset_ns = 0;
    for (; at->base != SIZE_MAX; at = &recordings->programs[at->base])
        offset_ns += record_clock_offset(&at->clock, time_ns + offset_ns);
    return offset_ns;
}
