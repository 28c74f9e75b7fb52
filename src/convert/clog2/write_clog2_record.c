/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/clog2/write_clog2_record.h"

#include "core/bytes.h"

#include <string.h>

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

static void put_header(unsigned char *at, const struct clog2_place *place, int32_t kind)
{
    bytes_put_f64(at, true, place->seconds != 0 ? place->seconds : seconds_of(place->time_ns));
    bytes_put_i32(at + 8, true, place->comm_id);
    bytes_put_i32(at + 12, true, place->rank);
    bytes_put_u32(at + 16, true, place->thread);
    bytes_put_i32(at + 20, true, kind);
}

void clog2_block_write(struct clog2_writer *clog2)
{
    output_write(clog2->writer.output, clog2->block, sizeof clog2->block);
    memset(clog2->block, 0, sizeof clog2->block);
    clog2->used = 0;
}

unsigned char *clog2_put_record(struct clog2_writer *clog2, const struct clog2_place *place, enum clog2_record kind)
{
    size_t size = (size_t)CLOG2_HEADER_SIZE + clog2_payload[kind];
    /* Room must be left for the end of the block, by MPE's own rule (">=": the last byte is never used). */
    if (clog2->used + size + CLOG2_HEADER_SIZE >= sizeof clog2->block) {
        struct clog2_place end = {.time_ns = place->time_ns, .seconds = place->seconds};
        put_header(clog2->block + clog2->used, &end, CLOG2_ENDBLOCK);
        clog2_block_write(clog2);
    }
    unsigned char *at = clog2->block + clog2->used;
    put_header(at, place, (int32_t)kind);
    clog2->used += size;
    if (kind != CLOG2_ENDLOG)
        clog2->last_ns = place->time_ns;
    return at + CLOG2_HEADER_SIZE;
}
