/* SPDX-License-Identifier: BSD-3-Clause */
/* The pass over the trace sums up the finest cells of each size of group and sorts them by group. Then each group's
   cells are read in order of time, time attributed to rows after their last event is removed, and the wider bins are
   made from pairs. Groups do not depend on each other: shards of processes that follow each other are summed up, sorted
   and written by different threads. */
#include "timeline/pyramid_build.h"

#include "convert/reader.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "core/sorter.h"
#include "timeline/index.h"
#include "timeline/pyramid_write.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Groups of 1, 8, 64, ... processes, as long as there are enough of them to look at; in between a tile adds up at most
   eight times as many cells as it shows. */
enum { FOLD_STEP = 3, FOLDS_MAX = 8, GROUPS_LEAST = 32, SORT_MEMORY = 16 << 20 };

static_assert((int)PYRAMID_SHARDS < (int)GROUPS_LEAST, "no group is in two shards");

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

/* The groups of a shard, of one size. */
struct groups {
    struct group *group;
    size_t count;   /* and capacity */
    uint32_t first; /* number of the first one in the trace; of rows 0 */
};

struct shard {
    struct sorter *sorter;
    struct groups folds[FOLDS_MAX];
    unsigned char *packed;
    size_t packed_capacity;
    struct error fault;
    struct pyramid_member *members; /* its rows, in the order in which they were met */
    size_t count, capacity;
    struct tape cells, skips;
    struct pyramid_base base, *bases; /* where its own and those of each level begin */
};

struct pyramid_build {
    const struct defs *defs;
    struct fold {
        unsigned shift, fold;
    } folds[FOLDS_MAX];
    size_t fold_count;
    struct shard shards[PYRAMID_SHARDS];
    struct pyramid_shards split;
    uint64_t passed_ns[PYRAMID_SHARDS]; /* by part: since the run's begin */
};

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

static void add_shards(struct pyramid_build *build)
{
    uint32_t processes = larger(build->defs->processes, 1U);
    while ((processes - 1) >> build->split.shift >= PYRAMID_SHARDS)
        build->split.shift++;
    build->split.count = ((processes - 1) >> build->split.shift) + 1;
    for (uint32_t i = 0; i < build->split.count; i++) {
        struct shard *shard = &build->shards[i];
        shard->sorter = sorter_new(SORT_MEMORY / build->split.count);
        for (size_t k = 1; k < build->fold_count; k++)
            shard->folds[k].first = (i << build->split.shift) >> build->folds[k].fold;
    }
}

struct pyramid_build *pyramid_build_new(struct reader *reader, double share, struct error *err)
{
    int64_t duration_ns;
    if (estimate_duration(reader, &duration_ns, err) != STATUS_OK)
        return NULL;
    struct pyramid_build *build = memory_new(sizeof *build);
    build->defs = reader->defs;
    if (share <= 0)
        share = CELLS_SHARE;
    add_folds(build, share * (double)input_size(reader->input), duration_ns);
    add_shards(build);
    return build;
}

static void shard_clear(struct shard *shard)
{
    for (size_t i = 0; i < FOLDS_MAX; i++) {
        for (size_t k = 0; k < shard->folds[i].count; k++)
            free(shard->folds[i].group[k].in);
        free(shard->folds[i].group);
    }
    sorter_free(shard->sorter);
    free(shard->packed);
    free(shard->members);
    free(shard->bases);
    tape_clear(&shard->cells);
    tape_clear(&shard->skips);
}

void pyramid_build_free(struct pyramid_build *build)
{
    if (!build)
        return;
    for (uint32_t i = 0; i < build->split.count; i++)
        shard_clear(&build->shards[i]);
    free(build);
}

struct pyramid_shards pyramid_build_shards(const struct pyramid_build *build)
{
    return build->split;
}

static void add_row(struct shard *shard, uint32_t row, uint32_t process)
{
    ARRAY_PUSH(shard->members, shard->count, shard->capacity, (struct pyramid_member){row, process, PYRAMID_NO_STATE});
}

/* The group of a row, by its number in the shard. */
static struct group *group_of(struct groups *groups, unsigned fold, uint32_t row, uint32_t process)
{
    size_t number = row, before = groups->count;
    if (fold > 0)
        number = (process >> fold) - groups->first;
    if (number >= before) {
        ARRAY_RESERVE(groups->group, groups->count, number + 1);
        memset(&groups->group[before], 0, (groups->count - before) * sizeof *groups->group);
    }
    return &groups->group[number];
}

/* The cell of the group's bin, and the bins after it, up to `next`, in which nothing changes: into the sorter. */
static void put_cell(struct shard *shard, size_t fold, unsigned shift, const struct group *group, uint64_t next)
{
    struct error *err = &shard->fault;
    double length = (double)((uint64_t)1 << shift);
    uint64_t number = (uint64_t)(group - shard->folds[fold].group) + shard->folds[fold].first;
    ARRAY_RESERVE(shard->packed, shard->packed_capacity, 64 + group->count * 32);
    unsigned char *at = varint_put(shard->packed, next - group->bin - 1);
    at = varint_put(at, group->messages);
    at = varint_put(at, group->count);
    for (size_t i = 0; i < group->count; i++) {
        at = varint_put(at, group->in[i].state + 1);
        at = varint_put(at, (uint64_t)llround(fmax((double)group->in[i].ns, 0) / length * CELL_FINE));
        at = varint_put(at, group->in[i].rows);
    }
    /* By size of groups, then group, then time: the order in which they are read again. The first fault is kept until
       the end. */
    struct sort_key key = {(uint64_t)fold << 32 | number, group->bin};
    if (err->kind == ERROR_NONE &&
        sorter_add(shard->sorter, key, shard->packed, (size_t)(at - shard->packed), err) == STATUS_OK)
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

/* The group of a row, its bin being that of the time, which is *left_ns before the bin's end. */
static struct group *group_at(const struct pyramid_build *build, struct shard *shard, size_t fold, uint32_t row,
                              uint64_t passed_ns, int64_t *left_ns)
{
    unsigned shift = build->folds[fold].shift;
    struct group *group = group_of(&shard->folds[fold], build->folds[fold].fold, row, shard->members[row].process);
    /* Cells are put when the first event after them comes: bins in which nothing happens cost nothing. */
    uint64_t bin = passed_ns >> shift;
    if (group->begun && bin > group->bin)
        put_cell(shard, fold, shift, group, bin);
    if (!group->begun || bin > group->bin)
        begin_bin(group, bin, shift);
    *left_ns = (int64_t)(((uint64_t)1 << shift) - (passed_ns & (((uint64_t)1 << shift) - 1)));
    return group;
}

static void take(const struct pyramid_build *build, struct shard *shard, uint32_t row, uint64_t passed_ns, uint32_t to)
{
    struct pyramid_member *member = &shard->members[row];
    for (size_t i = 0; i < build->fold_count; i++) {
        int64_t left_ns;
        struct group *group = group_at(build, shard, i, row, passed_ns, &left_ns);
        if (to == PYRAMID_MESSAGE) {
            group->messages++;
            continue;
        }
        if (member->state != PYRAMID_NO_STATE) {
            struct presence *old = presence_of(group, member->state);
            old->rows--;
            old->ns -= left_ns;
        }
        struct presence *new = presence_of(group, to);
        new->rows++;
        new->ns += left_ns;
    }
    if (to != PYRAMID_MESSAGE)
        member->state = to;
}

void pyramid_build_take(struct pyramid_build *build, const struct pyramid_changes *changes, unsigned part,
                        unsigned parts)
{
    uint64_t passed_ns = build->passed_ns[part];
    for (const struct pyramid_change *at = changes->change, *end = at + changes->count; at < end; at++) {
        bool new = at->to == PYRAMID_NEW;
        uint32_t shard = at->row >> PYRAMID_ROW_BITS;
        if (new)
            shard = pyramid_shard_of(&build->split, at->later_ns);
        else if (at->to == PYRAMID_LATER)
            passed_ns += (uint64_t)at->row << 32;
        else
            passed_ns += at->later_ns;
        if (at->to == PYRAMID_LATER || shard % parts != part)
            continue;
        if (new)
            add_row(&build->shards[shard], at->row, at->later_ns);
        else
            take(build, &build->shards[shard], at->row & ((1U << PYRAMID_ROW_BITS) - 1), passed_ns, at->to);
    }
    build->passed_ns[part] = passed_ns;
}

/* Every group's last bin, and what lies after it, up to the run's last event. */
static void end_groups(const struct pyramid_build *build, struct shard *shard, int64_t duration_ns)
{
    for (size_t i = 0; i < build->fold_count; i++) {
        struct groups *groups = &shard->folds[i];
        uint64_t last = (uint64_t)duration_ns >> build->folds[i].shift;
        for (size_t k = 0; k < groups->count; k++)
            if (groups->group[k].begun)
                put_cell(shard, i, build->folds[i].shift, &groups->group[k], last + 1);
    }
}

/* The shards, to be written in several threads. */
struct ending {
    struct pyramid_build *build;
    struct pyramid_order order;     /* what all have in common */
    size_t level_at[FOLDS_MAX + 1]; /* by size of groups: the first of its levels */
};

static void end_shard(void *context, size_t index)
{
    const struct ending *ending = context;
    const struct pyramid_build *build = ending->build;
    struct shard *shard = &ending->build->shards[index];
    struct error *err = &shard->fault;
    end_groups(build, shard, ending->order.duration_ns);
    struct sorted_cells cells = {.sorter = shard->sorter};
    struct pyramid_order order = ending->order;
    order.cells = &cells;
    order.members = shard->members;
    order.member_count = shard->count;
    order.to_cells = &shard->cells;
    order.to_skips = &shard->skips;
    shard->bases = memory_new(ending->level_at[build->fold_count] * sizeof *shard->bases);
    if (err->kind != ERROR_NONE || sorter_rewind(shard->sorter, err) != STATUS_OK ||
        sorted_cells_next(&cells, err) == STATUS_FAILED)
        return;
    for (size_t i = 0; i < build->fold_count; i++) {
        order.fold_number = i;
        order.fold = build->folds[i].fold;
        order.levels = &ending->order.levels[ending->level_at[i]];
        order.bases = &shard->bases[ending->level_at[i]];
        order.level_count = ending->level_at[i + 1] - ending->level_at[i];
        if (pyramid_write(&order, err) != STATUS_OK)
            return;
    }
}

/* The levels of all sizes of groups, and room for their groups. All rows have one, also those without events. */
static enum status put_levels(struct ending *ending, struct spill *tables, struct error *err)
{
    const struct pyramid_build *build = ending->build;
    const struct timeline_row *rows = (const struct timeline_row *)(const void *)tables[SECTION_ROWS].data;
    size_t row_count = tables[SECTION_ROWS].size / sizeof *rows, levels = 0;
    uint64_t group_at = 0;
    for (size_t i = 0; i < build->fold_count; i++) {
        struct pyramid_level level = {.shift = build->folds[i].shift, .fold = build->folds[i].fold};
        level.groups = (uint32_t)row_count;
        if (level.fold > 0)
            level.groups = (rows[row_count - 1].process >> level.fold) + 1;
        ending->level_at[i] = levels;
        do {
            level.group_at = group_at;
            group_at += level.groups;
            spill_add(&tables[SECTION_LEVELS], &level, sizeof level);
            levels++;
        } while (level.shift < 62 && ending->order.duration_ns >> level.shift++ > PYRAMID_BINS);
    }
    ending->level_at[build->fold_count] = levels;
    if (spill_check(&tables[SECTION_LEVELS], err) != STATUS_OK ||
        !spill_make_room(&tables[SECTION_GROUPS], group_at * sizeof(struct pyramid_group)))
        return spill_check(&tables[SECTION_GROUPS], err);
    ending->order.levels = (const struct pyramid_level *)(const void *)tables[SECTION_LEVELS].data;
    ending->order.groups = (struct pyramid_group *)(void *)tables[SECTION_GROUPS].data;
    return STATUS_OK;
}

/* Places counted from the begin of a shard's widths become places in the sections of all. */
static void join_shards(const struct ending *ending, const struct spill *tables)
{
    struct pyramid_build *build = ending->build;
    const struct timeline_row *rows = (const struct timeline_row *)(const void *)tables[SECTION_ROWS].data;
    struct pyramid_base at = {0};
    for (uint32_t i = 0; i < build->split.count; i++) {
        struct shard *shard = &build->shards[i];
        shard->base = at;
        at.cells += shard->cells.size;
        at.skips += shard->skips.size / sizeof(struct pyramid_skip);
    }
    for (size_t i = 0; i < ending->level_at[build->fold_count]; i++) {
        const struct pyramid_level *level = &ending->order.levels[i];
        struct pyramid_group *group = &ending->order.groups[level->group_at];
        for (uint32_t k = 0; k < level->groups; k++) {
            uint32_t process = level->fold > 0 ? k << level->fold : rows[k].process;
            const struct shard *shard = &build->shards[pyramid_shard_of(&build->split, process)];
            group[k].skip_at += shard->base.skips + shard->bases[i].skips;
            group[k].cell_at += shard->base.cells + shard->bases[i].cells;
            group[k].cell_end += shard->base.cells + shard->bases[i].cells;
        }
    }
}

enum status pyramid_build_end(struct pyramid_build *build, const struct pyramid_rows *about, unsigned threads,
                              struct spill *tables, struct error *err)
{
    struct ending ending = {.build = build,
                            .order = {.rows = about->rows,
                                      .places = about->places,
                                      .begin_ns = about->begin_ns,
                                      .duration_ns = time_since(about->begin_ns, about->last_ns)}};
    if (about->rows->count == 0)
        return STATUS_OK;
    if (put_levels(&ending, tables, err) != STATUS_OK)
        return STATUS_FAILED;
    parallel_run(threads, build->split.count, end_shard, &ending);
    for (uint32_t i = 0; i < build->split.count; i++)
        if (build->shards[i].fault.kind != ERROR_NONE) {
            *err = build->shards[i].fault;
            return STATUS_FAILED;
        }
    join_shards(&ending, tables);
    return STATUS_OK;
}

struct tape *pyramid_build_skips(struct pyramid_build *build, size_t part)
{
    return part < build->split.count ? &build->shards[part].skips : NULL;
}

struct tape *pyramid_build_cells(struct pyramid_build *build, size_t part)
{
    return part < build->split.count ? &build->shards[part].cells : NULL;
}
