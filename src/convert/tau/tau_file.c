/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/tau/tau_file.h"

#include "core/bytes.h"

enum {
    INIT = 60000, /* TAU_EV_INIT; merged traces have other ids */
    IDS_MOST = 1 << 24,
    SURE = 95,
    LIKELY = 45
};

static uint16_t bytes_u16(const unsigned char *at, bool big_endian)
{
    return big_endian ? (uint16_t)(at[0] << 8 | at[1]) : (uint16_t)(at[1] << 8 | at[0]);
}

struct tau_record tau_record_at(const unsigned char *data, const struct tau_layout *layout)
{
    bool big = layout->big_endian;
    size_t place = layout->wide ? 8 : 4, values = layout->wide ? 16 : 8;
    return (struct tau_record){.event = layout->wide ? bytes_u64(data, big) : bytes_u32(data, big),
                               .node = bytes_u16(data + place, big),
                               .thread = bytes_u16(data + place + 2, big),
                               .parameter = (int64_t)bytes_u64(data + values, big),
                               .time_us = bytes_u64(data + values + 8, big)};
}

/* Merged traces have no fixed number in their first record: what follows must look like the same trace. */
static bool goes_on(const unsigned char *data, size_t size, const struct tau_layout *layout)
{
    static const uint64_t longest_us = UINT64_C(1000000) * 86400 * 400;
    size_t step = tau_record_size(layout);
    struct tau_record first = tau_record_at(data, layout);
    if (size < 3 * step || first.time_us == 0)
        return false;
    for (size_t at = step; at + step <= size; at += step) {
        struct tau_record record = tau_record_at(data + at, layout);
        if (record.event >= IDS_MOST || record.time_us < first.time_us || record.time_us - first.time_us > longest_us)
            return false;
    }
    return true;
}

int tau_layout_of(const unsigned char *data, size_t size, struct tau_layout *layout)
{
    for (unsigned i = 0; i < 4; i++) {
        *layout = (struct tau_layout){.wide = i & 2, .big_endian = i & 1};
        if (size < tau_record_size(layout))
            continue;
        struct tau_record record = tau_record_at(data, layout);
        if (record.parameter != TAU_INIT_PARAMETER)
            continue;
        if (record.event == INIT)
            return SURE;
        if (record.event > 0 && record.event < IDS_MOST && goes_on(data, size, layout))
            return LIKELY;
    }
    return 0;
}
