/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_TAU_FILE_H
#define SIGHT_CONVERT_TAU_FILE_H

#include "core/input.h"

/* One .trc of TAU: records of one size, without a header. Layout: TAU_EV in TAU's include/Profile/TauTrace.h; older
   traces of 64-bit machines have wider records (TAU_EV64 in src/TraceInput/TAU_tf_headers.h). */

enum { TAU_INIT_PARAMETER = 3 /* of the first record, which shows the layout */ };

struct tau_layout {
    bool wide; /* event ids of 64 bits */
    bool big_endian;
};

struct tau_record {
    uint64_t event, time_us;
    int64_t parameter;
    uint32_t node, thread;
};

static inline size_t tau_record_size(const struct tau_layout *layout)
{
    return layout->wide ? 32 : 24;
}

struct tau_record tau_record_at(const unsigned char *data, const struct tau_layout *layout);

/* How sure the first bytes of a file are of this format, as struct format has it, and in which layout. */
int tau_layout_of(const unsigned char *data, size_t size, struct tau_layout *layout);

#endif
