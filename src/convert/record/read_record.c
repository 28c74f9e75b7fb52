/* SPDX-License-Identifier: BSD-3-Clause */
/* The buffer files of a recording, merged by time. Each file is in order, so that the merge holds one record of each:
   the files are in a heap by the time of their next record. */
#include "convert/record/read_record.h"

#include "convert/record/record_openmp.h"
#include "convert/record/record_past.h"
#include "convert/record/record_pending.h"
#include "convert/record/record_plan.h"
#include "convert/record/record_run.h"
#include "convert/record/record_tallies.h"
#include "convert/record/record_totals.h"
#include "core/bytes.h"
#include "core/event.h"
#include "core/heap.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/payload.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    WINDOWS_MEMORY = 64 << 20, /* bytes, of all files together */
    WINDOW_MIN = 4096,
    WINDOW_MAX = 1 << 20,
    EVENTS_PER_RECORD = RESOURCE_COUNTERS, /* more than a communicator's */
    OUTER_CALLS = 4                        /* in each other, that are known while callbacks call MPI */
};
#define SEEN_NS INT64_C(500000000)
#define SAMPLE_NS_MAX UINT64_C(1000000000000) /* between samples; more is damage */

/* A file in the heap. */
struct stream {
    int64_t time_ns; /* of the next record, on the trace's clock */
    uint32_t file;
    size_t knot;                      /* of its clock's map */
    const struct record_base *record; /* NULL: only the end of the recording is left */
};

/* What is left to emit for a file after its records. */
struct ending {
    struct record_pending_items items;
    size_t reported;
};

/* The current call of a file until its leave: its site, the bytes moved, and its last requests. */
struct current {
    uint32_t site;
    uint32_t request, requests;
    bool moved;
    uint16_t state;
    int32_t root;
    uint64_t sent, received;
    struct record_last_call last;
    struct {
        struct record_last_call call;
        uint32_t site;
    } outer[OUTER_CALLS]; /* in which it is, called by callbacks: the outermost first */
    uint32_t inside;      /* so many, or more */
    int64_t last_ns;      /* of its last record */
    bool reported;        /* how it ended */
};

struct record_state {
    struct record_run run;
    struct current *current; /* by file */
    struct record_openmp *openmp;
    struct record_openmp_end openmp_end;
    struct stream *heap;
    size_t count;
    int64_t begin_ns;     /* of the run on the clock of process 0: the trace's 0 */
    int64_t last_ns;      /* the latest event */
    uint32_t ending_file; /* the first whose end is still to be emitted, after all records */
    struct ending ending; /* of this file */
    char host[RECORD_NAME_SIZE];
    uint64_t events, foreign;
    uint64_t lost_messages;  /* of communicators whose definition is lost */
    uint64_t late_bytes;     /* to read of each file; 0: all */
    int64_t from_ns;         /* all files are read from then on */
    struct record_plan plan; /* of a recording that keeps a sample */
    struct recordings *own;  /* NULL: they are the caller's */
};

static bool stream_before(const void *context, const void *left_stream, const void *right_stream)
{
    const struct stream *left = left_stream, *right = right_stream;
    (void)context;
    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns;
    return left->file < right->file;
}

static const struct heap_order BY_TIME = {sizeof(struct stream), stream_before, NULL};

static struct record_process *process_of(struct record_state *state, const struct stream *stream)
{
    return &state->run.processes[state->run.process_of[stream->file]];
}

static const struct record_clock_map *clock_map(const struct record_state *state, const struct stream *stream)
{
    const struct record_run *run = &state->run;
    return &run->clocks.maps[run->processes[run->process_of[stream->file]].clock_map];
}

/* Time must not go back, even in a damaged file. */
static void set_time(struct record_state *state, struct stream *stream, int64_t ticks)
{
    int64_t here_ns = record_clock_ns(clock_map(state, stream), &stream->knot, ticks);
    int64_t time_ns = here_ns + record_run_offset(&state->run, process_of(state, stream), here_ns) - state->begin_ns;
    const struct record_kept_stream *kept = state->run.files[stream->file].kept;
    if (kept) /* time stands still where something is left out */
        time_ns -= kept->shift_ns;
    if (kept && kept->outside && stream->time_ns != INT64_MIN)
        return;
    if (time_ns > stream->time_ns)
        stream->time_ns = time_ns;
}

/* The stream's next record, or the mark of its end. False: there is no more. */
static bool stream_next(struct record_state *state, struct stream *stream)
{
    struct record_file *file = &state->run.files[stream->file];
    stream->record = record_file_next(file);
    if (stream->record) {
        set_time(state, stream, stream->record->ticks);
        return true;
    }
    /* What a handler wrote when the process crashed, or exit: these come after all records of the file. */
    if (record_pending_ended(file) && file->header.died_ticks < RECORD_TIME_MAX &&
        file->header.died_ticks > -RECORD_TIME_MAX) {
        set_time(state, stream, file->header.died_ticks);
        return true;
    }
    /* A recording that reached a limit has a mark at its end, since what follows looks like computing. */
    if (file->header.reason == RECORD_GOES_ON || file->header.reason >= RECORD_REASONS)
        return false;
    int64_t ended_ticks = file->header.ended_ticks;
    if (ended_ticks > RECORD_TIME_MAX || ended_ticks < -RECORD_TIME_MAX)
        return false;
    set_time(state, stream, ended_ticks);
    return true;
}

static struct event *batch_event(struct batch *batch, const struct event *base, enum event_kind kind)
{
    struct event *event = &batch->events[batch->count++];
    *event = *base;
    event->kind = (uint8_t)kind;
    return event;
}

static const struct record_comm_place *place_of(struct record_state *state, const struct stream *stream, uint32_t comm)
{
    return record_run_comm(process_of(state, stream), comm);
}

static void comm_step(struct batch *batch, const struct event *base, enum comm_step step, int32_t comm, int32_t rank)
{
    struct event *event = batch_event(batch, base, EVENT_COMM_MADE);
    event->value = step;
    event->partner_comm = comm;
    event->tag = rank;
}

static void comm_events(struct record_state *state, const struct stream *stream, struct event *base,
                        struct batch *batch)
{
    const struct record_comm *record = (const struct record_comm *)(const void *)stream->record;
    const struct record_comm_place *place = place_of(state, stream, record->base.comm);
    const struct record_comm_place *parent = place_of(state, stream, record->parent);
    uint32_t number = record->base.comm;
    if (!place)
        return;
    /* An unknown parent (a communicator of a program that is not in the trace) counts as the world. */
    base->comm = parent ? parent->comm : 0;
    /* As MPE does, at the begin of each process: by how much its clock was corrected. MPE's sign is that of undoing
       it. */
    if (number == RECORD_WORLD) {
        size_t knot = stream->knot;
        int64_t here_ns = record_clock_ns(clock_map(state, stream), &knot, record->base.ticks);
        const struct record_process *process = process_of(state, stream);
        batch_event(batch, base, EVENT_SHIFT)->value = -record_run_offset(&state->run, process, here_ns);
        /* Communicator 0 is that of all programs together; each program's MPI_COMM_WORLD is another. */
        if (state->run.program_count > 1)
            comm_step(batch, base, COMM_STEP_WORLD, 0, (int32_t)process->rank);
    }
    if (place->inter == EVENT_UNKNOWN) {
        enum comm_step step = COMM_STEP_INTRA;
        if (place->comm == 0)
            step = COMM_STEP_WORLD;
        else if (number == RECORD_SELF)
            step = COMM_STEP_SELF;
        comm_step(batch, base, step, place->comm, record->rank);
        return;
    }
    comm_step(batch, base, COMM_STEP_INTER, place->inter, record->rank);
    comm_step(batch, base, COMM_STEP_LOCAL, place->comm, record->rank);
    comm_step(batch, base, COMM_STEP_REMOTE, place->partner, -1);
}

static int64_t known_bytes(uint64_t bytes)
{
    if (bytes <= INT64_MAX)
        return (int64_t)bytes;
    return BYTES_UNKNOWN;
}

/* The rank may be invalid: MPI_PROC_NULL is -1. */
static int32_t known_rank(int32_t rank)
{
    if (rank >= -1 && rank < PROCESS_LIMIT)
        return rank;
    return EVENT_UNKNOWN;
}

/* In the world of a single program, ranks are processes already: no look-up for most messages. */
static int32_t world_partner(const struct defs *defs, const struct record_comm_place *place, int32_t rank)
{
    if (place->partner == 0)
        return known_rank(rank);
    return defs_world_rank(defs, place->partner, rank);
}

static void message_event(struct record_state *state, const struct stream *stream, const struct defs *defs,
                          struct event *base, struct batch *batch)
{
    const struct record_message *record = (const struct record_message *)(const void *)stream->record;
    const struct record_comm_place *place = place_of(state, stream, record->base.comm);
    if (!place && state->run.files[stream->file].kept) {
        state->lost_messages++;
        return;
    }
    /* The partner is in a program that is not in the trace: it has no number. */
    if (!place || place->foreign) {
        state->foreign++;
        return;
    }
    bool send = record->base.kind == RECORD_SEND;
    struct event *event = batch_event(batch, base, send ? EVENT_SEND : EVENT_RECEIVE);
    event->partner_comm = place->partner;
    event->partner = world_partner(defs, place, record->partner);
    event->tag = record->tag;
    if (send)
        event->bytes_sent = known_bytes(record->bytes);
    else
        event->bytes_received = known_bytes(record->bytes);
}

static void set_moved(struct event *event, const struct current *current)
{
    event->tag = current->root == -1 ? EVENT_UNKNOWN : current->root;
    event->bytes_sent = known_bytes(current->sent);
    event->bytes_received = known_bytes(current->received);
}

/* Turns the call's last requests into a mark. */
static void request_mark(struct record_state *state, struct current *current, const struct event *base,
                         struct batch *batch)
{
    if (current->requests == 0 || !state->run.request_mark)
        return;
    struct event *event = batch_event(batch, base, EVENT_MARK);
    event->comm = 0;
    event->site = 0;
    event->state = state->run.request_mark - 1;
    event->request = current->request;
    event->requests = current->requests;
    current->requests = 0;
}

static void note_enter(struct current *current, uint64_t position, uint32_t comm)
{
    if (current->last.open) {
        if (current->inside < OUTER_CALLS)
            current->outer[current->inside].call = current->last;
        current->inside++;
    }
    current->last = (struct record_last_call){position, comm, true};
}

/* Returns the site of the call that goes on; 0: none, or not known. */
static uint32_t note_leave(struct current *current)
{
    if (current->inside == 0) {
        current->last.open = false;
        return 0;
    }
    if (--current->inside >= OUTER_CALLS)
        return 0;
    current->last = current->outer[current->inside].call;
    return current->outer[current->inside].site;
}

static void state_event(struct record_state *state, const struct stream *stream, const struct defs *defs,
                        const struct event *base, struct batch *batch)
{
    const struct record_base *record = stream->record;
    uint32_t index = record->state < RECORD_FUNCTIONS_MAX ? state->run.states[record->state] : UINT32_MAX;
    struct current *current = &state->current[stream->file];
    bool leave = record->kind == RECORD_LEAVE;
    /* Kept for processes that do not reach MPI_Finalize: what their last call waits for refers to it by its place in
       the file. */
    uint32_t outer_site = 0;
    if (leave)
        outer_site = note_leave(current);
    else
        note_enter(current, record_file_position(&state->run.files[stream->file]), record->comm);
    if (index == UINT32_MAX)
        return;
    /* A function whose leave has no place for requests (MPI_Sendrecv, MPI_Comm_idup) has them as a mark inside. */
    if (leave && !defs->states[index].gives_requests)
        request_mark(state, current, base, batch);
    struct event *event = batch_event(batch, base, leave ? EVENT_LEAVE : EVENT_ENTER);
    event->state = index;
    /* Of this call and no other: a damaged file may lack the leave in between. */
    if (current->moved && leave && current->state == record->state)
        set_moved(event, current);
    if (leave) {
        event->request = current->requests ? current->request : 0;
        event->requests = current->requests;
        current->site = outer_site;
    }
    current->moved = false;
    current->requests = 0;
}

/* States and events that the program defined through MPE's functions, with ids of its own. */
static void user_event(struct record_state *state, const struct stream *stream, const struct event *base,
                       struct batch *batch)
{
    const struct record_base *record = stream->record;
    if (!state->run.files[stream->file].header.user_events)
        return;
    /* The field of the communicator holds the id of the event. */
    struct record_role role = record_run_role(&state->run, record->comm);
    struct event *event = batch_event(batch, base, (enum event_kind)(role.kind - 1));
    event->comm = 0; /* the world */
    event->state = role.index;
    size_t length = (size_t)record->words * 8 - sizeof *record;
    if (length > 0)
        batch_set_payload(batch, event, record + 1, length);
}

static void note_moved(struct record_state *state, const struct stream *stream)
{
    const struct record_collective *record = (const struct record_collective *)(const void *)stream->record;
    struct current *current = &state->current[stream->file];
    current->moved = true;
    current->state = record->base.state;
    current->root = record->root;
    current->sent = record->sent;
    current->received = record->received;
}

static void note_requests(struct record_state *state, const struct stream *stream, const struct event *base,
                          struct batch *batch)
{
    struct current *current = &state->current[stream->file];
    uint32_t first = stream->record->comm, count = stream->record->state;
    request_mark(state, current, base, batch);
    if (first == 0 || first > INT32_MAX - REQUESTS_AT_ONCE_MAX || count > REQUESTS_AT_ONCE_MAX)
        return;
    current->request = first;
    current->requests = count;
}

/* The calls that make a topology record it: who exchanges with whom in neighbourhood collectives. */
static void neighbours_event(struct record_state *state, const struct stream *stream, struct event *base,
                             struct batch *batch)
{
    const struct record_neighbours *record = (const struct record_neighbours *)(const void *)stream->record;
    struct neighbours neighbours = {.way = record->way};
    unsigned char payload[NEIGHBOURS_MARK_SIZE];
    if (!state->run.neighbours_mark || !place_of(state, stream, record->base.comm))
        return;
    memcpy(neighbours.ranks, record->ranks, sizeof neighbours.ranks);
    payload_put_neighbours(payload, &neighbours);
    struct event *event = batch_event(batch, base, EVENT_NEIGHBOURS);
    event->state = state->run.neighbours_mark - 1;
    batch_set_payload(batch, event, payload, sizeof payload);
}

static void ranks_event(struct record_state *state, const struct stream *stream, const struct event *base,
                        struct batch *batch)
{
    const struct record_ranks *record = (const struct record_ranks *)(const void *)stream->record;
    unsigned char payload[RANKS_MARK_SIZE];
    if (!state->run.ranks_mark)
        return;
    bytes_put_i32(payload, true, record->first);
    bytes_put_i32(payload + 4, true, record->last);
    bytes_put_i32(payload + 8, true, record->step);
    bytes_put_u32(payload + 12, true, record->lock);
    struct event *event = batch_event(batch, base, EVENT_MARK);
    event->state = state->run.ranks_mark - 1;
    batch_set_payload(batch, event, payload, sizeof payload);
}

/* Negative values are not known. */
static void counter_event(struct record_state *state, const struct event *base, enum resource_counter counter,
                          int64_t value, struct batch *batch)
{
    if (value < 0)
        return;
    struct event *event = batch_event(batch, base, EVENT_COUNTER);
    event->comm = 0; /* the world */
    event->state = state->run.resource_marks[counter];
    event->value = value;
}

static void resources_events(struct record_state *state, const struct stream *stream, const struct event *base,
                             struct batch *batch)
{
    const struct record_resources *record = (const struct record_resources *)(const void *)stream->record;
    /* They are sums since the run began: what is left out would count as of the moment after it. */
    if (state->plan.left_out > 0)
        return;
    const int64_t values[] = {[RESOURCE_CPU] = record->cpu_ns,
                              [RESOURCE_DELAY] = record->delay_ns,
                              [RESOURCE_VOLUNTARY] = record->voluntary,
                              [RESOURCE_INVOLUNTARY] = record->involuntary,
                              [RESOURCE_FAULTS] = record->faults,
                              [RESOURCE_DISK_FAULTS] = record->disk_faults,
                              [RESOURCE_PEAK] = record->peak_bytes,
                              [RESOURCE_CORES] = -1,
                              [RESOURCE_USABLE] = -1,
                              [RESOURCE_QUOTA] = -1,
                              [RESOURCE_MEMORY] = -1,
                              [RESOURCE_FIRST_CORE] = -1,
                              [RESOURCE_MEMORY_LIMIT] = -1,
                              [RESOURCE_LOOP] = record->loop_ns,
                              [RESOURCE_READ] = record->read,
                              [RESOURCE_WRITTEN] = record->written,
                              [RESOURCE_SYNC] = record->sync_ns,
                              [RESOURCE_BLOCKED] = record->blocked_ns,
                              [RESOURCE_STALLED] = record->stalled_ns,
                              [RESOURCE_ENERGY] = record->energy_uj};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        counter_event(state, base, (enum resource_counter)i, values[i], batch);
}

static void thread_counter_event(struct record_state *state, const struct stream *stream, const struct event *base,
                                 struct batch *batch)
{
    const struct record_counter *record = (const struct record_counter *)(const void *)stream->record;
    uint32_t number = record->base.state;
    const struct record_file *file = &state->run.files[stream->file];
    /* As with resources: they are sums since the thread began. */
    if (state->plan.left_out > 0 || number >= RECORD_COUNTERS_MOST || !file->counters[number] || record->value < 0)
        return;
    struct event *event = batch_event(batch, base, EVENT_COUNTER);
    event->comm = 0; /* the world */
    event->state = file->counters[number] - 1;
    event->value = record->value;
}

/* Facts about the machine, once for each process: counters that do not change. */
static void machine_events(struct record_state *state, const struct stream *stream, const struct event *base,
                           struct batch *batch)
{
    const struct record_machine *record = (const struct record_machine *)(const void *)stream->record;
    counter_event(state, base, RESOURCE_CORES, record->cores, batch);
    counter_event(state, base, RESOURCE_USABLE, record->usable > 0 ? (int64_t)record->usable : -1, batch);
    /* 0: no limit is set. */
    counter_event(state, base, RESOURCE_QUOTA, record->quota > 0 ? (int64_t)record->quota : -1, batch);
    counter_event(state, base, RESOURCE_MEMORY, known_bytes(record->memory), batch);
    counter_event(state, base, RESOURCE_FIRST_CORE, record->usable > 0 ? (int64_t)record->first : -1, batch);
    counter_event(state, base, RESOURCE_MEMORY_LIMIT, record->limit > 0 ? known_bytes(record->limit) : -1, batch);
}

/* A sample stands for a period of CPU time, more of them if the timer's signals were merged meanwhile. */
static void sample_event(struct record_state *state, const struct stream *stream, const struct defs *defs,
                         const struct event *base, struct batch *batch)
{
    const struct record_file *file = &state->run.files[stream->file];
    uint32_t number = stream->record->comm, path = number < file->path_count ? file->paths[number].path : 0;
    if (path == 0)
        return;
    struct event *event = batch_event(batch, base, EVENT_SAMPLE);
    uint64_t sample_ns = file->header.sample_ns < SAMPLE_NS_MAX ? file->header.sample_ns : 0;
    event->comm = 0; /* the world */
    event->state = path - 1;
    event->site = defs->paths[path - 1].site;
    event->value = (int64_t)(sample_ns * (1 + (uint64_t)stream->record->state));
}

static void ended_event(struct record_state *state, const struct stream *stream, const struct event *base,
                        struct batch *batch)
{
    uint32_t mark = state->run.ended_marks[state->run.files[stream->file].header.reason];
    if (mark)
        batch_event(batch, base, EVENT_MARK)->state = mark - 1;
}

/* The lengths that the kinds need: a shorter record of a damaged file would be read beyond its end. */
static bool record_whole(const struct record_base *record)
{
    static const uint8_t sizes[] = {
        [RECORD_ENTER_AT] = sizeof(struct record_enter),  [RECORD_SEND] = sizeof(struct record_message),
        [RECORD_RECEIVE] = sizeof(struct record_message), [RECORD_COLLECTIVE] = sizeof(struct record_collective),
        [RECORD_COMM] = sizeof(struct record_comm),       [RECORD_NEIGHBOURS] = sizeof(struct record_neighbours),
        [RECORD_RANKS] = sizeof(struct record_ranks),     [RECORD_RESOURCES] = sizeof(struct record_resources),
        [RECORD_MACHINE] = sizeof(struct record_machine), [RECORD_COUNTER] = sizeof(struct record_counter)};
    return record->kind >= sizeof sizes || (size_t)record->words * 8 >= sizes[record->kind];
}

/* event.site of an entry. */
static uint32_t site_of(const struct record_state *state, const struct stream *stream)
{
    const struct record_enter *enter = (const struct record_enter *)(const void *)stream->record;
    const struct record_file *file = &state->run.files[stream->file];
    uint32_t place = enter->site < file->site_count ? file->sites[enter->site].place : 0;
    if (place)
        return state->run.places[place - 1].site;
    return 0;
}

/* The number of a thread of the file's process. Of several with the same name the others have ended; -1: none. */
static int32_t thread_named(const struct record_state *state, const struct record_file *file, uint64_t self)
{
    int32_t found = -1;
    for (size_t i = 0; i < state->run.file_count; i++) {
        const struct record_file *other = &state->run.files[i];
        if (other->process == file->process && other->header.self == self && self != 0)
            found = larger(found, (int32_t)other->header.thread);
    }
    return found;
}

static void pending_event(struct record_state *state, const struct stream *stream, const struct defs *defs,
                          const struct record_pending_item *item, struct batch *batch)
{
    unsigned char payload[PENDING_MARK_SIZE];
    const struct record_file *file = &state->run.files[stream->file];
    const struct record_comm_place *place = place_of(state, stream, item->comm);
    struct pending pending = item->pending;
    if (pending.partner >= 0)
        pending.partner = place && !place->foreign ? world_partner(defs, place, pending.partner) : EVENT_UNKNOWN;
    if (pending.what == PENDING_THREAD)
        pending.tag = thread_named(state, file, item->self);
    struct event event = EVENT_NOTHING;
    event.time_ns = stream->time_ns;
    event.process = file->process;
    event.thread = file->header.thread;
    event.comm = place ? place->comm : 0;
    event.state = state->run.pending_mark - 1;
    payload_put_pending(payload, &pending);
    batch_set_payload(batch, batch_event(batch, &event, EVENT_MARK), payload, sizeof payload);
}

/* For a process that crashed or exited: its state at that time. */
static void died_events(struct record_state *state, const struct stream *stream, const struct defs *defs,
                        struct batch *batch)
{
    struct current *current = &state->current[stream->file];
    const struct record_file *file = &state->run.files[stream->file];
    if (!state->run.pending_mark || !record_pending_ended(file))
        return;
    struct record_pending_items items = record_pending_of(file, &current->last);
    for (size_t i = 0; i < items.count && i < EVENTS_PER_RECORD - 1; i++)
        pending_event(state, stream, defs, &items.items[i], batch);
    free(items.items);
    current->reported = true;
}

/* Only a damaged file has other kinds: they are passed over. */
static inline void record_events(struct record_state *state, const struct stream *stream, const struct defs *defs,
                                 struct event *base, struct batch *batch)
{
    switch (stream->record->kind) {
    case RECORD_ENTER:
    case RECORD_ENTER_AT:
    case RECORD_LEAVE:
        if (record_openmp_is(stream->record->state)) {
            record_openmp_events(&state->run, stream->file, stream->record, base, state->openmp, &state->openmp_end,
                                 batch);
            state->current[stream->file].site = 0;
            break;
        }
        state_event(state, stream, defs, base, batch);
        break;
    case RECORD_SEND:
    case RECORD_RECEIVE:
        message_event(state, stream, defs, base, batch);
        break;
    case RECORD_COLLECTIVE:
        note_moved(state, stream);
        break;
    case RECORD_REQUESTS:
        note_requests(state, stream, base, batch);
        break;
    case RECORD_NEIGHBOURS:
        neighbours_event(state, stream, base, batch);
        break;
    case RECORD_RANKS:
        ranks_event(state, stream, base, batch);
        break;
    case RECORD_RESOURCES:
        resources_events(state, stream, base, batch);
        break;
    case RECORD_COUNTER:
        thread_counter_event(state, stream, base, batch);
        break;
    case RECORD_MACHINE:
        machine_events(state, stream, base, batch);
        break;
    case RECORD_SAMPLE:
        sample_event(state, stream, defs, base, batch);
        break;
    case RECORD_USER_EVENT:
        user_event(state, stream, base, batch);
        break;
    case RECORD_COMM:
        comm_events(state, stream, base, batch);
        break;
    case RECORD_COMM_FREED:
        batch_event(batch, base, EVENT_COMM_FREED)->value = COMM_STEP_FREE;
        break;
    default:
        break;
    }
}

/* Seconds since the run began, with what is left out. */
static double gap_time(const struct record_state *state, const struct stream *stream, int64_t ticks)
{
    const struct record_process *process = &state->run.processes[state->run.process_of[stream->file]];
    size_t knot = 0;
    int64_t here_ns = record_clock_ns(clock_map(state, stream), &knot, ticks);
    return (double)(here_ns + record_run_offset(&state->run, process, here_ns) - state->begin_ns) / 1e9;
}

/* Something is left out before this record. */
static void gap_event(struct record_state *state, const struct stream *stream, const struct event *base,
                      struct batch *batch)
{
    struct record_kept_stream *kept = state->run.files[stream->file].kept;
    if (!kept || !kept->gap || kept->outside)
        return;
    kept->gap = false;
    state->current[stream->file] = (struct current){0};
    if (!state->run.gap_mark)
        return;
    unsigned char payload[GAP_MARK_SIZE];
    struct record_gap gap = record_kept_gap(kept);
    bytes_put_u64(payload, true, gap.events);
    bytes_put_f64(payload + 8, true, gap_time(state, stream, gap.from_ticks));
    bytes_put_f64(payload + 16, true, gap_time(state, stream, gap.to_ticks));
    struct event *event = batch_event(batch, base, EVENT_MARK);
    event->comm = 0;
    event->state = state->run.gap_mark - 1;
    batch_set_payload(batch, event, payload, sizeof payload);
}

static void translate(struct reader *reader, const struct stream *stream, struct batch *batch)
{
    struct record_state *state = reader->state;
    const struct record_base *record = stream->record;
    struct event base = EVENT_NOTHING;
    base.time_ns = stream->time_ns;
    base.process = state->run.files[stream->file].process;
    base.thread = state->run.files[stream->file].header.thread;
    const struct record_comm_place *place = place_of(state, stream, record ? record->comm : 0);
    base.comm = place ? place->comm : 0;
    if (!record) {
        ended_event(state, stream, &base, batch);
        died_events(state, stream, reader->defs, batch);
        return;
    }
    if (!record_whole(record))
        return;
    gap_event(state, stream, &base, batch);
    /* Messages and the leave happen at the place of the call that is open. */
    struct current *current = &state->current[stream->file];
    bool enters = record->kind == RECORD_ENTER || record->kind == RECORD_ENTER_AT;
    /* In a callback: the call that it is in goes on at its place afterwards. */
    if (enters && !record_openmp_is(record->state) && current->last.open && current->inside < OUTER_CALLS)
        current->outer[current->inside].site = current->site;
    if (record->kind == RECORD_ENTER_AT)
        current->site = site_of(state, stream);
    else if (record->kind == RECORD_ENTER)
        current->site = 0;
    if (record->kind <= RECORD_RECEIVE)
        base.site = current->site;
    record_events(state, stream, reader->defs, &base, batch);
}

/* Impossible clock readings: the first file of a host represents it. */
static void note_clocks(struct reader *reader)
{
    const struct record_run *run = &((struct record_state *)reader->state)->run;
    for (size_t i = 0, said = 0; i < run->file_count && said < run->clocks.count; i++) {
        size_t index = run->processes[run->process_of[i]].clock_map;
        const struct record_clock_map *map = &run->clocks.maps[index];
        if (index != said)
            continue;
        said++;
        if (map->bad > 0 && map->knot_count == 0)
            damage_note(&reader->damage, run->files[i].path, 0,
                        "the clock readings are invalid; data of this host is not used");
        else if (map->bad > 0)
            damage_note(&reader->damage, run->files[i].path, 0, "%zu clock readings are invalid; the rest are used",
                        map->bad);
    }
}

/* A recording is complete if every process reached MPI_Finalize and nothing was left out: each of these reasons is
   said. */
static void note_missing(struct reader *reader)
{
    struct record_state *state = reader->state;
    struct record_summary summary = record_reader_summary(reader);
    const char *first = state->run.files[0].path;
    reader->complete = summary.unfinished == 0 && summary.processes == summary.declared && !summary.limited &&
                       !summary.disk_full && !summary.file_lost && !summary.file_limit && summary.lost_threads == 0 &&
                       state->run.recordings->failed == 0;
    if (summary.processes < summary.declared)
        damage_note(&reader->damage, first, 0, "%u of %u processes have no recording",
                    summary.declared - summary.processes, summary.declared);
    note_clocks(reader);
    for (size_t i = 0; i < state->run.file_count; i++)
        if (state->run.files[i].missing > 0)
            damage_note(&reader->damage, state->run.files[i].path, state->run.files[i].size,
                        "blocks are missing (%ju); the rest of the recording is not used",
                        (uintmax_t)state->run.files[i].missing);
        else if (state->run.files[i].damaged)
            damage_note(&reader->damage, state->run.files[i].path, state->run.files[i].position,
                        "invalid record; the rest of the file is not used");
}

/* On the trace's clock: a time of the process's host, which is that of its end. */
static int64_t end_time(struct record_state *state, const struct stream *stream, int64_t here_ns)
{
    const struct record_file *file = &state->run.files[stream->file];
    int64_t time_ns = here_ns + record_run_offset(&state->run, process_of(state, stream), here_ns) - state->begin_ns;
    return file->kept ? time_ns - file->kept->shift_ns : time_ns;
}

/* When the process of a file was alive for all that is known, on the trace's clock. */
static int64_t alive_at(struct record_state *state, const struct stream *stream)
{
    return end_time(state, stream, state->run.recordings->alive_ns);
}

/* `alive` was read on the clock of the machine that merges: of processes elsewhere nothing is known after their last
   record. Where they were only seen, that says something if it was well after the last record of all. */
static bool alive_is_known(struct record_state *state, const struct stream *stream)
{
    const struct recordings *recordings = state->run.recordings;
    const struct record_file *file = &state->run.files[stream->file];
    if (!recordings->alive_ns || strcmp(file->header.host_name, state->host) != 0)
        return false;
    return !recordings->alive_least || time_since(state->last_ns, alive_at(state, stream)) >= SEEN_NS;
}

/* Until when the process of a file is known to have lived; never before what any recorded. */
static int64_t alive_until(struct record_state *state, const struct stream *stream)
{
    return alive_is_known(state, stream) ? larger(alive_at(state, stream), state->last_ns) : state->last_ns;
}

/* The others may have gone on: their marks, and so this one, are later than its end. */
static void date_death(struct record_state *state, struct stream *stream, int64_t last_ns, struct pending *pending)
{
    int64_t died_ns = end_time(state, stream, state->run.files[stream->file].died_ns);
    died_ns = larger(died_ns, last_ns);
    stream->time_ns = larger(stream->time_ns, died_ns);
    int64_t since_ns = stream->time_ns - died_ns;
    pending->partitions = (int32_t)smaller(since_ns / 1000000000, INT64_C(0x7fffffff));
    pending->ready = (int32_t)(since_ns % 1000000000);
}

/* Emits how processes ended that did not finalise MPI. False: nothing is left. */
static bool report_endings(struct record_state *state, const struct defs *defs, struct batch *batch)
{
    if (!state->run.pending_mark)
        return false;
    for (; state->ending_file < state->run.file_count; state->ending_file++) {
        struct ending *ending = &state->ending;
        struct stream stream = {.file = state->ending_file, .time_ns = state->current[state->ending_file].last_ns};
        const struct record_file *file = &state->run.files[stream.file];
        if (state->current[stream.file].reported || file->header.end == RECORD_FINALIZED ||
            clock_map(state, &stream)->knot_count == 0)
            continue;
        if (!ending->items.items) {
            ending->items = record_pending_of(file, &state->current[stream.file].last);
            if (ending->items.items->pending.what == PENDING_ALIVE)
                ending->items.items->pending.tag = !alive_is_known(state, &stream);
        }
        stream.time_ns = alive_until(state, &stream);
        if (ending->items.items->pending.what == PENDING_DIED)
            date_death(state, &stream, state->current[stream.file].last_ns, &ending->items.items->pending);
        for (; ending->reported < ending->items.count; ending->reported++) {
            if (batch->count == BATCH_EVENTS)
                return true;
            pending_event(state, &stream, defs, &ending->items.items[ending->reported], batch);
        }
        free(ending->items.items);
        *ending = (struct ending){0};
    }
    return batch->count > 0;
}

/* One record at a time from the file whose next one is earliest: the heap's first. */
static enum status record_next(struct reader *reader, struct batch *batch, struct error *err)
{
    (void)err;
    struct record_state *state = reader->state;
    /* Room for all events of any record, so that none has to be continued in the next batch. */
    while (batch->count + EVENTS_PER_RECORD <= BATCH_EVENTS) {
        if (state->openmp_end.active) {
            size_t already = batch->count;
            record_openmp_end_next(&state->run, state->openmp, &state->openmp_end, batch);
            state->events += batch->count - already;
            continue;
        }
        if (state->count == 0) {
            size_t already = batch->count;
            bool more = report_endings(state, reader->defs, batch);
            state->events += batch->count - already;
            if (more)
                return STATUS_OK;
            note_missing(reader);
            return STATUS_END;
        }
        struct stream *first = &state->heap[0];
        size_t before = batch->count;
        translate(reader, first, batch);
        state->current[first->file].last_ns = first->time_ns;
        if (first->time_ns > state->last_ns)
            state->last_ns = first->time_ns;
        for (size_t i = before; i < batch->count; i++)
            state->events += event_counts(&batch->events[i]);
        if (!first->record || !stream_next(state, first))
            state->count = heap_drop(state->heap, state->count, &BY_TIME, NULL);
        else
            heap_down(state->heap, state->count, 0, &BY_TIME, NULL);
    }
    return STATUS_OK;
}

static void record_close(struct reader *reader)
{
    struct record_state *state = reader->state;
    record_run_close(&state->run);
    free(state->ending.items.items);
    free(state->heap);
    free(state->current);
    free(state->openmp);
    if (state->own)
        recordings_close(state->own);
    free(state->own);
}

/* From the first record of a stream to the last part of its file. */
static void stream_skip(struct record_state *state, struct stream *stream)
{
    struct record_file *file = &state->run.files[stream->file];
    int64_t began_ns = stream->time_ns;
    if (!state->late_bytes || !record_file_skip(file, state->late_bytes))
        return;
    /* The number of communicators and the like is in the definitions: nothing else of the first record is needed. */
    stream->knot = 0;
    if (stream_next(state, stream))
        state->from_ns = larger(state->from_ns, stream->time_ns);
    else
        stream->time_ns = began_ns;
}

/* All streams at their first record; the earliest one is the trace's time 0. */
static void streams_start(struct record_state *state)
{
    size_t files = state->run.file_count;
    /* The files share a fixed memory: 10,000 processes must not take 10 GB. */
    size_t window = WINDOWS_MEMORY / files;
    if (window < WINDOW_MIN)
        window = WINDOW_MIN;
    if (window > WINDOW_MAX)
        window = WINDOW_MAX;
    struct stream *streams = state->heap = memory_new(files * sizeof *streams);
    size_t count = 0;
    int64_t begin_ns = INT64_MAX;
    for (size_t i = 0; i < files; i++) {
        streams[count] = (struct stream){.file = (uint32_t)i, .time_ns = INT64_MIN};
        record_file_start(&state->run.files[i], window);
        /* A host whose clock readings are all invalid cannot be placed in time: reported by note_clocks. */
        if (clock_map(state, &streams[count])->knot_count == 0 || !stream_next(state, &streams[count]))
            continue;
        if (streams[count].time_ns < begin_ns)
            begin_ns = streams[count].time_ns;
        stream_skip(state, &streams[count]);
        count++;
    }
    state->from_ns = larger(time_since(begin_ns, state->from_ns), INT64_C(0));
    state->current = memory_new(files * sizeof *state->current);
    state->openmp = memory_new(files * sizeof *state->openmp);
    state->begin_ns = begin_ns;
    state->count = count;
    for (size_t i = 0; i < count; i++)
        streams[i].time_ns -= begin_ns;
    heap_make(streams, count, &BY_TIME, NULL);
}

/* The trace of the recordings, which must stay. */
static enum status record_begin(struct reader *reader, const struct recordings *recordings, size_t trace,
                                struct error *err)
{
    struct record_state *state = reader->state;
    state->from_ns = INT64_MIN;
    if (record_run_open(&state->run, recordings, trace, reader->defs, err) != STATUS_OK)
        return STATUS_FAILED;
    record_plan_make(&state->run, reader->defs, &state->plan);
    gethostname(state->host, sizeof state->host - 1);
    streams_start(state);
    record_totals_define(&state->run, &state->plan, state->begin_ns, reader->defs);
    return STATUS_OK;
}

/* The first of the directory's buffer files. Which one does not matter: all are read. */
static char *record_find_in(const char *directory)
{
    char *found = NULL;
    DIR *entries = opendir(directory);
    const struct dirent *entry;
    while (entries && !found && (entry = readdir(entries))) {
        size_t length = strlen(entry->d_name), suffix = strlen(RECORD_SUFFIX);
        if (length > suffix && strcmp(entry->d_name + length - suffix, RECORD_SUFFIX) == 0 &&
            asprintf(&found, "%s/%s", directory, entry->d_name) < 0)
            found = NULL;
    }
    if (entries)
        closedir(entries);
    return found;
}

static enum status record_open(struct reader *reader, struct error *err)
{
    struct record_state *state = reader->state;
    const char *path = reader->input->path, *slash = strrchr(path, '/');
    char *directory = memory_copy_string(path);
    directory[slash - path] = '\0';
    state->own = memory_new(sizeof *state->own);
    enum status status = recordings_open(state->own, &directory, 1, err);
    if (status == STATUS_OK && state->own->trace_count > 1)
        status = error_set(err, ERROR_INPUT,
                           "%s: has the recordings of %zu MPI programs: sight merge writes a trace of each", directory,
                           state->own->trace_count);
    free(directory);
    if (status != STATUS_OK)
        return STATUS_FAILED;
    recordings_freeze(state->own); /* the program may still run */
    recordings_note_alive(state->own);
    return record_begin(reader, state->own, 0, err);
}

/* Until when a process is known to have lived depends on the last event of all. Files with a sample were read as a
   whole already. */
static uint64_t *record_process_bytes(const struct reader *reader, size_t *count)
{
    const struct record_run *run = &((const struct record_state *)reader->state)->run;
    for (size_t i = 0; i < run->file_count; i++)
        if (run->files[i].header.end != RECORD_FINALIZED || run->files[i].kept)
            return NULL;
    uint64_t *bytes = memory_new(run->process_count * sizeof *bytes);
    *count = run->process_count;
    for (size_t i = 0; i < run->file_count; i++)
        bytes[run->process_of[i]] += run->files[i].size;
    return bytes;
}

static void record_select(struct reader *reader, size_t from, size_t to)
{
    struct record_state *state = reader->state;
    size_t count = 0;
    for (size_t i = 0; i < state->count; i++) {
        uint32_t file = state->heap[i].file, process = state->run.process_of[file];
        if (process >= from && process < to)
            state->heap[count++] = state->heap[i];
        else
            record_file_stop(&state->run.files[file]);
    }
    state->count = count;
    heap_make(state->heap, count, &BY_TIME, NULL);
}

static const struct format_processes processes = {record_process_bytes, record_select};

const struct format format_record = {.name = "record",
                                     .title = "recording",
                                     .suffix = RECORD_SUFFIX,
                                     .state_size = sizeof(struct record_state),
                                     .open = record_open,
                                     .next = record_next,
                                     .close = record_close,
                                     .processes = &processes,
                                     .find_in = record_find_in};

struct reader *record_reader_open(const struct recordings *recordings, size_t trace, struct error *err)
{
    return record_reader_open_late(recordings, trace, 0, err);
}

struct reader *record_reader_open_late(const struct recordings *recordings, size_t trace, uint64_t bytes,
                                       struct error *err)
{
    struct reader *reader = memory_new(sizeof *reader);
    reader->defs = defs_new();
    reader->format = &format_record;
    struct record_state *state = reader->state = memory_new(sizeof *state);
    state->late_bytes = bytes;
    if (record_begin(reader, recordings, trace, err) == STATUS_OK)
        return reader;
    reader_close(reader);
    return NULL;
}

/* The past of one file on its way to a sink. */
struct passing {
    struct reader *reader;
    const struct past_sink *sink;
    struct record_past *past;
    struct stream stream;
    struct batch *batch;
    uint8_t *busy; /* by PROGRESS_NS of the run's time: somebody made progress then */
    size_t busy_count;
};
enum { BUSY_MAX = 1 << 24, PAUSE_BYTES = 64 << 20 /* of all files together */ };

static void pass_batch(struct passing *passing)
{
    if (passing->batch->count > 0)
        passing->sink->events(passing->sink->context, passing->batch);
    batch_clear(passing->batch);
}

/* The communicator of what the file counted; false: it is not known. */
static bool pass_on(const struct passing *passing, uint32_t comm, struct event *event)
{
    struct record_state *state = passing->reader->state;
    const struct record_file *file = &state->run.files[passing->stream.file];
    const struct record_comm_place *place = place_of(state, &passing->stream, comm);
    *event = EVENT_NOTHING;
    event->time_ns = passing->stream.time_ns;
    event->process = file->process;
    event->thread = file->header.thread;
    event->comm = place ? place->comm : 0;
    return place && !place->foreign;
}

static void pass_collectives(struct passing *passing)
{
    const struct record_state *state = passing->reader->state;
    struct record_past *past = passing->past;
    for (size_t i = 0; i < past->collective_count; i++) {
        const struct record_past_collectives *collectives = &past->collectives[i];
        uint32_t states[RECORD_PAST_LAST];
        size_t last = (size_t)smaller(collectives->known, (uint64_t)RECORD_PAST_LAST);
        struct event event;
        for (size_t k = 0; k < last; k++)
            states[k] = state->run.states[collectives->last[(collectives->count - last + 1 + k) % RECORD_PAST_LAST]];
        (void)pass_on(passing, collectives->comm, &event);
        passing->sink->collectives(passing->sink->context, &event, collectives->count, states, last);
    }
    past->collective_count = 0;
}

/* What was counted before it goes first: the order of collectives matters. */
static void pass_event(void *context, const struct record_base *record)
{
    struct passing *passing = context;
    if (passing->past->collective_count > 0 || passing->batch->count + EVENTS_PER_RECORD > BATCH_EVENTS) {
        pass_batch(passing);
        pass_collectives(passing);
    }
    passing->stream.record = record;
    set_time(passing->reader->state, &passing->stream, record->ticks);
    translate(passing->reader, &passing->stream, passing->batch);
}

static void pass_last(struct passing *passing)
{
    struct record_state *state = passing->reader->state;
    const struct record_past *past = passing->past;
    const struct record_file *file = &state->run.files[passing->stream.file];
    struct event event;
    if (!past->last_ticks)
        return;
    passing->stream.time_ns = INT64_MIN;
    passing->stream.knot = 0;
    set_time(state, &passing->stream, past->last_ticks);
    (void)pass_on(passing, RECORD_WORLD, &event);
    event.state = state->run.states[past->function];
    uint32_t place = past->site < file->site_count ? file->sites[past->site].place : 0;
    event.site = place ? state->run.places[place - 1].site : 0;
    passing->sink->progress(passing->sink->context, &event, past->failed);
}

static void pass_messages(struct passing *passing)
{
    struct record_state *state = passing->reader->state;
    const struct record_file *file = &state->run.files[passing->stream.file];
    for (size_t i = 0; i < passing->past->channel_count; i++) {
        const struct record_past_channel *channel = &passing->past->channels[i];
        struct event event;
        if (!pass_on(passing, channel->comm, &event))
            continue;
        const struct record_comm_place *place = place_of(state, &passing->stream, channel->comm);
        uint32_t site = channel->site < file->site_count ? file->sites[channel->site].place : 0;
        event.kind = channel->kind == RECORD_SEND ? EVENT_SEND : EVENT_RECEIVE;
        event.partner = world_partner(passing->reader->defs, place, channel->partner);
        event.partner_comm = place->partner;
        event.tag = channel->tag;
        event.state = state->run.states[channel->function];
        event.site = site ? state->run.places[site - 1].site : 0;
        passing->sink->messages(passing->sink->context, &event, channel->count);
    }
}

/* From one time to another. */
static void pass_progress(void *context, int64_t from_ticks, int64_t to_ticks)
{
    struct passing *passing = context;
    struct record_state *state = passing->reader->state;
    int64_t at[2], ticks[] = {from_ticks, to_ticks}, bin_ns = passing->sink->least_pause_ns / 2;
    for (size_t i = 0; i < 2; i++) {
        struct stream stream = {.file = passing->stream.file, .time_ns = INT64_MIN, .knot = passing->stream.knot};
        set_time(state, &stream, ticks[i]);
        at[i] = larger(stream.time_ns, INT64_C(0)) / bin_ns;
    }
    /* In a damaged recording the first may be after the second. */
    if (at[1] >= BUSY_MAX || at[0] > at[1])
        return;
    if ((size_t)at[1] >= passing->busy_count) {
        size_t count = 2 * ((size_t)at[1] + 1);
        passing->busy = memory_resize(passing->busy, count);
        memset(passing->busy + passing->busy_count, 0, count - passing->busy_count);
        passing->busy_count = count;
    }
    memset(passing->busy + at[0], 1, (size_t)(at[1] - at[0]) + 1);
}

static int64_t longest_pause(const struct passing *passing)
{
    size_t longest = 0, idle = 0;
    bool begun = false;
    for (size_t i = 0; i < passing->busy_count; i++) {
        if (passing->busy[i] && begun)
            longest = larger(longest, idle);
        begun |= passing->busy[i];
        idle = passing->busy[i] ? 0 : idle + 1;
    }
    return longest > 0 ? (int64_t)(longest + 1) * (passing->sink->least_pause_ns / 2) : 0;
}

static bool pass_file(struct passing *passing)
{
    struct record_state *state = passing->reader->state;
    const struct record_file *file = &state->run.files[passing->stream.file];
    const struct record_clock_map *map = clock_map(state, &passing->stream);
    if (!file->skipped_to || map->knot_count == 0)
        return true;
    struct record_past past = {.event = pass_event,
                               .progress = pass_progress,
                               .context = passing,
                               .pause_bytes = PAUSE_BYTES / state->run.file_count,
                               .progress_ticks =
                                   (int64_t)((double)passing->sink->least_pause_ns / 2 / map->knots[0].rate)};
    for (size_t f = 0; f < RECORD_FUNCTIONS_MAX; f++)
        if (state->run.states[f] != UINT32_MAX)
            past.needs[f] = (uint8_t)passing->sink->need(passing->sink->context, state->run.states[f]);
    passing->past = &past;
    bool whole = record_past_read(&past, file);
    pass_batch(passing);
    pass_collectives(passing);
    pass_messages(passing);
    pass_last(passing);
    record_past_clear(&past);
    state->current[passing->stream.file] = (struct current){0};
    return whole;
}

bool record_reader_past(struct reader *reader, const struct past_sink *sink)
{
    struct record_state *state = reader->state;
    struct passing passing = {.reader = reader, .sink = sink, .batch = memory_new(sizeof *passing.batch)};
    uint64_t events = state->foreign;
    bool whole = true;
    for (uint32_t i = 0; i < state->run.file_count && whole; i++) {
        passing.stream = (struct stream){.file = i, .time_ns = INT64_MIN};
        whole = pass_file(&passing);
    }
    state->foreign = events;
    sink->pause(sink->context, longest_pause(&passing));
    batch_free(passing.batch);
    free(passing.batch);
    free(passing.busy);
    return whole;
}

int64_t record_reader_from_ns(const struct reader *reader)
{
    return ((const struct record_state *)reader->state)->from_ns;
}

int64_t record_reader_now_ns(const struct reader *reader)
{
    const struct record_state *state = reader->state;
    int64_t now_ns = state->run.recordings->alive_ns;
    return now_ns + record_run_offset(&state->run, &state->run.processes[0], now_ns) - state->begin_ns -
           state->plan.gap_ns;
}

/* Those that the last tally of the file has; reading goes on after it. */
static void count_tallied(struct record_state *state, uint32_t file_index, struct record_calls *calls, size_t count)
{
    struct record_file *file = &state->run.files[file_index];
    struct record_mark mark;
    struct record_tally_rows rows;
    if (!record_marks_last(file, &mark) || !record_tally_load(&rows, file, &mark))
        return;
    for (size_t i = 0; i < rows.count; i++) {
        const struct record_tally *row = &rows.rows[i];
        bool placed = row->base.state == RECORD_ENTER_AT && row->site < file->site_count;
        uint32_t function = placed ? file->sites[row->site].function : (uint32_t)row->partner;
        uint32_t place = placed ? file->sites[row->site].place : 0,
                 site = place ? state->run.places[place - 1].site : 0;
        if ((!placed && (row->base.state != RECORD_ENTER || row->tag != 0)) || function >= RECORD_FUNCTIONS_MAX)
            continue;
        for (size_t k = 0; k < count; k++)
            if (calls[k].state == state->run.states[function] && calls[k].site == site)
                calls[k].count += row->count;
    }
    file->position = mark.end;
    file->last_ticks = mark.ticks;
    record_tally_clear(&rows);
}

static void count_entries(struct record_state *state, uint32_t file, struct record_calls *calls, size_t count)
{
    struct stream stream = {.file = file};
    record_file_start(&state->run.files[file], WINDOW_MAX);
    count_tallied(state, file, calls, count);
    while ((stream.record = record_file_next(&state->run.files[file]))) {
        const struct record_base *record = stream.record;
        bool placed = record->kind == RECORD_ENTER_AT;
        if ((record->kind != RECORD_ENTER && !placed) || !record_whole(record) || record->state >= RECORD_FUNCTIONS_MAX)
            continue;
        uint32_t index = state->run.states[record->state], site = placed ? site_of(state, &stream) : 0;
        for (size_t i = 0; i < count; i++)
            calls[i].count += calls[i].state == index && calls[i].site == site;
    }
}

void record_reader_count(struct reader *reader, uint32_t process, struct record_calls *calls, size_t count)
{
    struct record_state *state = reader->state;
    for (size_t i = 0; i < count; i++)
        calls[i].count = 0;
    for (size_t i = 0; i < state->run.file_count; i++)
        if (state->run.files[i].process == process)
            count_entries(state, (uint32_t)i, calls, count);
}

struct record_summary record_reader_summary(const struct reader *reader)
{
    const struct record_state *state = reader->state;
    const struct record_run *run = &state->run;
    struct record_summary summary = {.processes = (uint32_t)run->process_count,
                                     .declared = reader->defs->processes,
                                     .programs = run->program_count,
                                     .spawned = run->files[0].header.spawned != 0,
                                     .foreign = state->foreign,
                                     .events = state->events,
                                     .kept = property_find(&reader->defs->properties, PROPERTY_KEPT),
                                     .left_out = state->plan.left_out,
                                     .lost_definitions = state->plan.lost_definitions,
                                     .lost_messages = state->lost_messages,
                                     .limit_bytes = state->plan.limit_bytes};
    for (size_t i = 0; i < run->process_count; i++) {
        summary.unfinished += !run->processes[i].finalized;
        summary.several_hosts |= run->processes[i].clock.points > 0;
    }
    for (size_t i = 0; i < run->file_count; i++) {
        summary.limited |= run->files[i].header.reason == RECORD_LIMIT;
        summary.disk_full |= run->files[i].header.reason == RECORD_DISK_FULL;
        summary.file_lost |= run->files[i].header.reason == RECORD_FILE_LOST;
        summary.file_limit |= run->files[i].header.reason == RECORD_FILE_LIMIT;
        summary.lost_calls += run->files[i].lost_calls;
        summary.lost_threads += run->files[i].header.lost_threads;
        if (run->files[i].header.lost_threads > 0)
            summary.lost_reason = (int)run->files[i].header.lost_reason;
        summary.bytes += run->files[i].size;
    }
    return summary;
}
