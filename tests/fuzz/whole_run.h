/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TESTS_FUZZ_WHOLE_RUN_H
#define SIGHT_TESTS_FUZZ_WHOLE_RUN_H

#include "convert/reader.h"

/* All that sight computes of a trace, from the first event to the page of text: what damaged traces give must be judged
   without harm and in bounded time. The reader is read to its end, and stays open. */
void whole_run(struct reader *reader);

#endif
