/* SPDX-License-Identifier: BSD-3-Clause */
/* CLOG-2 as MPE's own tools accept it: version 02.44, big-endian, finalised, records by time. Rules: clog2(5). */
#include "convert/clog2/write_clog2.h"

#include "core/bytes.h"
#include "core/event_pack.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Where a record comes from. */
struct place {
    int64_t time_ns;
    double seconds; /* instead of time_ns, for the end of the log */
    int32_t comm_id, rank;
    uint32_t thread;
};

/* The multiple of 2^-31 s that is nearest: it is less than 0.24 ns away, so that readers get the same ns. The double of
   the ns itself has as many noisy bits as it has room for, which no compression can remove. */
static double seconds_of(int64_t time_ns)
{
    enum { GRID_LOG = 31 };
    const int64_t limit = (int64_t)1 << 51; /* 26 days: from there on doubles are no finer */
    if (time_ns < 0 || time_ns >= limit)
        return (double)time_ns / 1e9;
    int64_t whole = time_ns / 1000000000, rest = time_ns % 1000000000;
    int64_t steps = ((rest << GRID_LOG) + 500000000) / 1000000000;
    return (double)((whole << GRID_LOG) + steps) / (double)((int64_t)1 << GRID_LOG);
}

static void put_header(unsigned char *at, const struct place *place, int32_t kind)
{
    bytes_put_f64(at, true, place->seconds != 0 ? place->seconds : seconds_of(place->time_ns));
    bytes_put_i32(at + 8, true, place->comm_id);
    bytes_put_i32(at + 12, true, place->rank);
    bytes_put_u32(at + 16, true, place->thread);
    bytes_put_i32(at + 20, true, kind);
}

/* Blocks are written in full; what is not used of one is zero. */
static void block_write(struct clog2_writer *clog2)
{
    output_write(clog2->writer.output, clog2->block, sizeof clog2->block);
    memset(clog2->block, 0, sizeof clog2->block);
    clog2->used = 0;
}

/* Starts a record; returns its payload, zeroed, to be filled. */
static unsigned char *record(struct clog2_writer *clog2, const struct place *place, enum clog2_record kind)
{
    size_t size = (size_t)CLOG2_HEADER_SIZE + clog2_payload[kind];
    /* Room must be left for the end of the block, by MPE's own rule (">=": the last byte is never used). */
    if (clog2->used + size + CLOG2_HEADER_SIZE >= sizeof clog2->block) {
        struct place end = {.time_ns = place->time_ns, .seconds = place->seconds};
        put_header(clog2->block + clog2->used, &end, CLOG2_ENDBLOCK);
        block_write(clog2);
    }
    unsigned char *at = clog2->block + clog2->used;
    put_header(at, place, (int32_t)kind);
    clog2->used += size;
    if (kind != CLOG2_ENDLOG)
        clog2->last_ns = place->time_ns;
    return at + CLOG2_HEADER_SIZE;
}

/* MPE's converter to SLOG-2 crashes on an empty name or colour. */
static void put_name(struct clog2_writer *clog2, unsigned char *at, const char *name, int32_t id)
{
    char number[TEXT_NUMBER_SIZE];
    snprintf(number, sizeof number, "%d", (int)id);
    clog2_put_text(&clog2->writer, at, CLOG2_NAME_SIZE, name && *name ? name : number);
}

static void put_colour(struct clog2_writer *clog2, unsigned char *at, const char *colour)
{
    clog2_put_text(&clog2->writer, at, CLOG2_COLOUR_SIZE, colour && *colour ? colour : "white");
}

static void write_state(struct clog2_writer *clog2, const struct place *place, uint32_t index)
{
    const struct state_def *state = &clog2->writer.defs->states[index];
    const struct clog2_state_ids *ids = &clog2->ids.states[index];
    unsigned char *body = record(clog2, place, CLOG2_STATEDEF);
    bytes_put_i32(body, true, ids->id);
    bytes_put_i32(body + 4, true, ids->start);
    bytes_put_i32(body + 8, true, ids->end);
    put_colour(clog2, body + 16, state->colour);
    put_name(clog2, body + 40, state->name, ids->id);
    const char *words = payload_words_format(clog2_words_of(clog2, false, index));
    const char *format = words ? words : state->format;
    clog2_put_text(&clog2->writer, body + 72, CLOG2_TEXT_SIZE, format ? format : "");
}

static void write_mark(struct clog2_writer *clog2, const struct place *place, uint32_t index)
{
    const struct mark_def *mark = &clog2->writer.defs->marks[index];
    unsigned char *body = record(clog2, place, CLOG2_EVENTDEF);
    bytes_put_i32(body, true, clog2->ids.marks[index]);
    put_colour(clog2, body + 8, mark->colour);
    put_name(clog2, body + 32, mark->name, clog2->ids.marks[index]);
    char counter[200];
    const char *format = payload_words_format(clog2_words_of(clog2, true, index));
    if (!format)
        format = mark->format ? mark->format : "";
    if (mark->counter.type != COUNTER_NONE)
        format = clog2_counter_format(counter, sizeof counter, &mark->counter);
    clog2_put_text(&clog2->writer, body + 64, CLOG2_TEXT_SIZE, format);
}

static void write_constant(struct clog2_writer *clog2, const struct place *place, const char *name, int32_t value)
{
    unsigned char *body = record(clog2, place, CLOG2_CONSTDEF);
    bytes_put_i32(body, true, CLOG2_CONSTANT);
    bytes_put_i32(body + 4, true, value);
    clog2_put_text(&clog2->writer, body + 8, CLOG2_NAME_SIZE, name);
}

static void write_site_record(struct clog2_writer *clog2, const struct place *place, uint32_t index, int32_t line,
                              const char *text)
{
    unsigned char *body = record(clog2, place, CLOG2_SITE);
    bytes_put_i32(body, true, clog2->ids.sites[index]);
    bytes_put_i32(body + 4, true, line);
    clog2_put_text(&clog2->writer, body + 8, CLOG2_TEXT_SIZE, text);
}

/* A text in as many records as it takes: `line` stands in the first, `more` in the others. */
static void write_site(struct clog2_writer *clog2, const struct place *place, uint32_t index, int32_t line,
                       int32_t more, const char *text)
{
    size_t left = strlen(text);
    do {
        char piece[CLOG2_TEXT_SIZE];
        int length = text_beginning(text, CLOG2_TEXT_SIZE - 1);
        if (length == 0 && left > 0) /* not UTF-8 */
            length = (int)smaller(left, sizeof piece - 1);
        snprintf(piece, sizeof piece, "%.*s", length, text);
        write_site_record(clog2, place, index, line, piece);
        line = more;
        text += length;
        left -= (size_t)length;
    } while (left > 0);
}

static void write_definition(struct clog2_writer *clog2, const struct place *place, int64_t kind, uint32_t index)
{
    const struct defs *defs = clog2->writer.defs;
    if (kind == DEFINITION_STATE) {
        write_state(clog2, place, index);
    } else if (kind == DEFINITION_MARK) {
        write_mark(clog2, place, index);
    } else if (kind == DEFINITION_CONSTANT) {
        write_constant(clog2, place, defs->constants[index].name, defs->constants[index].value);
    } else {
        const struct site_def *site = &defs->sites[index];
        write_site(clog2, place, index, clog2_line_is_other(site->line) ? 0 : site->line, CLOG2_SITE_FILE_MORE,
                   site->file);
        if (site->function)
            write_site(clog2, place, index, CLOG2_SITE_FUNCTION, CLOG2_SITE_FUNCTION_MORE, site->function);
    }
}

/* A UUID for a communicator that the source has none for: its id makes it one of its kind within the file. */
static void made_up_uuid(unsigned char uuid[COMM_UUID_SIZE], int32_t id, bool window)
{
    comm_sign_uuid(uuid, (uint32_t)id, 0, window);
}

/* The source's UUID, which may be anything (XML) or from recordings of old, so that MPE's tools can print it: a UUID
   that they cannot print becomes a hash of it. The same UUID always becomes the same one. */
static void put_uuid(unsigned char *at, const unsigned char uuid[COMM_UUID_SIZE])
{
    memcpy(at, uuid, COMM_UUID_SIZE);
    if (comm_uuid_is_printable(uuid))
        return;
    uint64_t hash = 0;
    for (size_t i = 0; i < COMM_UUID_SIZE; i++)
        hash = map_hash(hash ^ uuid[i]);
    bytes_put_u32(at, true, (uint32_t)hash);
    bytes_put_f64(at + 4, true, (double)(hash >> 32) + 1);
}

static void comm_uuid(const struct clog2_writer *clog2, int32_t comm, int32_t id, unsigned char uuid[COMM_UUID_SIZE])
{
    const struct defs *defs = clog2->writer.defs;
    if (comm >= 0 && defs->comms[comm].has_uuid)
        memcpy(uuid, defs->comms[comm].uuid, COMM_UUID_SIZE);
    else
        made_up_uuid(uuid, id, comm >= 0 && defs->comms[comm].window);
}

static void write_comm(struct clog2_writer *clog2, const struct place *place, const int32_t numbers[4],
                       const unsigned char *uuid)
{
    unsigned char *body = record(clog2, place, CLOG2_COMM);
    for (size_t i = 0; i < 4; i++)
        bytes_put_i32(body + 4 * i, true, numbers[i]); /* step, communicator, rank in it, world rank */
    if (uuid)
        put_uuid(body + 16, uuid);
}

/* A process that no record makes a member of the world: MPE's tools need one, so write one as MPE does at the start.
 */
static void introduce(struct clog2_writer *clog2, uint32_t process, int64_t time_ns)
{
    const struct defs *defs = clog2->writer.defs;
    bool known = clog2->world >= 0 && map_find(&defs->ranks, map_pair((uint32_t)clog2->world, process));
    if (known || *map_put(&clog2->introduced, process, 0))
        return;
    bool first = clog2->introduced.count == 1 && defs->constant_count == 0;
    *map_put(&clog2->introduced, process, 0) = 1;
    int32_t rank = (int32_t)process, self = clog2->next_comm_id++;
    struct place place = {.time_ns = time_ns, .comm_id = clog2->world_id, .rank = rank};
    unsigned char uuid[COMM_UUID_SIZE];
    record(clog2, &place, CLOG2_SHIFT);
    comm_uuid(clog2, clog2->world, clog2->world_id, uuid);
    write_comm(clog2, &place, (int32_t[]){COMM_STEP_WORLD, clog2->world_id, rank, rank}, uuid);
    made_up_uuid(uuid, self, false);
    write_comm(clog2, &place, (int32_t[]){COMM_STEP_SELF, self, 0, rank}, uuid);
    *map_put(&clog2->self_ids, process, 0) = (uint64_t)self;
    if (first) {
        write_constant(clog2, &place, "MPI_PROC_NULL", -1);
        write_constant(clog2, &place, "MPI_ANY_SOURCE", -2);
        write_constant(clog2, &place, "MPI_ANY_TAG", -1);
    }
}

/* Id of the event's source location, for the word that MPE leaves unused; 0: none. */
static uint32_t site_id(const struct clog2_writer *clog2, const struct event *event)
{
    bool known = event->site > 0 && event->site <= clog2->writer.defs->site_count;
    if (known)
        return (uint32_t)clog2->ids.sites[event->site - 1];
    return 0;
}

/* Communicator and rank of a process in it, as in records; unknown ones are in the world. */
static void side_of(struct clog2_writer *clog2, int32_t comm, uint32_t process, int32_t *comm_id, int32_t *rank)
{
    const struct defs *defs = clog2->writer.defs;
    int32_t known = comm == EVENT_UNKNOWN ? EVENT_UNKNOWN : defs_comm_rank(defs, comm, process);
    if (known == EVENT_UNKNOWN) {
        writer_lose(&clog2->writer, "communicators in which a process has no rank", comm != EVENT_UNKNOWN);
        *comm_id = clog2->world_id;
        known = clog2->world >= 0 ? defs_comm_rank(defs, clog2->world, process) : EVENT_UNKNOWN;
        *rank = known == EVENT_UNKNOWN ? (int32_t)process : known;
        return;
    }
    *comm_id = defs->comms[comm].id;
    *rank = known;
}

static int32_t event_id(const struct clog2_writer *clog2, const struct event *event)
{
    if (event->kind == EVENT_MARK || event->kind == EVENT_NEIGHBOURS || event->kind == EVENT_COUNTER) {
        clog2->mark_occurs[event->state] = true;
        return clog2->ids.marks[event->state];
    }
    const struct clog2_state_ids *ids = &clog2->ids.states[event->state];
    if (event->kind == EVENT_ENTER)
        return ids->start;
    return ids->end;
}

static void write_plain(struct clog2_writer *clog2, const struct place *place, const struct event *event,
                        const unsigned char *arena)
{
    bool cargo = event->payload_length > 0 && !(event->flags & EVENT_PAYLOAD_TEXT);
    unsigned words = event->kind <= EVENT_LEAVE || event->kind == EVENT_MARK
                         ? clog2_words_of(clog2, event->kind == EVENT_MARK, event->state)
                         : 0;
    bool moved = clog2_puts_moved(clog2, event), requests = clog2_puts_requests(clog2, event);
    bool counter = event->kind == EVENT_COUNTER;
    unsigned char *body =
        record(clog2, place, cargo || moved || requests || counter || words ? CLOG2_CARGO : CLOG2_BARE);
    bytes_put_i32(body, true, event_id(clog2, event));
    bytes_put_u32(body + clog2_site_at[CLOG2_BARE], true, site_id(clog2, event));
    if (moved)
        payload_put_moved(body + 8, event);
    else if (requests)
        payload_put_requests(body + 8, event);
    else if (counter)
        bytes_put_u64(body + 8, true, (uint64_t)event->value);
    else if (words)
        clog2_put_words(clog2, body + 8, words, event, arena);
    else if (cargo)
        memcpy(body + 8, arena + event->payload, smaller(event->payload_length, CLOG2_CARGO_SIZE));
}

static int32_t known_i32(int64_t value)
{
    if (value < 0)
        return 0;
    if (value > INT32_MAX)
        return INT32_MAX;
    return (int32_t)value;
}

static void write_message(struct clog2_writer *clog2, const struct place *place, const struct event *event)
{
    int32_t comm_id, rank;
    side_of(clog2, event->partner_comm, (uint32_t)event->partner, &comm_id, &rank);
    unsigned char *body = record(clog2, place, CLOG2_MESSAGE);
    bytes_put_i32(body, true, event->kind == EVENT_SEND ? CLOG2_SEND : CLOG2_RECEIVE);
    bytes_put_i32(body + 4, true, comm_id);
    bytes_put_i32(body + 8, true, rank);
    bytes_put_i32(body + 12, true, event->tag == EVENT_UNKNOWN ? 0 : event->tag);
    bytes_put_i32(body + 16, true, known_i32(event->kind == EVENT_SEND ? event->bytes_sent : event->bytes_received));
    bytes_put_u32(body + clog2_site_at[CLOG2_MESSAGE], true, site_id(clog2, event));
}

/* MPE writes a freed communicator without its id: the header names it. */
static void write_comm_event(struct clog2_writer *clog2, const struct place *place, const struct event *event)
{
    const struct defs *defs = clog2->writer.defs;
    if (event->kind == EVENT_COMM_FREED || event->partner_comm == EVENT_UNKNOWN) {
        write_comm(clog2, place, (int32_t[]){COMM_STEP_FREE, CLOG2_NO_COMM, -1, -1}, NULL);
        return;
    }
    unsigned char uuid[COMM_UUID_SIZE];
    int32_t id = defs->comms[event->partner_comm].id;
    comm_uuid(clog2, event->partner_comm, id, uuid);
    int32_t numbers[4] = {(int32_t)event->value, id, event->tag == EVENT_UNKNOWN ? -1 : event->tag,
                          (int32_t)event->process};
    write_comm(clog2, place, numbers, uuid);
}

/* Samples */

/* Writes those of a process that wait, at a time not before any of them. */
static void write_pack(struct clog2_writer *clog2, struct sample_pack *pack, int64_t time_ns)
{
    struct samples samples = {.ns = pack->samples.ns};
    for (uint32_t i = 0; i < pack->samples.count; i++) {
        int64_t before_ns = time_since(pack->times_ns[i], time_ns);
        writer_lose(&clog2->writer, "samples long before the end", before_ns > UINT32_MAX);
        if (before_ns > UINT32_MAX)
            continue;
        samples.before_ns[samples.count] = (uint32_t)before_ns;
        samples.path[samples.count++] = pack->samples.path[i];
    }
    pack->samples.count = 0;
    if (samples.count == 0)
        return;
    struct place place = {.time_ns = time_ns, .thread = pack->thread};
    side_of(clog2, clog2->world, pack->process, &place.comm_id, &place.rank);
    bool known = clog2->samples_mark != UINT32_MAX;
    if (known)
        clog2->mark_occurs[clog2->samples_mark] = true;
    unsigned char *body = record(clog2, &place, CLOG2_CARGO);
    bytes_put_i32(body, true, known ? clog2->ids.marks[clog2->samples_mark] : clog2->samples_id);
    payload_put_samples(body + 8, &samples);
}

static void put_sample(struct clog2_writer *clog2, const struct event *event)
{
    uint32_t ns = event->value > 0 && event->value <= UINT32_MAX ? (uint32_t)event->value : 0;
    uint64_t *known = map_put(&clog2->pack_of, event->process, 0);
    if (*known == 0) {
        ARRAY_PUSH(clog2->packs, clog2->pack_count, clog2->pack_capacity,
                   (struct sample_pack){.process = event->process});
        *known = clog2->pack_count;
    }
    struct sample_pack *pack = &clog2->packs[*known - 1];
    /* A record has one thread and one period for all of its samples. */
    if (pack->samples.count > 0 && (pack->samples.ns != ns || pack->thread != event->thread))
        write_pack(clog2, pack, event->time_ns);
    pack->samples.ns = ns;
    pack->thread = event->thread;
    pack->times_ns[pack->samples.count] = event->time_ns;
    pack->samples.path[pack->samples.count++] = event->state + 1;
    if (pack->samples.count == SAMPLES_AT_ONCE)
        write_pack(clog2, pack, event->time_ns);
}

static void find_samples_mark(struct clog2_writer *clog2)
{
    const struct defs *defs = clog2->writer.defs;
    clog2->samples_mark = UINT32_MAX;
    for (size_t i = 0; i < defs->mark_count && clog2->samples_mark == UINT32_MAX; i++)
        if (strcmp(defs->marks[i].name, SAMPLES_MARK_NAME) == 0 && defs->marks[i].format &&
            strcmp(defs->marks[i].format, SAMPLES_MARK_FORMAT) == 0)
            clog2->samples_mark = (uint32_t)i;
    if (clog2->samples_mark == UINT32_MAX && clog2_paths_fit(defs))
        clog2->samples_id = clog2->ids.solo_start + clog2->ids.user_solos++;
}

static void write_event(struct clog2_writer *clog2, const struct event *event, const unsigned char *arena)
{
    struct place place = {.time_ns = event->time_ns, .thread = event->thread};
    unsigned char *body;
    /* Also before a pack of samples, whose record names the process's rank in the world. */
    introduce(clog2, event->process, event->time_ns);
    if (event->kind == EVENT_SAMPLE) {
        put_sample(clog2, event);
        return;
    }
    const uint64_t *pack = clog2->pack_count > 0 ? map_find(&clog2->pack_of, event->process) : NULL;
    if (pack && clog2->packs[*pack - 1].samples.count > 0)
        write_pack(clog2, &clog2->packs[*pack - 1], event->time_ns);
    side_of(clog2, event->comm, event->process, &place.comm_id, &place.rank);
    switch (event->kind) {
    case EVENT_SEND:
    case EVENT_RECEIVE:
        /* The partner's own file may be missing. */
        introduce(clog2, (uint32_t)event->partner, event->time_ns);
        write_message(clog2, &place, event);
        break;
    case EVENT_COLLECTIVE:
        body = record(clog2, &place, CLOG2_COLLECTIVE);
        bytes_put_i32(body, true, (int32_t)event->value);
        bytes_put_i32(body + 4, true, event->tag == EVENT_UNKNOWN ? -1 : event->tag);
        bytes_put_i32(body + 8, true, event->bytes_sent == BYTES_UNKNOWN ? -1 : known_i32(event->bytes_sent));
        bytes_put_u32(body + clog2_site_at[CLOG2_COLLECTIVE], true, site_id(clog2, event));
        break;
    case EVENT_COMM_MADE:
    case EVENT_COMM_FREED:
        write_comm_event(clog2, &place, event);
        break;
    case EVENT_SHIFT:
        bytes_put_f64(record(clog2, &place, CLOG2_SHIFT), true, (double)event->value / 1e9);
        break;
    case EVENT_DEFINITION:
        write_definition(clog2, &place, event->value, event->state);
        break;
    default:
        write_plain(clog2, &place, event, arena);
    }
}

static enum status write_events(struct clog2_writer *clog2, struct error *err)
{
    struct sort_key key;
    const void *packed;
    size_t length;
    enum status status = sorter_rewind(clog2->sorter, err);
    if (status != STATUS_OK)
        return status;
    while ((status = sorter_next(clog2->sorter, &key, &packed, &length, err)) == STATUS_OK) {
        struct event event;
        event_unpack(&event, packed);
        event.time_ns = (int64_t)(key.major ^ UINT64_C(1) << 63);
        event.process = (uint32_t)key.minor;
        write_event(clog2, &event, packed);
    }
    if (status == STATUS_END)
        return STATUS_OK;
    return status;
}

/* True for marks that need no definition: their name is their number, or no event has them. */
static bool mark_needs_none(const struct clog2_writer *clog2, size_t index)
{
    const struct mark_def *mark = &clog2->writer.defs->marks[index];
    if (clog2_words_of(clog2, true, (uint32_t)index))
        return false;
    return (!mark->defined && clog2->ids.marks[index] == mark->id) || (mark->made_up && !clog2->mark_occurs[index]);
}

/* Definitions without a place in the stream come at its end, written by process 0, as MPE does with its own. */
static void write_missing_definitions(struct clog2_writer *clog2)
{
    const struct defs *defs = clog2->writer.defs;
    const size_t counts[4] = {defs->state_count, defs->mark_count, defs->constant_count, defs->site_count};
    struct place place = {.time_ns = clog2->last_ns, .comm_id = clog2->world_id};
    for (int kind = 0; kind < 4; kind++)
        for (size_t i = 0; i < counts[kind]; i++) {
            bool there = i < clog2->defined_count[kind] && clog2->defined[kind][i];
            if (there || (kind == DEFINITION_MARK && mark_needs_none(clog2, i)))
                continue;
            introduce(clog2, 0, clog2->last_ns);
            write_definition(clog2, &place, kind, (uint32_t)i);
        }
}

/* Call paths, parents first, and the mark of samples where the source has none. */
static void write_paths(struct clog2_writer *clog2)
{
    const struct defs *defs = clog2->writer.defs;
    struct place place = {.time_ns = clog2->last_ns, .comm_id = clog2->world_id};
    if (!clog2_paths_fit(defs))
        return;
    introduce(clog2, 0, clog2->last_ns);
    for (size_t i = 0; i < defs->path_count; i++) {
        const struct path_def *path = &defs->paths[i];
        char text[CLOG2_TEXT_SIZE];
        snprintf(text, sizeof text, "%" PRIu32 " %" PRId32, path->parent,
                 path->site ? clog2->ids.sites[path->site - 1] : 0);
        unsigned char *body = record(clog2, &place, CLOG2_SITE);
        bytes_put_u32(body, true, (uint32_t)i + 1);
        bytes_put_i32(body + 4, true, CLOG2_SITE_PATH);
        clog2_put_text(&clog2->writer, body + 8, CLOG2_TEXT_SIZE, text);
    }
    if (clog2->samples_mark != UINT32_MAX)
        return;
    unsigned char *body = record(clog2, &place, CLOG2_EVENTDEF);
    bytes_put_i32(body, true, clog2->samples_id);
    put_colour(clog2, body + 8, "gray");
    put_name(clog2, body + 32, SAMPLES_MARK_NAME, clog2->samples_id);
    clog2_put_text(&clog2->writer, body + 64, CLOG2_TEXT_SIZE, SAMPLES_MARK_FORMAT);
}

/* A text of a property, in as many records as it takes. */
static void write_property_text(struct clog2_writer *clog2, uint32_t number, int32_t line, const char *text)
{
    struct place place = {.time_ns = clog2->last_ns, .comm_id = clog2->world_id};
    size_t left = text ? strlen(text) : 0;
    while (left > 0) {
        size_t length = left < CLOG2_TEXT_SIZE ? left : CLOG2_TEXT_SIZE - 1;
        unsigned char *body = record(clog2, &place, CLOG2_SITE);
        bytes_put_u32(body, true, number);
        bytes_put_i32(body + 4, true, line);
        memcpy(body + 8, text, length);
        text += length;
        left -= length;
    }
}

static void write_properties(struct clog2_writer *clog2)
{
    struct property_list list = property_list_of(clog2->writer.defs);
    if (list.count > 0)
        introduce(clog2, 0, clog2->last_ns);
    for (size_t i = 0; i < list.count; i++) {
        char *ranks = property_ranks(&list.rows[i]);
        write_property_text(clog2, (uint32_t)i + 1, CLOG2_SITE_PROPERTY_NAME, list.rows[i].name);
        write_property_text(clog2, (uint32_t)i + 1, CLOG2_SITE_PROPERTY_RANKS, ranks);
        write_property_text(clog2, (uint32_t)i + 1, CLOG2_SITE_PROPERTY_VALUE, list.rows[i].value);
        free(ranks);
    }
    property_list_clear(&list);
}

/* Rows of the table of communicators, as they stand in the file. */
struct rows {
    unsigned char *data;
    size_t size, capacity;
};

static void add_row(struct rows *rows, const unsigned char *uuid, int32_t id, int32_t kind)
{
    ARRAY_RESERVE(rows->data, rows->capacity, rows->size + CLOG2_ROW_SIZE);
    unsigned char *row = rows->data + rows->size;
    put_uuid(row, uuid);
    bytes_put_i32(row + COMM_UUID_SIZE, true, id);
    bytes_put_i32(row + COMM_UUID_SIZE + 4, true, kind);
    rows->size += CLOG2_ROW_SIZE;
}

/* The source's rows as they were, then communicators without one, then those that were made up. */
static void collect_rows(struct clog2_writer *clog2, struct rows *rows)
{
    const struct defs *defs = clog2->writer.defs;
    unsigned char uuid[COMM_UUID_SIZE];
    struct map listed = {0};
    for (size_t i = 0; i < defs->comm_row_count; i++) {
        add_row(rows, defs->comm_rows[i].uuid, defs->comm_rows[i].id, defs->comm_rows[i].kind);
        map_put(&listed, (uint32_t)defs->comm_rows[i].id, 0);
    }
    for (size_t i = 0; i < defs->comm_count; i++) {
        if (map_find(&listed, (uint32_t)defs->comms[i].id))
            continue;
        comm_uuid(clog2, (int32_t)i, defs->comms[i].id, uuid);
        add_row(rows, uuid, defs->comms[i].id, COMM_KIND_INTRA);
    }
    if (clog2->world == EVENT_UNKNOWN) {
        made_up_uuid(uuid, clog2->world_id, false);
        add_row(rows, uuid, clog2->world_id, COMM_KIND_INTRA);
    }
    for (size_t i = 0; i < clog2->self_ids.capacity; i++) {
        if (!clog2->self_ids.entries[i].key)
            continue;
        made_up_uuid(uuid, (int32_t)clog2->self_ids.entries[i].value, false);
        add_row(rows, uuid, (int32_t)clog2->self_ids.entries[i].value, COMM_KIND_INTRA);
    }
    map_clear(&listed);
}

static void write_table(struct clog2_writer *clog2)
{
    struct rows rows = {0};
    unsigned char count[4];
    collect_rows(clog2, &rows);
    bytes_put_i32(count, true, (int32_t)(rows.size / CLOG2_ROW_SIZE));
    output_write(clog2->writer.output, count, sizeof count);
    output_write(clog2->writer.output, rows.data, rows.size);
    free(rows.data);
}

/* Titles and values, each with its NUL. */
static void write_preamble(struct clog2_writer *clog2, uint64_t table_at)
{
    const struct defs *defs = clog2->writer.defs;
    const struct clog2_ids *ids = &clog2->ids;
    char text[CLOG2_PREAMBLE_SIZE] = {0};
    uint32_t processes = larger(defs->processes, clog2->processes);
    uint32_t threads = larger(defs->threads, clog2->threads);
    int length = snprintf(
        text, sizeof text,
        CLOG2_VERSION "|" CLOG2_KEY_BIG_ENDIAN "|" CLOG2_TRUE "|" CLOG2_KEY_FINALIZED "|" CLOG2_TRUE
                      "|" CLOG2_KEY_BLOCK_SIZE "|%d|" CLOG2_KEY_BUFFERED_BLOCKS "|128|" CLOG2_KEY_WORLD_SIZE
                      "|%u|" CLOG2_KEY_THREADS "|%u|" CLOG2_KEY_KNOWN_EVENTS "|0|" CLOG2_KEY_USER_EVENTS
                      "|%d|" CLOG2_KEY_KNOWN_SOLO "|%d|" CLOG2_KEY_USER_SOLO "|%d|" CLOG2_KEY_KNOWN_STATE_COUNT
                      "|%d|" CLOG2_KEY_USER_STATE_COUNT "|%d|" CLOG2_KEY_KNOWN_SOLO_COUNT
                      "|%d|" CLOG2_KEY_USER_SOLO_COUNT "|%d|" CLOG2_KEY_COMM_TABLE "|%" PRIu64 "|%d|%" PRIu64 "|",
        (int)CLOG2_BLOCK_SIZE, processes, threads, (int)CLOG2_USER_EVENTS, (int)CLOG2_KNOWN_SOLO, (int)ids->solo_start,
        (int)CLOG2_KNOWN_STATES, (int)ids->user_states, (int)ids->known_solos, (int)ids->user_solos,
        table_at / CLOG2_POINTER_UNIT, (int)CLOG2_POINTER_UNIT, table_at % CLOG2_POINTER_UNIT);
    for (int i = 0; i < length; i++)
        if (text[i] == '|')
            text[i] = '\0';
    /* Last, since the place of the table is known only now: a file that was cut before has no preamble, and says
       so. */
    output_patch(clog2->writer.output, 0, text, sizeof text);
}

/* MPE's tools need one: it is made up if the source has none. */
static void find_world(struct clog2_writer *clog2)
{
    const struct defs *defs = clog2->writer.defs;
    clog2->world = EVENT_UNKNOWN;
    for (size_t i = 0; i < defs->comm_count; i++) {
        if (defs->comms[i].world && clog2->world == EVENT_UNKNOWN)
            clog2->world = (int32_t)i;
        /* Ids that we make up follow those of the source. */
        if (defs->comms[i].id >= clog2->next_comm_id && defs->comms[i].id < INT32_MAX - PROCESS_LIMIT)
            clog2->next_comm_id = defs->comms[i].id + 1;
    }
    clog2->world_id = clog2->world >= 0 ? defs->comms[clog2->world].id : clog2->next_comm_id++;
}

/* Assigns ids and begins the file once all definitions are known. */
static void file_start(struct clog2_writer *clog2)
{
    static const unsigned char preamble[CLOG2_PREAMBLE_SIZE];
    clog2_ids_give(&clog2->ids, clog2->writer.defs);
    clog2->mark_occurs = memory_new(clog2->writer.defs->mark_count * sizeof *clog2->mark_occurs);
    find_world(clog2);
    find_samples_mark(clog2);
    output_write(clog2->writer.output, preamble, sizeof preamble);
}

static enum status clog2_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    struct clog2_writer *clog2 = (struct clog2_writer *)sink;
    clog2->writer.defs = defs;
    if (clog2->writer.in_order)
        file_start(clog2);
    return STATUS_OK;
}

static enum status clog2_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    struct clog2_writer *clog2 = (struct clog2_writer *)sink;
    unsigned char *packed = memory_resize(NULL, EVENT_PACK_MAX + batch->arena_length);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < batch->count && status == STATUS_OK; i++) {
        struct event copy;
        const struct event *event = &batch->events[i];
        if (!clog2_event_fits(clog2, event))
            continue;
        if (event->kind <= EVENT_LEAVE && clog2_value_is_counter(clog2, event) && event->value != 0) {
            copy = *event;
            copy.value = 0;
            event = &copy;
        }
        clog2_note_words(clog2, event);
        clog2_count_losses(clog2, event);
        if (event->kind == EVENT_DEFINITION)
            clog2_note_definition(clog2, event);
        if (event->process >= clog2->processes)
            clog2->processes = event->process + 1;
        if (event->thread >= clog2->threads)
            clog2->threads = event->thread + 1;
        if (clog2->writer.in_order) {
            write_event(clog2, event, batch->arena);
            continue;
        }
        /* MPE's tools want records in order of time; ties by process, so that the same trace always gives the same
           file. */
        struct sort_key key = {.major = sort_key_signed(event->time_ns), .minor = event->process};
        status = sorter_add(clog2->sorter, key, packed, event_pack(packed, event, batch->arena), err);
    }
    free(packed);
    return status;
}

static enum status clog2_end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    (void)end;
    struct clog2_writer *clog2 = (struct clog2_writer *)sink;
    if (!clog2->writer.in_order) {
        file_start(clog2);
        if (write_events(clog2, err) != STATUS_OK)
            return STATUS_FAILED;
    }
    for (size_t i = 0; i < clog2->pack_count; i++)
        if (clog2->packs[i].samples.count > 0)
            write_pack(clog2, &clog2->packs[i], clog2->last_ns);
    /* Before the end of the log, and after all that could still make a definition necessary. */
    write_missing_definitions(clog2);
    write_paths(clog2);
    write_properties(clog2);
    clog2_count_lost_definitions(clog2);
    record(clog2, &(struct place){.seconds = CLOG2_ENDLOG_TIME}, CLOG2_ENDLOG);
    block_write(clog2);
    uint64_t table_at = output_position(clog2->writer.output);
    write_table(clog2);
    write_preamble(clog2, table_at);
    return STATUS_OK;
}

static struct writer *clog2_create(void)
{
    struct clog2_writer *clog2 = memory_new(sizeof *clog2);
    clog2->writer.sink = (struct sink){.begin = clog2_begin, .events = clog2_events, .end = clog2_end};
    clog2->sorter = sorter_new(WRITER_SORT_MEMORY);
    return &clog2->writer;
}

static void clog2_free(struct writer *writer)
{
    struct clog2_writer *clog2 = (struct clog2_writer *)writer;
    sorter_free(clog2->sorter);
    clog2_ids_clear(&clog2->ids);
    map_clear(&clog2->introduced);
    map_clear(&clog2->self_ids);
    map_clear(&clog2->calls);
    map_clear(&clog2->words);
    free(clog2->mark_occurs);
    free(clog2->packs);
    map_clear(&clog2->pack_of);
    for (size_t kind = 0; kind < 4; kind++)
        free(clog2->defined[kind]);
    free(clog2);
}

const struct writer_format writer_format_clog2 = {.name = "clog2",
                                                  .title = "CLOG-2",
                                                  .suffix = ".clog2",
                                                  .patchable = true,
                                                  .create = clog2_create,
                                                  .dispose = clog2_free};
