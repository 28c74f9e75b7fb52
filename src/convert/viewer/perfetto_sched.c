/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/viewer/perfetto_sched.h"

#include "convert/viewer/perfetto_packets.h"
#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/resource_counter.h"
#include "core/sorter.h"

enum { SORT_MEMORY = 16 << 20 };
#define NOT_SINCE INT64_MIN
#define NOBODY (-1)

/* What happens to a thread: it is ready to run, is on a core, has to leave it though it is ready, or waits for
   something else. Events may be lost. */
enum { SCHED_WAKES, SCHED_RUNS, SCHED_PREEMPTED, SCHED_BLOCKS, SCHED_LOST };

struct change {
    uint32_t tid;
    uint8_t what;
};

struct core {
    int64_t tid; /* that is on it */
};

struct thread {
    uint32_t track;
    int64_t begin_ns, end_ns;     /* of its slices */
    int64_t running_ns, ready_ns; /* since then */
    int64_t sums[RESOURCE_INVOLUNTARY + 1];
    bool known; /* something has happened to it */
    bool begun, ended;
};

struct perfetto_sched {
    struct sorter *sorted;
    struct map cores; /* number -> index */
    struct core *core;
    size_t core_count, core_capacity;
    struct map tids; /* -> index */
    struct thread *thread;
    size_t thread_count, thread_capacity;
    uint64_t others; /* events that are not those of the scheduler, or whose clock is not known */
};

struct perfetto_sched *perfetto_sched_new(void)
{
    struct perfetto_sched *sched = memory_new(sizeof *sched);
    sched->sorted = sorter_new(SORT_MEMORY);
    return sched;
}

void perfetto_sched_free(struct perfetto_sched *sched)
{
    if (!sched)
        return;
    sorter_free(sched->sorted);
    map_clear(&sched->cores);
    map_clear(&sched->tids);
    free(sched->core);
    free(sched->thread);
    free(sched);
}

/* Bundles */

/* A bundle, as far as its events need it. */
struct bundle {
    struct core *core;
    int64_t shift_ns; /* from its clock to boot time */
    bool lost;        /* events before it */
};

static enum status add_change(struct perfetto_sched *sched, uint64_t time, const struct bundle *bundle, int64_t tid,
                              unsigned what, struct error *err)
{
    struct change change = {.tid = (uint32_t)tid, .what = (uint8_t)what};
    int64_t time_ns = (int64_t)smaller(time, (uint64_t)INT64_MAX / 2);
    /* 0 is the idle process of each core. */
    if (tid <= 0 || tid > INT32_MAX)
        return STATUS_OK;
    time_add(&time_ns, bundle->shift_ns);
    return sorter_add(sched->sorted, (struct sort_key){.major = sort_key_signed(time_ns)}, &change, sizeof change, err);
}

static enum status add_switch(struct perfetto_sched *sched, uint64_t time, struct bundle *bundle, int64_t from,
                              int64_t state, int64_t to, struct error *err)
{
    enum { STATES = 0xFF }; /* above are marks: of one that is ready, that it was preempted */
    if (bundle->lost && add_change(sched, time, bundle, bundle->core->tid, SCHED_LOST, err) != STATUS_OK)
        return STATUS_FAILED;
    bundle->lost = false;
    bundle->core->tid = to;
    if (add_change(sched, time, bundle, from, state & STATES ? SCHED_BLOCKS : SCHED_PREEMPTED, err) != STATUS_OK)
        return STATUS_FAILED;
    return add_change(sched, time, bundle, to, SCHED_RUNS, err);
}

static enum status take_switch(struct perfetto_sched *sched, uint64_t time, struct bundle *bundle,
                               struct protobuf_message message, struct error *err)
{
    struct protobuf_field field;
    int64_t from = NOBODY, state = 0, to = NOBODY;
    while (protobuf_next(&message, &field))
        if (field.number == SWITCH_FROM)
            from = (int64_t)field.value;
        else if (field.number == SWITCH_STATE)
            state = (int64_t)field.value;
        else if (field.number == SWITCH_TO)
            to = (int64_t)field.value;
    return add_switch(sched, time, bundle, from, state, to, err);
}

static enum status take_event(struct perfetto_sched *sched, struct bundle *bundle, struct protobuf_message event,
                              struct error *err)
{
    struct protobuf_message first = event;
    struct protobuf_field field, of_waking;
    uint64_t time = 0;
    bool taken = false;
    while (protobuf_next(&first, &field))
        if (field.number == FTRACE_EVENT_TIME)
            time = field.value;
    while (protobuf_next(&event, &field)) {
        struct protobuf_message inner = protobuf_within(&field);
        taken |= field.number == FTRACE_EVENT_SWITCH || field.number == FTRACE_EVENT_WAKING;
        if (field.number == FTRACE_EVENT_SWITCH && take_switch(sched, time, bundle, inner, err) != STATUS_OK)
            return STATUS_FAILED;
        while (field.number == FTRACE_EVENT_WAKING && protobuf_next(&inner, &of_waking))
            if (of_waking.number == WAKING_TID &&
                add_change(sched, time, bundle, (int64_t)of_waking.value, SCHED_WAKES, err) != STATUS_OK)
                return STATUS_FAILED;
    }
    sched->others += !taken;
    return STATUS_OK;
}

/* Events of the scheduler as columns: times are those since the one before, and who leaves the core is who came before.
 */
static enum status take_columns(struct perfetto_sched *sched, struct bundle *bundle, struct protobuf_message columns,
                                struct error *err)
{
    struct protobuf_message column[COLUMNS] = {0};
    struct protobuf_field field;
    uint64_t time = 0, passed, state, tid;
    while (protobuf_next(&columns, &field))
        if (field.number < COLUMNS)
            column[field.number] = protobuf_within(&field);
    while (protobuf_take_number(&column[COLUMN_SWITCH_TIME], &passed) &&
           protobuf_take_number(&column[COLUMN_SWITCH_STATE], &state) &&
           protobuf_take_number(&column[COLUMN_SWITCH_TO], &tid)) {
        time += passed;
        if (add_switch(sched, time, bundle, bundle->lost ? NOBODY : bundle->core->tid, (int64_t)state, (int64_t)tid,
                       err) != STATUS_OK)
            return STATUS_FAILED;
    }
    time = 0;
    while (protobuf_take_number(&column[COLUMN_WAKING_TIME], &passed) &&
           protobuf_take_number(&column[COLUMN_WAKING_TID], &tid)) {
        time += passed;
        if (add_change(sched, time, bundle, (int64_t)tid, SCHED_WAKES, err) != STATUS_OK)
            return STATUS_FAILED;
    }
    return STATUS_OK;
}

static struct core *core_of(struct perfetto_sched *sched, uint64_t number)
{
    uint64_t index = *map_put(&sched->cores, number % UINT64_MAX, sched->core_count);
    if (index == sched->core_count)
        ARRAY_PUSH(sched->core, sched->core_count, sched->core_capacity, (struct core){NOBODY});
    return &sched->core[index];
}

enum status perfetto_sched_take(struct perfetto_sched *sched, struct protobuf_message message, struct error *err)
{
    struct protobuf_message first = message;
    struct protobuf_field field;
    uint64_t core = 0, clock = 0, kernel_time = 0, boot_time = 0;
    struct bundle bundle = {0};
    while (protobuf_next(&first, &field))
        if (field.number == BUNDLE_CORE)
            core = field.value;
        else if (field.number == BUNDLE_LOST)
            bundle.lost = field.value;
        else if (field.number == BUNDLE_CLOCK)
            clock = field.value;
        else if (field.number == BUNDLE_KERNEL_TIME)
            kernel_time = field.value;
        else if (field.number == BUNDLE_BOOT_TIME)
            boot_time = field.value;
    if (clock != 0 && (kernel_time == 0 || boot_time == 0)) {
        sched->others++;
        return STATUS_OK;
    }
    bundle.core = core_of(sched, core);
    bundle.shift_ns = clock != 0 ? (int64_t)(boot_time - kernel_time) : 0;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && protobuf_next(&message, &field))
        if (field.number == BUNDLE_EVENT)
            status = take_event(sched, &bundle, protobuf_within(&field), err);
        else if (field.number == BUNDLE_COLUMNS)
            status = take_columns(sched, &bundle, protobuf_within(&field), err);
    return status;
}

/* Readings */

void perfetto_sched_thread(struct perfetto_sched *sched, uint32_t tid, uint32_t track)
{
    uint64_t *index = map_put(&sched->tids, tid, sched->thread_count);
    struct thread thread = {.track = track, .running_ns = NOT_SINCE, .ready_ns = NOT_SINCE};
    if (*index == sched->thread_count)
        ARRAY_PUSH(sched->thread, sched->thread_count, sched->thread_capacity, thread);
    else
        sched->thread[*index] = thread;
}

/* What is under way counts up to now. */
static void advance(struct thread *thread, int64_t time_ns)
{
    int64_t *since[] = {&thread->running_ns, &thread->ready_ns};
    static const enum resource_counter sums[] = {RESOURCE_CPU, RESOURCE_DELAY};
    for (size_t i = 0; i < 2; i++) {
        if (*since[i] == NOT_SINCE)
            continue;
        time_add(&thread->sums[sums[i]], time_since(*since[i], time_ns));
        *since[i] = time_ns;
    }
}

static void change(struct thread *thread, unsigned what, int64_t time_ns)
{
    bool waits = thread->running_ns == NOT_SINCE && thread->ready_ns == NOT_SINCE;
    thread->sums[RESOURCE_VOLUNTARY] += what == SCHED_BLOCKS;
    thread->sums[RESOURCE_INVOLUNTARY] += what == SCHED_PREEMPTED;
    if (what == SCHED_WAKES && !waits)
        return; /* it was about to wait, and does not */
    thread->running_ns = what == SCHED_RUNS ? time_ns : NOT_SINCE;
    thread->ready_ns = what == SCHED_WAKES || what == SCHED_PREEMPTED ? time_ns : NOT_SINCE;
}

static enum status read_sums(const struct thread *thread, int64_t time_ns, struct slices *slices, const uint32_t *marks,
                             struct error *err)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i <= RESOURCE_INVOLUNTARY && status == STATUS_OK; i++)
        status = slices_reading(slices, thread->track, time_ns, marks[i], thread->sums[i], err);
    return status;
}

/* Readings while the thread has slices: at their begin, at each change, and at their end. */
static enum status take_change(struct thread *thread, unsigned what, int64_t time_ns, struct slices *slices,
                               const uint32_t *marks, struct error *err)
{
    enum status status = STATUS_OK;
    if (what == SCHED_LOST)
        thread->running_ns = thread->ready_ns = NOT_SINCE;
    if (thread->known && !thread->begun && time_ns > thread->begin_ns) {
        advance(thread, thread->begin_ns);
        thread->begun = true;
        status = read_sums(thread, thread->begin_ns, slices, marks, err);
    }
    if (status == STATUS_OK && thread->begun && !thread->ended && time_ns > thread->end_ns) {
        advance(thread, thread->end_ns);
        thread->ended = true;
        status = read_sums(thread, thread->end_ns, slices, marks, err);
    }
    advance(thread, time_ns);
    change(thread, what, time_ns);
    thread->known = true;
    if (status != STATUS_OK || thread->ended || time_ns < thread->begin_ns || time_ns > thread->end_ns)
        return status;
    thread->begun = true;
    return read_sums(thread, time_ns, slices, marks, err);
}

/* At the end of the slices, as far as kernel events go on until then. */
static enum status end_all(struct perfetto_sched *sched, int64_t last_ns, struct slices *slices, const uint32_t *marks,
                           struct error *err)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sched->thread_count && status == STATUS_OK; i++) {
        struct thread *thread = &sched->thread[i];
        int64_t end_ns = smaller(thread->end_ns, last_ns);
        if (!thread->begun || thread->ended)
            continue;
        advance(thread, end_ns);
        status = read_sums(thread, end_ns, slices, marks, err);
    }
    return status;
}

enum status perfetto_sched_read(struct perfetto_sched *sched, struct slices *slices, struct reader *reader,
                                struct error *err)
{
    uint32_t marks[RESOURCE_INVOLUNTARY + 1];
    uint64_t strangers = 0;
    int64_t last_ns = INT64_MIN;
    enum status status = sorter_rewind(sched->sorted, err);
    for (size_t i = 0; i < sched->thread_count; i++)
        slices_span(slices, sched->thread[i].track, &sched->thread[i].begin_ns, &sched->thread[i].end_ns);
    for (size_t i = 0; i <= RESOURCE_INVOLUNTARY && sched->thread_count > 0; i++)
        marks[i] = resource_counter_define(reader->defs, (enum resource_counter)i);
    while (status == STATUS_OK) {
        struct sort_key key;
        struct change change;
        const void *data;
        size_t length;
        status = sorter_next(sched->sorted, &key, &data, &length, err);
        if (status != STATUS_OK)
            break;
        memcpy(&change, data, sizeof change);
        last_ns = (int64_t)(key.major ^ UINT64_C(1) << 63);
        const uint64_t *index = map_find(&sched->tids, change.tid);
        if (index)
            status = take_change(&sched->thread[*index], change.what, last_ns, slices, marks, err);
        else
            strangers++;
    }
    if (status == STATUS_FAILED || end_all(sched, last_ns, slices, marks, err) != STATUS_OK)
        return STATUS_FAILED;
    if (strangers > 0)
        reader_count(reader, "kernel event of another thread", strangers);
    if (sched->others > 0)
        reader_count(reader, "kernel event of another kind", sched->others);
    return STATUS_OK;
}
