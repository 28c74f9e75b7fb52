/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PROFILE_PROFILE_CALLERS_H
#define SIGHT_PROFILE_PROFILE_CALLERS_H

#include "profile/profile_rows.h"

/* The way by which most of the time in a row is reached. */

struct profile_step {
    uint32_t row; /* that calls */
    int32_t line; /* from which more than half of that time is called; 0: none is */
};

/* Each caller through which more than half of the row's own time is reached, the innermost first; at most `most` of
   them. How many. */
size_t profile_callers(const struct profile *profile, const struct profile_rows *rows, uint32_t row,
                       struct profile_step *steps, size_t most);

/* In rows of a program's own code: the library's function, called there, that more than half of the row's own time is
   spent in, with all that it calls; NULL: there is none. `ranks`: those of the processes that count, ascending; NULL:
   all. */
const char *profile_called(const struct profile *profile, const struct profile_rows *rows, uint32_t row,
                           const uint32_t *ranks, size_t rank_count);

#endif
