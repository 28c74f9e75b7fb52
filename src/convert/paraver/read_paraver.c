/* SPDX-License-Identifier: BSD-3-Clause */
/* Paraver, the text format of Extrae and Dimemas: definitions, and events that must be sorted. Facts: paraver(5). */
#include "convert/paraver/paraver_state.h"

#include "core/event_pack.h"
#include "core/memory.h"
#include "core/varint.h"

#include <inttypes.h>
#include <string.h>

enum { SORT_MEMORY = 16 << 20 };

/* The sorter's order of events at the same time: ends before begins, but a state without length ends after it begins,
   and a message leaves after the call has begun. */
enum { ORDER_LEAVE, ORDER_RECEIVE, ORDER_EMPTY_ENTER, ORDER_EMPTY_LEAVE, ORDER_ENTER, ORDER_SEND };

static int paraver_probe(const unsigned char *data, size_t size)
{
    if (size >= 8 && memcmp(data, "#Paraver", 8) == 0)
        return 100;
    return 0;
}

enum status paraver_line(struct reader *reader, struct text_line *line, struct error *err)
{
    struct paraver_state *state = reader->state;
    return text_line_whole(reader, PARAVER_LINE_MOST, &state->inside_line, line, err);
}

/* One line, of tens of kB for large runs. */
static enum status read_header(struct reader *reader, struct error *err)
{
    struct paraver_state *state = reader->state;
    struct text_line line;
    enum status status = paraver_line(reader, &line, err);
    if (status == STATUS_FAILED)
        return status;
    const char *wrong = "the file ends inside its header";
    uint64_t byte = reader->input->offset;
    if (status == STATUS_OK) {
        const char *at = line.at;
        wrong = paraver_header_parse(&state->header, &at, line.end);
        byte = line.byte + (uint64_t)(at - line.at);
    }
    if (wrong)
        return error_set(err, ERROR_INPUT, "%s: byte %" PRIu64 ": %s", reader->input->name, byte, wrong);
    property_add(&reader->defs->properties, PROPERTY_DATE, state->header.date);
    reader->defs->processes = (uint32_t)state->header.task_count;
    for (size_t i = 0; i < state->header.task_count; i++)
        if (state->header.tasks[i].threads > reader->defs->threads)
            reader->defs->threads = state->header.tasks[i].threads;
    return STATUS_OK;
}

/* "c:application:number:n:task:task…", in the order of the ranks. */
static bool read_communicator(struct reader *reader, const char *at, const char *end)
{
    const struct paraver_state *state = reader->state;
    uint64_t application, number, count, task;
    uint32_t process;
    int32_t id;
    if (!text_take(&at, end, ':') || !text_take_u64(&at, end, &application) || !text_take(&at, end, ':') ||
        !text_take_u64(&at, end, &number) || !text_take(&at, end, ':') || !text_take_u64(&at, end, &count) ||
        !paraver_comm_id(application, number, &id))
        return false;
    int32_t comm = defs_comm(reader->defs, id);
    /* Number 1 is MPI_COMM_WORLD by Extrae's convention, but a trace that was cut or filtered may number
       differently: all tasks, in their order. */
    bool world = count == state->header.task_count && number == 1;
    for (uint64_t rank = 0; rank < count; rank++) {
        if (!text_take(&at, end, ':'))
            return false;
        /* Old traces have -1 for the one member of the communicator of each task alone. */
        if (count == 1 && end - at == 2 && memcmp(at, "-1", 2) == 0) {
            reader->defs->comms[comm].self = true;
            return true;
        }
        if (!text_take_u64(&at, end, &task) || !paraver_process(&state->header, application, task, &process))
            return false;
        world = world && process == rank;
        defs_set_member(reader->defs, comm, (int32_t)rank, process);
    }
    reader->defs->comms[comm].world = world;
    reader->defs->comms[comm].self = count == 1 && !world;
    return at == end;
}

static void define_location(struct reader *reader, const struct paraver_place *place)
{
    const struct paraver_state *state = reader->state;
    const struct paraver_task *task = &state->header.tasks[place->process];
    if (place->thread >= reader->defs->threads)
        reader->defs->threads = place->thread + 1;
    const char *host = paraver_node(&state->labels, task->node);
    /* Without hosts and threads a location would say nothing that its process does not. */
    if ((!host && reader->defs->threads == 1) || defs_find_location(reader->defs, place->process, place->thread))
        return;
    struct location_def location = {
        .process = place->process, .thread = place->thread, .kind = LOCATION_THREAD, .host = (char *)(uintptr_t)host};
    defs_add_location(reader->defs, &location);
}

static enum status sort_event(struct paraver_state *state, const struct event *event, int order, bool is_state,
                              struct error *err)
{
    unsigned char packed[1 + VARINT_MAX + EVENT_PACK_MAX], *at = varint_put(packed + 1, event->process);
    packed[0] = is_state;
    struct sort_key key = {.major = sort_key_signed(event->time_ns), .minor = (uint64_t)order};
    size_t length = (size_t)(at - packed) + event_pack(at, event, NULL);
    return sorter_add(state->sorted, key, packed, length, err);
}

/* Communications stand at their physical send, which is later than the logical one, and know a receive that is still
   to come: neither end has its place in the order of the file. The send counts where the call begins (logical), the
   receive where the data is there (physical). */
static enum status sort_communication(struct paraver_state *state, struct error *err)
{
    const struct paraver_record *record = &state->record;
    struct event event = EVENT_NOTHING;
    int64_t bytes = record->bytes <= INT64_MAX ? (int64_t)record->bytes : BYTES_UNKNOWN;
    event.kind = EVENT_SEND;
    event.process = record->at.process;
    event.thread = record->at.thread;
    event.partner = (int32_t)record->to.process;
    event.tag = record->tag <= INT32_MAX ? (int32_t)record->tag : EVENT_UNKNOWN;
    event.time_ns = record->sent_ns;
    event.bytes_sent = bytes;
    if (sort_event(state, &event, ORDER_SEND, false, err) != STATUS_OK)
        return STATUS_FAILED;
    /* Extrae leaves out ends without partner; other writers put 0 for a receive that they did not see. */
    if (record->received_ns == 0)
        return STATUS_OK;
    event.kind = EVENT_RECEIVE;
    event.process = record->to.process;
    event.thread = record->to.thread;
    event.partner = (int32_t)record->at.process;
    event.time_ns = record->received_ns;
    event.bytes_sent = BYTES_UNKNOWN;
    event.bytes_received = bytes;
    return sort_event(state, &event, ORDER_RECEIVE, false, err);
}

/* State records say by class of activity what Extrae derived from the calls. As soon as calls of MPI are seen they
   would double them, and are sorted no more (those sorted before are passed over: fill_head). */
static enum status sort_state(struct paraver_state *state, struct error *err)
{
    const struct paraver_record *record = &state->record;
    if (state->has_mpi || record->state == PARAVER_STATE_RUNNING || record->state == PARAVER_STATE_NOT_CREATED)
        return STATUS_OK;
    bool empty = record->time_ns == record->end_ns;
    struct event event = EVENT_NOTHING;
    event.kind = EVENT_ENTER;
    event.process = record->at.process;
    event.thread = record->at.thread;
    event.state = (uint32_t)record->state;
    event.time_ns = record->time_ns;
    if (sort_event(state, &event, empty ? ORDER_EMPTY_ENTER : ORDER_ENTER, true, err) != STATUS_OK)
        return STATUS_FAILED;
    event.kind = EVENT_LEAVE;
    event.time_ns = record->end_ns;
    return sort_event(state, &event, empty ? ORDER_EMPTY_LEAVE : ORDER_LEAVE, true, err);
}

/* A type that is known by the labels of its values, or as a counter. */
static void define_other(struct reader *reader, const struct paraver_pair *pair)
{
    struct paraver_state *state = reader->state;
    const struct paraver_place *at = &state->record.at;
    if (!paraver_labelled_take(&state->labelled, &state->labels, pair, at))
        paraver_define_counter(&state->names, &state->labels, reader->defs, pair->type);
    else if (pair->value != 0)
        paraver_define_state(&state->names, &state->labels, reader->defs, pair->type, pair->value, 0, at->thread);
}

/* Definitions must be complete before the first event: the names of states and counters, and the places of calls and
   samples, are collected here. */
static void define_pairs(struct reader *reader)
{
    struct paraver_state *state = reader->state;
    bool places = false, enters = false;
    for (size_t i = 0; i < state->record.pair_count; i++) {
        const struct paraver_pair *pair = &state->record.pairs[i];
        if (paraver_pair_is_state(pair)) {
            state->has_mpi |= paraver_type_is_mpi(pair->type);
            enters |= paraver_type_is_mpi(pair->type) && pair->value != 0;
            if (paraver_type_is_mpi(pair->type))
                state->unended += pair->value != 0 ? 1 : -1;
            if (pair->value != 0)
                paraver_define_state(&state->names, &state->labels, reader->defs, pair->type, pair->value,
                                     paraver_record_value(&state->record, pair->type + PARAVER_LINE),
                                     state->record.at.thread);
        } else if (!paraver_pair_is_detail(pair)) {
            define_other(reader, pair);
        }
        places |= paraver_type_is_place(pair->type);
    }
    if (!places)
        return;
    uint32_t site;
    if (paraver_caller_of(&state->places, &state->labels, reader->defs, &state->record) > 0)
        state->apart |= !enters;
    (void)paraver_sample_of(&state->places, &state->labels, reader->defs, &state->record, &site);
}

/* The first pass over a line. */
static enum status scan_line(struct reader *reader, const struct text_line *line, struct map *numbers,
                             struct error *err)
{
    struct paraver_state *state = reader->state;
    if (line->at == line->end || *line->at == '#' || *line->at == 'i')
        return STATUS_OK;
    if (*line->at == 'c') {
        read_communicator(reader, line->at + 1, line->end);
        return STATUS_OK;
    }
    if (state->has_mpi && line->end - line->at > 2 && memcmp(line->at, "1:", 2) == 0) {
        /* A state says nothing new but that its thread is there. */
        if (!paraver_record_place(&state->record, &state->header, line->at, line->end))
            define_location(reader, &state->record.at);
        return STATUS_OK;
    }
    if (paraver_record_parse(&state->record, &state->header, line->at, line->end))
        return STATUS_OK; /* damage, noted by the second pass */
    define_location(reader, &state->record.at);
    switch (state->record.kind) {
    case PARAVER_STATE:
        /* Their names are defined only if they are used, which is known at the end of this pass. */
        map_put(numbers, state->record.state, 0);
        return sort_state(state, err);
    case PARAVER_EVENT:
        define_pairs(reader);
        return STATUS_OK;
    case PARAVER_COMMUNICATION:
        define_location(reader, &state->record.to);
        return sort_communication(state, err);
    }
    return STATUS_OK;
}

static enum status scan(struct reader *reader, struct map *numbers, struct error *err)
{
    struct text_line line;
    enum status status;
    while ((status = paraver_line(reader, &line, err)) == STATUS_OK)
        if (scan_line(reader, &line, numbers, err) != STATUS_OK)
            return STATUS_FAILED;
    return status;
}

static enum status paraver_open(struct reader *reader, struct error *err)
{
    struct paraver_state *state = reader->state;
    struct map numbers = {0};
    state->sorted = sorter_new(SORT_MEMORY);
    if (read_header(reader, err) != STATUS_OK ||
        paraver_labels_read(&state->labels, reader->input->path, err) != STATUS_OK)
        return STATUS_FAILED;
    enum status status = scan(reader, &numbers, err);
    if (!state->has_mpi)
        for (size_t i = 0; i < numbers.capacity; i++)
            if (numbers.entries[i].key != 0)
                /* Type 0 is that of state records. The map keeps key + 1. */
                paraver_define_state(&state->names, &state->labels, reader->defs, 0, numbers.entries[i].key - 1, 0, 0);
    map_clear(&numbers);
    /* At the end of a trace that is cut each thread may be in a call: more than that is not a matter of the end. */
    state->replaces = state->unended > (int64_t)state->header.task_count * (int64_t)reader->defs->threads;
    if (status == STATUS_FAILED || sorter_rewind(state->sorted, err) != STATUS_OK)
        return STATUS_FAILED;
    reader->used = reader->total = reader->input->offset;
    reader->damage = (struct damage){0}; /* noted when the events are read */
    state->inside_line = false;
    return input_rewind(reader->input, err);
}

static enum status paraver_end(struct reader *reader)
{
    static const char *const names[] = {"", "state", "event", "communication"};
    struct paraver_state *state = reader->state;
    uint64_t byte = reader->input->offset, records = 0;
    for (size_t kind = PARAVER_STATE; kind <= PARAVER_COMMUNICATION; kind++) {
        records += state->records[kind];
        if (state->records[kind] > 0)
            reader_count(reader, names[kind], state->records[kind]);
    }
    /* The only count of lines that a header has: with no mark at the end, it is what shows a cut between header and
       records. */
    if (state->communicators < state->header.communicators)
        reader_damage(reader, byte, "%" PRIu64 " of %" PRIu64 " communicators", state->communicators,
                      state->header.communicators);
    if (records == 0)
        reader_damage(reader, byte, "the file ends after its header: it has no records");
    if (state->names.numbered > 0)
        reader_count(reader, "name without label", state->names.numbered);
    reader->complete = reader->damage.count == 0;
    return STATUS_END;
}

/* Counts a line, and notes its damage; true if it has events. */
static bool take_line(struct reader *reader, const struct text_line *line)
{
    struct paraver_state *state = reader->state;
    if (line->at == line->end || *line->at == '#')
        return false;
    /* Inter-communicators ("i") count among those declared; their members are those of two others, which messages do
       not name. */
    if (*line->at == 'c' || *line->at == 'i') {
        state->communicators++;
        reader_count(reader, "communicator", 1);
        if (*line->at == 'c' && !read_communicator(reader, line->at + 1, line->end))
            reader_damage(reader, line->byte, "a communicator that cannot be read");
        return false;
    }
    /* Traces of before 2005 have a record of each collective operation, beside the events of its call. */
    if (line->end - line->at > 2 && memcmp(line->at, "4:", 2) == 0) {
        reader_count(reader, "old record of a collective operation, not read", 1);
        return false;
    }
    const char *wrong = paraver_record_parse(&state->record, &state->header, line->at, line->end);
    if (wrong) {
        reader_damage(reader, line->byte, "%s", wrong);
        return false;
    }
    state->records[state->record.kind]++;
    return state->record.kind == PARAVER_EVENT;
}

/* The members of communicators: a file lists them once, before its records. */
static void state_members(struct reader *reader, struct batch *batch)
{
    struct paraver_state *state = reader->state;
    const struct defs *defs = reader->defs;
    while (state->made_comm < defs->comm_count && batch->count < BATCH_EVENTS) {
        const struct comm_def *comm = &defs->comms[state->made_comm];
        int32_t process = defs_world_rank(defs, (int32_t)state->made_comm, state->made_rank);
        if (process < 0 || (uint32_t)process >= defs->processes) {
            state->made_comm++;
            state->made_rank = 0;
            continue;
        }
        struct event event = EVENT_NOTHING;
        event.kind = EVENT_COMM_MADE;
        event.process = (uint32_t)process;
        event.value = comm->self ? COMM_STEP_SELF : COMM_STEP_INTRA;
        if (comm->world)
            event.value = COMM_STEP_WORLD;
        event.partner_comm = (int32_t)state->made_comm;
        event.tag = state->made_rank++;
        batch->events[batch->count++] = event;
    }
}

/* At once, or with the next batch. */
static enum status emit_record(struct reader *reader, struct batch *batch, struct error *err)
{
    struct paraver_state *state = reader->state;
    state->has_record = !paraver_release(state, batch, false);
    return state->has_record ? STATUS_OK : paraver_emit_record(reader, batch, err);
}

static enum status paraver_next(struct reader *reader, struct batch *batch, struct error *err)
{
    struct paraver_state *state = reader->state;
    state_members(reader, batch);
    paraver_drain(state, batch);
    while (batch->count < BATCH_EVENTS) {
        struct text_line line;
        /* A record that met a full batch is emitted now; its line is gone, but the record has all of it. */
        enum status status = state->has_record ? STATUS_OK : paraver_line(reader, &line, err);
        if (status == STATUS_END && !paraver_release(state, batch, true))
            return STATUS_OK;
        if (status == STATUS_OK && (state->has_record || take_line(reader, &line)))
            status = emit_record(reader, batch, err);
        else if (status == STATUS_END && (status = paraver_emit_rest(reader, batch, err)) == STATUS_END)
            return paraver_end(reader);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static void paraver_close(struct reader *reader)
{
    struct paraver_state *state = reader->state;
    for (size_t i = 0; i < state->stack_count; i++)
        free(state->stack[i].open);
    free(state->stack);
    free(state->due);
    free(state->queue);
    map_clear(&state->stacks);
    sorter_free(state->sorted);
    paraver_record_clear(&state->record);
    paraver_names_clear(&state->names);
    paraver_places_clear(&state->places);
    paraver_labels_clear(&state->labels);
    paraver_labelled_clear(&state->labelled);
    paraver_header_clear(&state->header);
}

const struct format format_paraver = {.name = "paraver",
                                      .title = "Paraver",
                                      .suffix = ".prv",
                                      .probe = paraver_probe,
                                      .two_passes = true,
                                      .state_size = sizeof(struct paraver_state),
                                      .open = paraver_open,
                                      .next = paraver_next,
                                      .close = paraver_close};
