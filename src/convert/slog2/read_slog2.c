/* SPDX-License-Identifier: BSD-3-Clause */
/* SLOG-2, Jumpshot-4's format: a tree over time of states, events and arrows that are matched already. Facts: slog2(5).
 */
#include "convert/slog2/slog2_state.h"

#include "core/bytes.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <inttypes.h>
#include <string.h>

enum {
    SORT_MEMORY = 16 << 20,
    POINTERS = 24, /* where the header's pointers are: an offset and a size each */
    POINTER_SIZE = 12,
    NODE_MOST = 1 << 30,
    ORDER_SHIFT = 61
};

/* The order at one time: what ends before what begins, but a state of no length ends after it begins. */
enum { ORDER_RECEIVE, ORDER_LEAVE, ORDER_EMPTY_ENTER, ORDER_EMPTY_LEAVE, ORDER_ENTER, ORDER_MARK, ORDER_SEND };

static int slog2_probe(const unsigned char *data, size_t size)
{
    if (size >= 8 && memcmp(data, "\0\nSLOG 2", 8) == 0)
        return 100;
    return 0;
}

/* Drawables */

struct drawable {
    int32_t category;
    enum slog2_topology topology;
    int64_t time_ns[2];
    int32_t line[2];
    unsigned char info[SLOG2_INFO_MOST];
    uint16_t info_length;
};

static enum status sort_end(struct slog2_state *state, const struct drawable *drawable, enum event_kind kind,
                            size_t end, unsigned order, struct error *err)
{
    const uint64_t most = (UINT64_C(1) << ORDER_SHIFT) - 1;
    struct {
        struct slog2_end end;
        unsigned char info[SLOG2_INFO_MOST];
    } record;
    memset(&record.end, 0, sizeof record.end);
    record.end.time_ns = drawable->time_ns[end];
    record.end.other_ns = drawable->time_ns[1 - end];
    record.end.category = drawable->category;
    record.end.line = drawable->line[end];
    record.end.other_line = drawable->line[1 - end];
    record.end.kind = (uint8_t)kind;
    record.end.info_length = drawable->info_length;
    if (kind == EVENT_ENTER || kind == EVENT_LEAVE)
        record.end.info_length = 0;
    memcpy(record.info, drawable->info, record.end.info_length);
    /* Of states that begin together the longest is first, of those that end together the shortest. */
    uint64_t length = (uint64_t)time_since(drawable->time_ns[0], drawable->time_ns[1]);
    uint64_t minor = (uint64_t)order << ORDER_SHIFT;
    if (length > most)
        length = most;
    if (kind == EVENT_ENTER)
        minor |= most - length;
    else if (kind == EVENT_LEAVE)
        minor |= length;
    return sorter_add(state->sorted, (struct sort_key){sort_key_signed(record.end.time_ns), minor}, &record,
                      sizeof record.end + record.end.info_length, err);
}

/* A drawable stands in the node whose box of time holds it, and so before and after others of the same time: both of
   its ends go through the sorter. */
static enum status sort_drawable(struct slog2_state *state, const struct drawable *drawable, struct error *err)
{
    bool empty = drawable->time_ns[0] == drawable->time_ns[1];
    enum status status;
    state->drawables++;
    switch (drawable->topology) {
    case SLOG2_EVENT:
        return sort_end(state, drawable, EVENT_MARK, 0, ORDER_MARK, err);
    case SLOG2_ARROW:
        status = sort_end(state, drawable, EVENT_SEND, 0, ORDER_SEND, err);
        if (status == STATUS_OK)
            return sort_end(state, drawable, EVENT_RECEIVE, 1, ORDER_RECEIVE, err);
        return status;
    case SLOG2_STATE:
        break;
    }
    status = sort_end(state, drawable, EVENT_ENTER, 0, empty ? ORDER_EMPTY_ENTER : ORDER_ENTER, err);
    if (status != STATUS_OK)
        return status;
    return sort_end(state, drawable, EVENT_LEAVE, 1, empty ? ORDER_EMPTY_LEAVE : ORDER_LEAVE, err);
}

/* Vertices of a primitive: the first two count. False: a time is none. Arrows and states have two vertices; more
   would be polygons, which MPE does not make. */
static bool take_vertices(struct reader *reader, struct drawable *drawable, int64_t count, struct error *err)
{
    struct slog2_state *state = reader->state;
    bool times = true;
    for (int64_t i = 0; i < count && !state->cut; i++) {
        double seconds = slog2_double(reader, err);
        int32_t line = (int32_t)slog2_int(reader, 4, err);
        size_t at = i < 2 ? (size_t)i : 1;
        times = time_from_seconds(seconds, &drawable->time_ns[at]) && times;
        drawable->line[at] = line;
        /* Without views a line is what drawables are on. */
        if (state->lines == 0)
            slog2_add_line(state, line);
    }
    if (count == 1) {
        drawable->time_ns[1] = drawable->time_ns[0];
        drawable->line[1] = drawable->line[0];
    }
    return times;
}

/* Up to so many bytes are kept; the rest is taken and dropped. */
static void take_info(struct reader *reader, struct drawable *drawable, struct error *err)
{
    struct slog2_state *state = reader->state;
    int64_t length = slog2_int(reader, 2, err);
    drawable->info_length = 0;
    if (state->cut || length <= 0)
        return;
    if (input_need(reader->input, (size_t)length, err) != STATUS_OK) {
        state->cut = true;
        return;
    }
    drawable->info_length = (uint16_t)smaller(length, SLOG2_INFO_MOST);
    memcpy(drawable->info, reader->input->at, drawable->info_length);
    input_consume(reader->input, (size_t)length);
}

/* What a primitive is: what its category says; where that could not be read, what its vertices look like. */
static bool find_topology(struct reader *reader, struct drawable *drawable, int64_t vertices)
{
    struct slog2_state *state = reader->state;
    enum slog2_topology looks = SLOG2_STATE;
    if (vertices == 1)
        looks = SLOG2_EVENT;
    else if (drawable->line[0] != drawable->line[1])
        looks = SLOG2_ARROW;
    if (state->categories > 0 && !map_find(&state->category_ids, (uint32_t)drawable->category))
        return false;
    drawable->topology = slog2_category_of(reader, drawable->category, looks)->topology;
    return (drawable->topology == SLOG2_EVENT) == (vertices == 1);
}

/* Category, info bytes, vertices. Without a length: a damaged one is damage for the rest of its node. */
static enum status take_primitive(struct reader *reader, struct error *err)
{
    struct slog2_state *state = reader->state;
    struct drawable drawable;
    uint64_t byte = reader->input->offset;
    drawable.category = (int32_t)slog2_int(reader, 4, err);
    take_info(reader, &drawable, err);
    int64_t vertices = slog2_int(reader, 2, err);
    bool times = take_vertices(reader, &drawable, vertices, err);
    if (state->cut)
        return STATUS_OK;
    if (!times || vertices <= 0)
        reader_damage(reader, byte, "a drawable without sensible times");
    else if (drawable.category < 0 || !find_topology(reader, &drawable, vertices))
        reader_damage(reader, byte, "a drawable whose category is not defined, or of another kind (%" PRId32 ")",
                      drawable.category);
    else
        return sort_drawable(state, &drawable, err);
    return STATUS_OK;
}

/* A composite groups primitives that belong together: each of them is what it is alone. */
static enum status take_drawable(struct reader *reader, struct error *err)
{
    struct slog2_state *state = reader->state;
    struct drawable head;
    int64_t count = 1;
    if (slog2_int(reader, 1, err) != 0) { /* a composite: its primitives */
        slog2_int(reader, 4, err);
        take_info(reader, &head, err);
        count = slog2_int(reader, 2, err);
    }
    for (int64_t i = 0; i < count && !state->cut; i++)
        if (take_primitive(reader, err) != STATUS_OK)
            return STATUS_FAILED;
    return STATUS_OK;
}

/* The tree: nodes one after the other. STATUS_END: what comes is none. */
static enum status take_node(struct reader *reader, struct error *err)
{
    struct slog2_state *state = reader->state;
    uint64_t begin = reader->input->offset, size;
    slog2_double(reader, err);
    slog2_double(reader, err);
    slog2_int(reader, 6, err); /* depth and number */
    uint64_t offset = (uint64_t)slog2_int(reader, 8, err);
    size = (uint64_t)slog2_int(reader, 4, err);
    /* A node says where it stands: anything else is not one. */
    if (!state->cut && (offset != begin || size < SLOG2_NODE_HEAD || size > NODE_MOST))
        return STATUS_END;
    for (unsigned kind = 0; kind < 2; kind++) { /* without nesting, and with */
        int64_t count = slog2_int(reader, 4, err);
        for (int64_t i = 0; i < count && !state->cut; i++) {
            /* A count of a damaged node may be 2^31. */
            if (reader->input->offset >= begin + size) {
                reader_damage(reader, begin, "a node has more drawables than bytes (%" PRId64 ")", count);
                return STATUS_END;
            }
            if (take_drawable(reader, err) != STATUS_OK)
                return STATUS_FAILED;
        }
    }
    state->nodes += !state->cut;
    if (state->cut || reader->input->offset > begin + size)
        return STATUS_END;
    enum status status = input_skip(reader->input, begin + size - reader->input->offset, err); /* previews */
    state->cut = status == STATUS_END;
    return status;
}

/* The nodes stand one after the other, children before parents: the directory, which Jumpshot enters by, is not
   needed, and may be missing. */
static enum status take_tree(struct reader *reader, uint64_t end, struct error *err)
{
    struct slog2_state *state = reader->state;
    enum status status = input_skip(reader->input, SLOG2_HEADER, err);
    uint64_t begin = SLOG2_HEADER;
    while (status == STATUS_OK && (end == 0 || reader->input->offset < end)) {
        begin = reader->input->offset;
        if (end == 0 && input_need(reader->input, 1, err) == STATUS_END)
            return STATUS_OK;
        status = take_node(reader, err);
    }
    if (status == STATUS_FAILED)
        return status;
    if (status == STATUS_END)
        reader_damage(reader, begin, state->cut ? "the file ends inside a node" : "not a node, where one has to be");
    return STATUS_OK;
}

/* The file */

static enum status read_header(struct reader *reader, struct error *err)
{
    struct slog2_state *state = reader->state;
    struct input *input = reader->input;
    if (input_need(input, SLOG2_HEADER, err) != STATUS_OK)
        return error_set(err, ERROR_INPUT, "%s: byte %" PRIu64 ": the file ends inside its header", input->name,
                         (uint64_t)input_available(input));
    const char *version = (const char *)input->at + 2;
    /* Before 2.0.6 previews had other sizes, which say where the next node is. */
    if (memcmp(version, "SLOG 2.0.6", 10) != 0)
        return error_set(
            err, ERROR_INPUT,
            "%s: byte 2: a version that is not read (%.10s): bring it to SLOG 2.0.6 with MPE's slog2update",
            input->name, version);
    reader->defs->version = strndup(version, 10);
    state->categories = bytes_u64(input->at + POINTERS, true);
    state->lines = bytes_u64(input->at + POINTERS + 2 * POINTER_SIZE, true);
    state->directory = bytes_u64(input->at + POINTERS + 4 * POINTER_SIZE, true);
    return STATUS_OK;
}

/* The header's pointers say where categories, lines and directory are: the tree ends at the first of these. */
static uint64_t first_after_tree(const struct slog2_state *state)
{
    const uint64_t parts[] = {state->categories, state->lines, state->directory};
    uint64_t first = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i] >= SLOG2_HEADER && (first == 0 || parts[i] < first))
            first = parts[i];
    return first;
}

/* Views come before categories: these are named by them. Either may be missing in a file that was cut: then lines
   are processes, and categories have numbers for names. */
static enum status read_definitions(struct reader *reader, struct error *err)
{
    struct slog2_state *state = reader->state;
    struct error ignored = {0};
    if (state->lines == 0 || slog2_read_lines(reader, &ignored) != STATUS_OK) {
        reader_damage(reader, reader->input->offset, "the views of its lines cannot be read");
        state->lines = 0;
    }
    state->cut = false;
    if (input_rewind(reader->input, err) != STATUS_OK)
        return STATUS_FAILED;
    if (state->categories == 0 || slog2_read_categories(reader, &ignored) != STATUS_OK) {
        reader_damage(reader, reader->input->offset, "its categories cannot be read: their names are not known");
        state->categories = 0;
    }
    state->cut = false;
    return input_rewind(reader->input, err);
}

static enum status slog2_open(struct reader *reader, struct error *err)
{
    struct slog2_state *state = reader->state;
    state->sorted = sorter_new(SORT_MEMORY);
    if (read_header(reader, err) != STATUS_OK)
        return STATUS_FAILED;
    uint64_t end = first_after_tree(state);
    if (read_definitions(reader, err) != STATUS_OK || take_tree(reader, end, err) != STATUS_OK)
        return STATUS_FAILED;
    slog2_define_lines(reader);
    reader->used = reader->input->offset;
    return sorter_rewind(state->sorted, err);
}

/* Events */

/* What an arrow says of its message: tag and size. A size of 0 where the message was received before it was sent is
   what MPE's converter makes of one that it does not know. */
static void set_message(struct event *event, const struct slog2_end *end, const unsigned char *info,
                        const struct slog2_line *other)
{
    bool sends = event->kind == EVENT_SEND;
    bool backward = sends ? end->other_ns < end->time_ns : end->time_ns < end->other_ns;
    event->partner = (int32_t)other->process;
    /* Tag and size: arrows of other converters may have neither. */
    if (end->info_length < 8)
        return;
    int32_t size = bytes_i32(info + 4, true);
    event->tag = bytes_i32(info, true);
    if (size < 0 || (size == 0 && backward))
        return;
    if (sends)
        event->bytes_sent = size;
    else
        event->bytes_received = size;
}

static int32_t comm_of(const struct reader *reader, const struct slog2_line *line)
{
    if (line->comm >= 0)
        return defs_find_comm(reader->defs, (int32_t)line->comm);
    return EVENT_UNKNOWN;
}

/* The process is in the communicator of its line: before the first event on it. */
static void add_member(struct reader *reader, struct batch *batch, struct slog2_line *line, int64_t time_ns)
{
    int32_t comm = comm_of(reader, line);
    if (line->is_member || comm == EVENT_UNKNOWN)
        return;
    line->is_member = true;
    struct event *event = &batch->events[batch->count++];
    *event = EVENT_NOTHING;
    event->kind = EVENT_COMM_MADE;
    event->value = reader->defs->comms[comm].world ? COMM_STEP_WORLD : COMM_STEP_INTRA;
    event->time_ns = time_ns;
    event->process = (uint32_t)line->process;
    event->thread = (uint32_t)line->thread;
    event->partner_comm = comm;
    event->tag = (int32_t)line->rank;
}

/* Both ends must be on lines of known processes: half of an arrow would be a message to nobody. */
static void emit(struct reader *reader, struct batch *batch, const struct slog2_end *end, const unsigned char *info)
{
    struct slog2_state *state = reader->state;
    struct slog2_line *line = slog2_line_of(state, end->line), *other = slog2_line_of(state, end->other_line);
    if (!line || !other) {
        state->homeless++;
        return;
    }
    add_member(reader, batch, line, end->time_ns);
    struct event event = EVENT_NOTHING;
    event.kind = end->kind;
    event.time_ns = end->time_ns;
    event.process = (uint32_t)line->process;
    event.thread = (uint32_t)line->thread;
    event.comm = comm_of(reader, line);
    if (end->kind == EVENT_SEND || end->kind == EVENT_RECEIVE) {
        event.partner_comm = comm_of(reader, other);
        set_message(&event, end, info, other);
    } else {
        event.state = state->category[*map_find(&state->category_ids, (uint32_t)end->category)].index;
        if (end->kind == EVENT_MARK && end->info_length > 0)
            batch_set_payload(batch, &event, info, end->info_length);
    }
    batch->events[batch->count++] = event;
}

static enum status slog2_end(struct reader *reader)
{
    struct slog2_state *state = reader->state;
    reader_count(reader, "node", state->nodes);
    reader_count(reader, "drawable", state->drawables);
    if (state->homeless > 0)
        reader_damage(reader, 0, "%" PRIu64 " ends of drawables are on lines that no view explains", state->homeless);
    state->homeless = 0;
    reader->complete = reader->damage.count == 0;
    return STATUS_END;
}

static enum status slog2_next(struct reader *reader, struct batch *batch, struct error *err)
{
    struct slog2_state *state = reader->state;
    while (batch->count + 1 < BATCH_EVENTS) { /* a drawable may give two */
        struct sort_key key;
        struct slog2_end end;
        const void *data;
        size_t length;
        enum status status = sorter_next(state->sorted, &key, &data, &length, err);
        if (status != STATUS_OK)
            return status == STATUS_END ? slog2_end(reader) : status;
        memcpy(&end, data, sizeof end);
        emit(reader, batch, &end, (const unsigned char *)data + sizeof end);
    }
    return STATUS_OK;
}

static void slog2_close(struct reader *reader)
{
    struct slog2_state *state = reader->state;
    sorter_free(state->sorted);
    map_clear(&state->category_ids);
    map_clear(&state->line_ids);
    free(state->category);
    free(state->line);
}

const struct format format_slog2 = {.name = "slog2",
                                    .title = "SLOG-2",
                                    .suffix = ".slog2",
                                    .probe = slog2_probe,
                                    .two_passes = true,
                                    .state_size = sizeof(struct slog2_state),
                                    .open = slog2_open,
                                    .next = slog2_next,
                                    .close = slog2_close};
