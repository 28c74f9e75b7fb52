/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SEARCH_DEFINITIONS_H
#define SIGHT_SEARCH_DEFINITIONS_H

#include "core/defs.h"
#include "search/expression.h"

/* Metrics of a user's own, after Paradyn's metric definition language: a base, which is an expression of the metrics of
   metrics.def, the part of the run that it is constrained to, and how the values of several processes become one. They
   come from a file of lines (word_file.h), which sight-query(1) documents:

       metric      worst_waiting
       title       the largest share of MPI that is waiting
       unit        %
       base        waiting / mpi
       aggregate   max
       constraint  /Code/collective

   A constraint is a focus (query/question.h). What it names is looked for in each trace that is asked, not when the
   file is read: a file of definitions is for many traces.

   Formulas (search/formulas.h) are such metrics of counters, which the file declares first:

       counter  misses
       spelled  PAPI_L1_DCM
       spelled  L1-dcache-load-misses
       metric   miss_rate
       base     misses / time
       better   lower */

enum { DEFINITIONS_MOST = 100, COUNTER_SPELLINGS = 8 };

enum aggregate {
    AGGREGATE_SUM, /* the base of the sums of all processes */
    AGGREGATE_MEAN,
    AGGREGATE_MIN,
    AGGREGATE_MAX /* of the values of the base on each process that has one */
};

struct definition {
    char *name, *title; /* the title is the name where there is none */
    char *constraint;   /* NULL: the whole run */
    char where[200];    /* "FILE:LINE" of it, for faults of its constraint */
    struct expression base;
    enum aggregate aggregate;
    bool percent;            /* the unit is %: values are shown as shares */
    bool higher;             /* larger values are better: limits are those below which a value is fair, and poor */
    double limits[2];        /* from which on a value is fair, and poor; NAN: no verdict */
    struct search_unit unit; /* as declared */
    bool has_unit;
};

/* A counter that bases name: METRIC_COUNT + its number in their steps. */
struct counter_name {
    char *name;
    char *spelled[COUNTER_SPELLINGS]; /* as traces have it: the first that is there */
    size_t spellings;                 /* 0: as its name */
    double each;                      /* one of it is so many of its unit */
    struct search_unit unit;
    double wraps;           /* values begin again at 0 here; 0: they do not */
    enum counter_mode mode; /* UNKNOWN: as the trace says */
    char where[200];
};

struct definitions {
    struct definition *list;
    size_t count, capacity;
    struct counter_name *counters;
    size_t counter_count, counter_capacity;
    bool in_counter; /* keywords are about the last counter; internal */
};

/* "fair" or "poor", by the limits; "good" within them; NULL: there are none, or the value is NAN. */
const char *definition_verdict(const double limits[2], bool higher, double value);

/* NULL and a fault in one line: "FILE:LINE: what is wrong". Free with definitions_free. */
struct definitions *definitions_read(const char *path, struct error *err);
struct definitions *definitions_parse(const char *text, size_t length, const char *name, struct error *err);
void definitions_free(struct definitions *definitions); /* NULL: nothing */

/* The number of a counter that the metric's base uses; SIZE_MAX: it uses none. */
size_t definition_counter(const struct definition *definition);

#endif
