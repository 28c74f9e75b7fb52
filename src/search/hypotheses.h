/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SEARCH_HYPOTHESES_H
#define SIGHT_SEARCH_HYPOTHESES_H

#include "search/expression.h"

/* Hypotheses are data: possible problems of a run, each an expression of metrics and the threshold that it must exceed
   (Paradyn's Why axis). They come from a file of lines, of which the default (default.hypotheses) is compiled in
   (word_file.h); sight-search(1) documents the format. */

enum {
    HYPOTHESES_MOST = 200,
    HYPOTHESIS_DEPTH = 8,  /* of parents */
    HYPOTHESIS_PARENTS = 4 /* of one */
};

struct hypothesis {
    char *name, *title, *advice;          /* advice: NULL where there is none */
    uint32_t parents[HYPOTHESIS_PARENTS]; /* indices below its own: what it would explain, any of them */
    size_t parent_count;
    bool is_virtual; /* no expression: true where a child is */
    struct expression value;
    double threshold;
    bool has_threshold;                       /* its own, not the default */
    enum search_axis axes[SEARCH_AXIS_COUNT]; /* the axes that narrow it, in this order */
    size_t axis_count;
};

struct hypotheses {
    struct hypothesis *list; /* parents before their children */
    size_t count, capacity;
    double threshold;     /* of those without their own */
    uint64_t least_calls; /* fewer in a focus are too few for a result */
    int64_t least_ns;     /* less time of a process, likewise */
};

/* sight's own hypotheses. Free with hypotheses_free. */
struct hypotheses *hypotheses_default(void);

/* The user's. NULL and a fault in one line: "FILE:LINE: what is wrong". */
struct hypotheses *hypotheses_read(const char *path, struct error *err);
struct hypotheses *hypotheses_parse(const char *text, size_t length, const char *name, struct error *err);
void hypotheses_free(struct hypotheses *hypotheses);

/* Changes the default threshold: of all hypotheses without their own. */
void hypotheses_set_threshold(struct hypotheses *hypotheses, double threshold);

/* A share: "0.2" or "20 %". False if it is none from 0 to 1000. */
bool threshold_parse(const char *text, double *threshold);

#endif
