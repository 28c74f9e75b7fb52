/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_CLOG2_COUNTER_H
#define SIGHT_CONVERT_CLOG2_CLOG2_COUNTER_H

#include "core/defs.h"

#include <stddef.h>

/* CLOG-2 has no counters: the values of one are the payload of a solo event, whose format describes them
   ("double=%E accumulated, of the process: J"), so that MPE's tools print them. */

/* The format for a counter. Returns the buffer. */
char *clog2_counter_format(char *buffer, size_t size, const struct counter_def *counter);

/* The counter described by such a format; free() its unit. Type COUNTER_NONE: it is another format. */
struct counter_def clog2_counter_of(const char *format);

#endif
