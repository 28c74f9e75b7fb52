/* SPDX-License-Identifier: BSD-3-Clause */
/* CLOG-2 as MPE's own tools accept it: version 02.44, big-endian, finalised, records by time. Rules: clog2(5). */
#include "convert/clog2/write_clog2.h"

#include "convert/clog2/write_clog2_comms.h"
#include "convert/clog2/write_clog2_defs.h"
#include "convert/clog2/write_clog2_record.h"
#include "convert/clog2/write_clog2_samples.h"
#include "core/bytes.h"
#include "core/event_pack.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Id of the event's source location, for the word that MPE leaves unused; 0: none. */
static uint32_t site_id(const struct clog2_writer *clog2, const struct event *event)
{
    bool known = event->site > 0 && event->site <= clog2->writer.defs->site_count;
    if (known)
        return (uint32_t)clog2->ids.sites[event->site - 1];
    return 0;
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

static void write_plain(struct clog2_writer *clog2, const struct clog2_place *place, const struct event *event,
                        const unsigned char *arena)
{
    bool cargo = event->payload_length > 0 && !(event->flags & EVENT_PAYLOAD_TEXT);
    unsigned words = event->kind <= EVENT_LEAVE || event->kind == EVENT_MARK
                         ? clog2_words_of(clog2, event->kind == EVENT_MARK, event->state)
                         : 0;
    bool moved = clog2_puts_moved(clog2, event), requests = clog2_puts_requests(clog2, event);
    bool counter = event->kind == EVENT_COUNTER;
    unsigned char *body =
        clog2_put_record(clog2, place, cargo || moved || requests || counter || words ? CLOG2_CARGO : CLOG2_BARE);
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

static void write_message(struct clog2_writer *clog2, const struct clog2_place *place, const struct event *event)
{
    int32_t comm_id, rank;
    clog2_put_side(clog2, event->partner_comm, (uint32_t)event->partner, &comm_id, &rank);
    unsigned char *body = clog2_put_record(clog2, place, CLOG2_MESSAGE);
    bytes_put_i32(body, true, event->kind == EVENT_SEND ? CLOG2_SEND : CLOG2_RECEIVE);
    bytes_put_i32(body + 4, true, comm_id);
    bytes_put_i32(body + 8, true, rank);
    bytes_put_i32(body + 12, true, event->tag == EVENT_UNKNOWN ? 0 : event->tag);
    bytes_put_i32(body + 16, true, known_i32(event->kind == EVENT_SEND ? event->bytes_sent : event->bytes_received));
    bytes_put_u32(body + clog2_site_at[CLOG2_MESSAGE], true, site_id(clog2, event));
}

static void write_event(struct clog2_writer *clog2, const struct event *event, const unsigned char *arena)
{
    struct clog2_place place = {.time_ns = event->time_ns, .thread = event->thread};
    unsigned char *body;
    /* Also before a pack of samples, whose record names the process's rank in the world. */
    clog2_introduce(clog2, event->process, event->time_ns);
    if (event->kind == EVENT_SAMPLE) {
        clog2_put_sample(clog2, event);
        return;
    }
    const uint64_t *pack = clog2->pack_count > 0 ? map_find(&clog2->pack_of, event->process) : NULL;
    if (pack && clog2->packs[*pack - 1].samples.count > 0)
        clog2_write_pack(clog2, &clog2->packs[*pack - 1], event->time_ns);
    clog2_put_side(clog2, event->comm, event->process, &place.comm_id, &place.rank);
    switch (event->kind) {
    case EVENT_SEND:
    case EVENT_RECEIVE:
        /* The partner's own file may be missing. */
        clog2_introduce(clog2, (uint32_t)event->partner, event->time_ns);
        write_message(clog2, &place, event);
        break;
    case EVENT_COLLECTIVE:
        body = clog2_put_record(clog2, &place, CLOG2_COLLECTIVE);
        bytes_put_i32(body, true, (int32_t)event->value);
        bytes_put_i32(body + 4, true, event->tag == EVENT_UNKNOWN ? -1 : event->tag);
        bytes_put_i32(body + 8, true, event->bytes_sent == BYTES_UNKNOWN ? -1 : known_i32(event->bytes_sent));
        bytes_put_u32(body + clog2_site_at[CLOG2_COLLECTIVE], true, site_id(clog2, event));
        break;
    case EVENT_COMM_MADE:
    case EVENT_COMM_FREED:
        clog2_write_comm_event(clog2, &place, event);
        break;
    case EVENT_SHIFT:
        bytes_put_f64(clog2_put_record(clog2, &place, CLOG2_SHIFT), true, (double)event->value / 1e9);
        break;
    case EVENT_DEFINITION:
        clog2_write_definition(clog2, &place, event->value, event->state);
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

/* Assigns ids and begins the file once all definitions are known. */
static void file_start(struct clog2_writer *clog2)
{
    static const unsigned char preamble[CLOG2_PREAMBLE_SIZE];
    clog2_ids_give(&clog2->ids, clog2->writer.defs);
    clog2->mark_occurs = memory_new(clog2->writer.defs->mark_count * sizeof *clog2->mark_occurs);
    clog2_find_world(clog2);
    clog2_find_samples_mark(clog2);
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
            clog2_write_pack(clog2, &clog2->packs[i], clog2->last_ns);
    /* Before the end of the log, and after all that could still make a definition necessary. */
    clog2_write_missing_definitions(clog2);
    clog2_write_paths(clog2);
    clog2_write_properties(clog2);
    clog2_count_lost_definitions(clog2);
    clog2_put_record(clog2, &(struct clog2_place){.seconds = CLOG2_ENDLOG_TIME}, CLOG2_ENDLOG);
    clog2_block_write(clog2);
    uint64_t table_at = output_position(clog2->writer.output);
    clog2_write_table(clog2);
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
