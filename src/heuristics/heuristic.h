/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_HEURISTIC_H
#define SIGHT_HEURISTICS_HEURISTIC_H

#include "core/error.h"
#include "heuristics/shape.h"
#include "metrics/metrics.h"

/* A heuristic answers one question from metrics. A new one is a file with a function and a row in heuristics.def. */

enum verdict { VERDICT_GOOD, VERDICT_FAIR, VERDICT_POOR, VERDICT_UNKNOWN };
const char *verdict_name(enum verdict verdict);

/* The one rule: up to 10 % good, up to 25 % fair, above poor. The value judged: see deviation.h; for the AIMS indices
   their share of the run. */
enum { VERDICT_GOOD_PERCENT = 10, VERDICT_FAIR_PERCENT = 25 };
enum verdict verdict_of(double share);

/* A named number that a result rests on, for -v and JSON. */
struct detail {
    const char *name; /* a literal, also JSON's key */
    double value;
    bool is_time; /* in seconds; else a plain number */
};

/* The index of one function (or of all together) on one process. */
enum { CELL_ALL_FUNCTIONS = -1 };
struct cell {
    uint32_t rank;
    int32_t state; /* index into the definitions, or CELL_ALL_FUNCTIONS */
    double index;
};

enum { HEURISTIC_DETAILS = 16, HEURISTIC_SUGGESTIONS = 4 };

struct heuristic_result {
    double index; /* in the heuristic's unit */
    double mean;
    enum verdict verdict;
    double share;       /* the value that the verdict rests on, a share of 1 */
    double lost;        /* seconds of wall-clock time that an even spread would save at most; 0: does not apply */
    char headline[512]; /* the result in a few words, no full stop; "" where there is none */
    char analysis[2048];
    char suggestions[HEURISTIC_SUGGESTIONS][320];
    size_t suggestion_count;
    bool absent;       /* the trace lacks what it is about: people are not shown it */
    const char *rule;  /* of the verdict, a literal; NULL: that of all */
    bool is_deviation; /* measure and shape are set */
    struct measure measure;
    enum shape shape;
    int64_t master; /* rank of the master that stands apart; -1: none */
    struct detail details[HEURISTIC_DETAILS];
    size_t detail_count;
    struct cell *cells; /* by rank, then function name; owned */
    size_t cell_count;
};

struct heuristic {
    const char *id, *title, *question, *unit;
    const char *formula, *source;
    void (*judge)(const struct metrics *metrics, struct heuristic_result *result); /* result is zeroed */
};

/* The judges of the table. */
#define HEURISTIC(id, title, question, unit, formula, source, function)                                                \
    void function(const struct metrics *metrics, struct heuristic_result *result);
#include "heuristics/heuristics.def"

/* Adds in words how the processes' computing times differ, however little: headline, analysis and suggestions.
   `result` is zeroed. */
void describe_compute(const struct metrics *metrics, struct heuristic_result *result);

size_t heuristic_count(void);
const struct heuristic *heuristic_at(size_t index);

/* All heuristics in the order of the table: heuristic_count() results. Free with heuristics_free. */
struct heuristic_result *heuristics_judge(const struct metrics *metrics);
void heuristics_free(struct heuristic_result *results);

/* The result of the heuristic with this id. */
const struct heuristic_result *heuristics_find(const struct heuristic_result *results, const char *id);

/* For the judges: adds a sentence, a suggestion, a number. What does not fit is left out whole. */
void result_say(struct heuristic_result *result, const char *format, ...) PRINTF_LIKE(2, 3);
void result_suggest(struct heuristic_result *result, const char *format, ...) PRINTF_LIKE(2, 3);
void result_detail(struct heuristic_result *result, const char *name, double value, bool is_time);

/* Seconds for people: text_duration. `buffer` has TEXT_NUMBER_SIZE bytes. */
char *seconds_text(char *buffer, double seconds);

#endif
