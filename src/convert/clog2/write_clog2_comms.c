/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/clog2/write_clog2_comms.h"

#include "core/bytes.h"
#include "core/memory.h"

#include <string.h>

void clog2_made_up_uuid(unsigned char uuid[COMM_UUID_SIZE], int32_t id, bool window)
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

void clog2_comm_uuid(const struct clog2_writer *clog2, int32_t comm, int32_t id, unsigned char uuid[COMM_UUID_SIZE])
{
    const struct defs *defs = clog2->writer.defs;
    if (comm >= 0 && defs->comms[comm].has_uuid)
        memcpy(uuid, defs->comms[comm].uuid, COMM_UUID_SIZE);
    else
        clog2_made_up_uuid(uuid, id, comm >= 0 && defs->comms[comm].window);
}

void clog2_write_comm(struct clog2_writer *clog2, const struct clog2_place *place, const int32_t numbers[4],
                      const unsigned char *uuid)
{
    unsigned char *body = clog2_put_record(clog2, place, CLOG2_COMM);
    for (size_t i = 0; i < 4; i++)
        bytes_put_i32(body + 4 * i, true, numbers[i]); /* step, communicator, rank in it, world rank */
    if (uuid)
        put_uuid(body + 16, uuid);
}

void clog2_put_side(struct clog2_writer *clog2, int32_t comm, uint32_t process, int32_t *comm_id, int32_t *rank)
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

/* MPE writes a freed communicator without its id: the header names it. */
void clog2_write_comm_event(struct clog2_writer *clog2, const struct clog2_place *place, const struct event *event)
{
    const struct defs *defs = clog2->writer.defs;
    if (event->kind == EVENT_COMM_FREED || event->partner_comm == EVENT_UNKNOWN) {
        clog2_write_comm(clog2, place, (int32_t[]){COMM_STEP_FREE, CLOG2_NO_COMM, -1, -1}, NULL);
        return;
    }
    unsigned char uuid[COMM_UUID_SIZE];
    int32_t id = defs->comms[event->partner_comm].id;
    clog2_comm_uuid(clog2, event->partner_comm, id, uuid);
    int32_t numbers[4] = {(int32_t)event->value, id, event->tag == EVENT_UNKNOWN ? -1 : event->tag,
                          (int32_t)event->process};
    clog2_write_comm(clog2, place, numbers, uuid);
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
        clog2_comm_uuid(clog2, (int32_t)i, defs->comms[i].id, uuid);
        add_row(rows, uuid, defs->comms[i].id, COMM_KIND_INTRA);
    }
    if (clog2->world == EVENT_UNKNOWN) {
        clog2_made_up_uuid(uuid, clog2->world_id, false);
        add_row(rows, uuid, clog2->world_id, COMM_KIND_INTRA);
    }
    for (size_t i = 0; i < clog2->self_ids.capacity; i++) {
        if (!clog2->self_ids.entries[i].key)
            continue;
        clog2_made_up_uuid(uuid, (int32_t)clog2->self_ids.entries[i].value, false);
        add_row(rows, uuid, (int32_t)clog2->self_ids.entries[i].value, COMM_KIND_INTRA);
    }
    map_clear(&listed);
}

void clog2_write_table(struct clog2_writer *clog2)
{
    struct rows rows = {0};
    unsigned char count[4];
    collect_rows(clog2, &rows);
    bytes_put_i32(count, true, (int32_t)(rows.size / CLOG2_ROW_SIZE));
    output_write(clog2->writer.output, count, sizeof count);
    output_write(clog2->writer.output, rows.data, rows.size);
    free(rows.data);
}

void clog2_find_world(struct clog2_writer *clog2)
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
