/* SPDX-License-Identifier: BSD-3-Clause */
/* The pass over the trace sums up the finest cells of each size of group and sorts them by group. Then each group's
   cells are read in order of time, time attributed to rows after their last event is removed, and the wider bins are
   made from pairs. */
#include "timeline/pyramid_build.h"

#include "convert/reader.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/sorter.h"
#include "timeline/index.h"
#include "timeline/pyramid_write.h"

#include <math.h>
#include <string.h>

/* Groups of 1, 8, 64, ... processes, as long as there are enough of them to look at; in between a tile adds up at most
   eight times as many cells as it shows. */
enum { FOLD_STEP = 3, FOLDS_MAX = 8, GROUPS_LEAST = 32, SORT_MEMORY = 16 << 20 };

/* The size limit of the pyramid, as a share of the trace, and about the size of a cell in bytes. All widths together
   are twice the finest: 1 + 1/2 + 1/4 + ... */
static const double CELLS_SHARE = 0.05, CELL_BYTES = 7;

/* A state that rows of a group are in. */
struct presence {
    uint32_t state, rows;
    int64_t ns; /* in the current bin, if nothing changes until its end */
};

struct group {
    struct presence *in;
    size_t count, capacity;
    uint64_t bin, messages;
    bool begun;
};

struct fold {
    unsigned shift, fold;
    struct group *groups;
    size_t count; /* and capacity */
};

struct pyramid_build {
    const struct defs *defs;
    struct sorter *sorter;
    struct fold folds[FOLDS_MAX];
    size_t fold_count;
    int64_t begin_ns, now_ns;
    bool begun;
    uint32_t *states; /* by row: what it does; ROW_NOT_YET */
    size_t state_capacity;
    unsigned char *packed;
    size_t packed_capacity;
    struct error fault;
};
enum { ROW_NOT_YET = UINT32_MAX - 1 };

/* How long the run takes, estimated from the first events and the last blocks. */
static enum status estimate_duration(struct reader *reader, int64_t *duration_ns, struct error *err)
{
    /* The width of bins must be known before the first event is added up; a pass to find out would double the time. A
       wrong estimate only costs size or detail. */
    uint64_t begin = reader->input->offset;
    struct batch *batch = memory_new(sizeof *batch);
    const uint64_t places[2] = {begin, reader_last_place(reader)};
    bool any = false;
    int64_t first_ns = 0, last_ns = 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < 2 && status != STATUS_FAILED; i++) {
        status = reader_seek(reader, places[i], UINT64_MAX, err);
        /* At the begin the first batch is enough; at the end all are read. */
        while (status != STATUS_FAILED && (status = reader_next(reader, batch, err)) == STATUS_OK) {
            for (size_t k = 0; k < batch->count; k++) {
                int64_t time_ns = batch->events[k].time_ns;
                if (!event_counts(&batch->events[k]))
                    continue;
                if (!any)
                    first_ns = last_ns = time_ns;
                first_ns = smaller(time_ns, first_ns);
                last_ns = larger(time_ns, last_ns);
                any = true;
            }
            if (i == 0 && any)
                break;
        }
    }
    *duration_ns = time_since(first_ns, last_ns);
    batch_free(batch);
    free(batch);
    if (status == STATUS_FAILED)
        return status;
    return reader_seek(reader, begin, UINT64_MAX, err);
}

static void add_folds(struct pyramid_build *build, double bytes, int64_t duration_ns)
{
    uint32_t processes = larger(build->defs->processes, 1U);
    for (unsigned fold = 0; build->fold_count < FOLDS_MAX && (fold == 0 || processes >> fold >= GROUPS_LEAST);
         fold += FOLD_STEP)
        build->folds[build->fold_count++] = (struct fold){.fold = fold};
    for (size_t i = 0; i < build->fold_count; i++) {
        /* Each size of groups gets the same part of the room; few groups get narrow bins for it. */
        double groups = (double)((processes >> build->folds[i].fold) + 1);
        double bins = bytes / (double)build->fold_count / (2 * CELL_BYTES * groups);
        unsigned shift = 0;
        while (shift < 62 && (double)duration_ns / (double)((uint64_t)1 << shift) > fmax(bins, 1))
            shift++;
        build->folds[i].shift = shift;
    }
}

struct pyramid_build *pyramid_build_new(struct reader *reader, double share, struct error *err)
{
    int64_t duration_ns;
    if (estimate_duration(reader, &duration_ns, err) != STATUS_OK)
        return NULL;
    struct pyramid_build *build = memory_new(sizeof *build);
    build->defs = reader->defs;
    build->sorter = sorter_new(SORT_MEMORY);
    if (share <= 0)
        share = CELLS_SHARE;
    add_folds(build, share * (double)input_size(reader->input), duration_ns);
    return build;
}

void pyramid_build_free(struct pyramid_build *build)
{
    if (!build)
        return;
    for (size_t i = 0; i < build->fold_count; i++) {
        for (size_t k = 0; k < build->folds[i].count; k++)
            free(build->folds[i].groups[k].in);
        free(build->folds[i].groups);
    }
    sorter_free(build->sorter);
    free(build->states);
    free(build->packed);
    free(build);
}

static struct group *group_of(struct fold *fold, uint32_t row, uint32_t process)
{
    size_t number = row, before = fold->count;
    if (fold->fold > 0)
        number = process >> fold->fold;
    if (number >= before) {
        ARRAY_RESERVE(fold->groups, fold->count, number + 1);
        memset(&fold->groups[before], 0, (fold->count - before) * sizeof *fold->groups);
    }
    return &fold->groups[number];
}

/* The cell of the group's bin, and the bins after it, up to `next`, in which nothing changes: into the sorter. */
static void put_cell(struct pyramid_build *build, size_t fold, const struct group *group, uint64_t next)
{
    struct error *err = &build->fault;
    double length = (double)((uint64_t)1 << build->folds[fold].shift);
    uint64_t number = (uint64_t)(group - build->folds[fold].groups);
    ARRAY_RESERVE(build->packed, build->packed_capacity, 64 + group->count * 32);
    unsigned char *at = varint_put(build->packed, next - group->bin - 1);
    at = varint_put(at, group->messages);
    at = varint_put(at, group->count);
    for (size_t i = 0; i < group->count; i++) {
        at = varint_put(at, group->in[i].state + 1);
        at = varint_put(at, (uint64_t)llround(fmax((double)group->in[i].ns, 0) / length * CELL_FINE));
        at = varint_put(at, group->in[i].rows);
    }
    /* By size of groups, then group, then time: the order in which they are read again. The first fault is kept until
       the end: the walk that calls this cannot be stopped from here. */
    struct sort_key key = {(uint64_t)fold << 32 | number, group->bin};
    if (err->kind == ERROR_NONE &&
        sorter_add(build->sorter, key, build->packed, (size_t)(at - build->packed), err) == STATUS_OK)
        err->kind = ERROR_NONE;
}

/* Begins a bin: assumes that nothing changes in it. */
static void begin_bin(struct group *group, uint64_t bin, unsigned shift)
{
    /* A bin of 2^shift ns with n rows has n times that in all; each change takes from one state what is left of the bin
       and gives it to another. So an event costs the same however many rows the group has. */
    size_t kept = 0;
    for (size_t i = 0; i < group->count; i++)
        if (group->in[i].rows > 0) {
            group->in[kept] = group->in[i];
            group->in[kept].ns = (int64_t)((double)((uint64_t)1 << shift) * group->in[i].rows);
            kept++;
        }
    group->count = kept;
    group->bin = bin;
    group->messages = 0;
    group->begun = true;
}

static struct presence *presence_of(struct group *group, uint32_t state)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->in[i].state == state)
            return &group->in[i];
    ARRAY_PUSH(group->in, group->count, group->capacity, (struct presence){.state = state});
    return &group->in[group->count - 1];
}

/* The group, its bin being that of the time, which is *left_ns before the bin's end. */
static struct group *group_at(struct pyramid_build *build, size_t fold, uint32_t row, uint32_t process, int64_t time_ns,
                              int64_t *left_ns)
{
    struct fold *at = &build->folds[fold];
    struct group *group = group_of(at, row, process);
    /* Cells are put when the first event after them comes: bins in which nothing happens cost nothing. */
    uint64_t passed = (uint64_t)time_since(build->begin_ns, time_ns), bin = passed >> at->shift;
    if (group->begun && bin > group->bin)
        put_cell(build, fold, group, bin);
    if (!group->begun || bin > group->bin)
        begin_bin(group, bin, at->shift);
    *left_ns = (int64_t)(((uint64_t)1 << at->shift) - (passed & (((uint64_t)1 << at->shift) - 1)));
    return group;
}

static uint32_t *state_of(struct pyramid_build *build, uint32_t row)
{
    size_t before = build->state_capacity;
    if (row >= before) {
        ARRAY_RESERVE(build->states, build->state_capacity, (size_t)row + 1);
        for (size_t i = before; i < build->state_capacity; i++)
            build->states[i] = ROW_NOT_YET;
    }
    return &build->states[row];
}

void pyramid_build_state(struct pyramid_build *build, uint32_t row, uint32_t process, int64_t time_ns, uint32_t state)
{
    /* States of one name are one: cells say what is drawn alike. */
    if (state != TIMELINE_NONE)
        state = build->defs->states[state].first_of_name;
    if (!build->begun)
        build->begin_ns = time_ns;
    build->begun = true;
    build->now_ns = time_ns;
    uint32_t *before = state_of(build, row);
    if (*before == state) /* as after a message: nothing to move */
        return;
    for (size_t i = 0; i < build->fold_count; i++) {
        int64_t left_ns;
        struct group *group = group_at(build, i, row, process, time_ns, &left_ns);
        if (*before != ROW_NOT_YET) {
            struct presence *old = presence_of(group, *before);
            old->rows--;
            old->ns -= left_ns;
        }
        struct presence *new = presence_of(group, state);
        new->rows++;
        new->ns += left_ns;
    }
    *before = state;
}

void pyramid_build_message(struct pyramid_build *build, uint32_t row, uint32_t process, int64_t time_ns)
{
    if (!build->begun)
        build->begin_ns = time_ns;
    build->begun = true;
    for (size_t i = 0; i < build->fold_count; i++) {
        int64_t left_ns;
        group_at(build, i, row, process, time_ns, &left_ns)->messages++;
    }
}

/* Every group's last bin, and what lies after it, up to the run's last event. */
static void end_groups(struct pyramid_build *build)
{
    for (size_t i = 0; i < build->fold_count; i++) {
        struct fold *fold = &build->folds[i];
        uint64_t last = (uint64_t)time_since(build->begin_ns, build->now_ns) >> fold->shift;
        for (size_t k = 0; k < fold->count; k++)
            if (fold->groups[k].begun)
                put_cell(build, i, &fold->groups[k], last + 1);
    }
}

enum status pyramid_build_end(struct pyramid_build *build, const struct rows *rows, const uint32_t *places,
                              struct spill *tables, struct error *err)
{
    end_groups(build);
    if (build->fault.kind != ERROR_NONE) {
        *err = build->fault;
        return STATUS_FAILED;
    }
    if (!build->begun)
        return STATUS_OK;
    struct sorted_cells cells = {.sorter = build->sorter};
    enum status status = sorter_rewind(build->sorter, err);
    if (status == STATUS_OK && sorted_cells_next(&cells, err) == STATUS_FAILED)
        status = STATUS_FAILED;
    for (size_t i = 0; i < build->fold_count && status == STATUS_OK; i++) {
        struct pyramid_order order = {.cells = &cells,
                                      .fold_number = i,
                                      .fold = build->folds[i].fold,
                                      .shift = build->folds[i].shift,
                                      .rows = rows,
                                      .places = places,
                                      .states = build->states,
                                      .begin_ns = build->begin_ns,
                                      .duration_ns = time_since(build->begin_ns, build->now_ns)};
        status = pyramid_write(&order, tables, err);
    }
    return status;
}
