/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_CONVERT_H
#define SIGHT_ENGINE_CONVERT_H

#include "convert/writer.h"
#include "engine/engine.h"
#include "graph/match.h"

/* A trace in another format. */

struct convert_request {
    const struct engine_request *trace; /* its window, ranks and wants do not count */
    const struct writer_format *format;
    const char *path; /* of the output; "-": standard output */
    bool replace;     /* what is at the path */
    bool no_spans;    /* write no waits and findings beside the events */
};

/* Why there are no waits and findings in the output. */
enum convert_lack {
    CONVERT_LACKS_NOTHING, /* there are, or they were not wanted, or the format has no place for them */
    CONVERT_LACKS_FILE,    /* standard input cannot be read twice */
    CONVERT_LACKS_ROOM,    /* too many calls for a diagnosis */
    CONVERT_LACKS_INPUT    /* the diagnosis cannot read the trace: `fault` */
};

/* How it went. Clear it in any case. */
struct convert_result {
    enum convert_lack lack;
    struct error fault;
    /* Only after success. */
    const struct writer *writer;  /* closed: what was lost */
    const struct trace_end *end;  /* of the input, with its damage */
    const struct clocks *clocks;  /* what was corrected; NULL: nothing was asked for */
    struct match_counts messages; /* of the output, if clocks were corrected */
    struct reader *reader;        /* internal */
    struct writer *own_writer;    /* internal */
};

/* Reads the trace, for waits and findings twice, and writes it. STATUS_FAILED and a fault: there is no output, and an
   earlier one is as it was. Damage of the input is not a fault. */
enum status engine_convert(const struct convert_request *request, struct convert_result *result,
                           struct error *err) MUST_CHECK;
void engine_convert_clear(struct convert_result *result);

#endif
