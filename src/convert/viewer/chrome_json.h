/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_VIEWER_CHROME_JSON_H
#define SIGHT_CONVERT_VIEWER_CHROME_JSON_H

#include "core/input.h"

#include <stdbool.h>

/* The objects of a file of Chrome's trace events, one by one: "traceEvents" of an object, or the elements of an array.
   Format: "Trace Event Format" (Chromium project). */

/* The members of an event that are read; "" where it has none. Numbers are texts, as many writers put them into
   strings. */
#define CHROME_MEMBERS(X) X(ph) X(name) X(cat) X(ts) X(dur) X(pid) X(tid)
/* The same of its "args". */
#define CHROME_ARGS(X) X(name) X(to) X(from) X(tag) X(bytes) X(source) X(function)

struct chrome_text {
    char *text; /* always a string */
    size_t capacity;
};

/* A number among the arguments of a counter. */
struct chrome_series {
    struct chrome_text name;
    double value;
};

struct chrome_event {
#define CHROME_MEMBER(name) struct chrome_text name;
    CHROME_MEMBERS(CHROME_MEMBER)
#undef CHROME_MEMBER
    struct {
#define CHROME_MEMBER(name) struct chrome_text name;
        CHROME_ARGS(CHROME_MEMBER)
#undef CHROME_MEMBER
    } args;
    struct chrome_series *series; /* args that are numbers */
    size_t series_count, series_capacity;
};

/* What is in the file beside the events. */
struct chrome_facts {
    struct chrome_text creator, begin_ns; /* "otherData" as sight writes it */
};

/* Called for each event; another result than STATUS_OK ends the reading with it. */
typedef enum status chrome_json_event(void *context, const struct chrome_event *event, const struct chrome_facts *facts,
                                      struct error *err);

/* Windows programs may put it first: UTF-8's byte order mark. */
#define CHROME_MARK "\xEF\xBB\xBF"
enum { CHROME_MARK_SIZE = 3 };

/* Reads to the end. *wrong: NULL, or why it was given up at byte *at; an array may end without its bracket. */
enum status chrome_json_read(struct input *input, chrome_json_event *take, void *context, const char **wrong,
                             uint64_t *at, struct error *err) MUST_CHECK;

#endif
