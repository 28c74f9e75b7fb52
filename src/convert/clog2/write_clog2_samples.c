/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/clog2/write_clog2_samples.h"

#include "convert/clog2/write_clog2_comms.h"
#include "core/bytes.h"
#include "core/memory.h"

#include <string.h>

void clog2_write_pack(struct clog2_writer *clog2, struct sample_pack *pack, int64_t time_ns)
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
    struct clog2_place place = {.time_ns = time_ns, .thread = pack->thread};
    clog2_put_side(clog2, clog2->world, pack->process, &place.comm_id, &place.rank);
    bool known = clog2->samples_mark != UINT32_MAX;
    if (known)
        clog2->mark_occurs[clog2->samples_mark] = true;
    unsigned char *body = clog2_put_record(clog2, &place, CLOG2_CARGO);
    bytes_put_i32(body, true, known ? clog2->ids.marks[clog2->samples_mark] : clog2->samples_id);
    payload_put_samples(body + 8, &samples);
}

void clog2_put_sample(struct clog2_writer *clog2, const struct event *event)
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
        clog2_write_pack(clog2, pack, event->time_ns);
    pack->samples.ns = ns;
    pack->thread = event->thread;
    pack->times_ns[pack->samples.count] = event->time_ns;
    pack->samples.path[pack->samples.count++] = event->state + 1;
    if (pack->samples.count == SAMPLES_AT_ONCE)
        clog2_write_pack(clog2, pack, event->time_ns);
}

void clog2_find_samples_mark(struct clog2_writer *clog2)
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
