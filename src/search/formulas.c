/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/formulas.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Generated from default.formulas when sight is built. */
extern const char formulas_text[];

static enum status check(const struct definitions *formulas, struct error *err)
{
    for (size_t i = 0; i < formulas->count; i++) {
        const struct definition *formula = &formulas->list[i];
        if (definition_counter(formula) == SIZE_MAX)
            return error_set(err, ERROR_USAGE, "%s: '%s' has no counter: formulas are of counters and time",
                             formula->where, formula->name);
        for (size_t k = 0; k < formula->base.count; k++) {
            const struct expression_step *step = &formula->base.steps[k];
            if (step->op == 'm' && step->metric < METRIC_COUNT && step->metric != METRIC_time)
                return error_set(err, ERROR_USAGE, "%s: '%s' uses '%s': formulas are of counters and time",
                                 formula->where, formula->name, metric_name(step->metric));
        }
        if (formula->constraint || formula->aggregate != AGGREGATE_SUM)
            return error_set(err, ERROR_USAGE, "%s: '%s': %s is for sight query, not for formulas of counters",
                             formula->where, formula->name, formula->constraint ? "constraint" : "aggregate");
    }
    return STATUS_OK;
}

struct definitions *formulas_read(const char *path, struct error *err)
{
    struct definitions *formulas =
        path ? definitions_read(path, err)
             : definitions_parse(formulas_text, strlen(formulas_text), "default.formulas", err);
    if (formulas && check(formulas, err) != STATUS_OK) {
        definitions_free(formulas);
        formulas = NULL;
    }
    return formulas;
}

static size_t spellings(const struct counter_name *counter)
{
    return counter->spellings > 0 ? counter->spellings : 1;
}

/* Without any, a counter is spelled as it is named. */
static const char *spelling(const struct counter_name *counter, size_t index)
{
    return counter->spellings > 0 ? counter->spelled[index] : counter->name;
}

struct counter_choice *formulas_choices(const struct definitions *formulas, size_t *count)
{
    struct counter_choice *choices = NULL;
    size_t capacity = 0;
    *count = 0;
    for (size_t i = 0; i < formulas->counter_count; i++) {
        const struct counter_name *counter = &formulas->counters[i];
        for (size_t k = 0; k < spellings(counter); k++)
            ARRAY_PUSH(choices, *count, capacity,
                       (struct counter_choice){spelling(counter, k), counter->mode, counter->wraps});
    }
    return choices;
}

static const char *const by_words[] = {
#define COUNTERS_BY_WORD(name, word) word,
    COUNTERS_BY(COUNTERS_BY_WORD)};

const char *counters_by_name(enum counters_by by)
{
    return by_words[by];
}

enum counters_by counters_by_find(const char *word)
{
    enum counters_by by = 0;
    while (by < COUNTERS_BY_COUNT && strcmp(by_words[by], word) != 0)
        by++;
    return by;
}

size_t *formulas_find(const struct definitions *formulas, const struct counters *counters)
{
    size_t *found = memory_new(formulas->counter_count * sizeof *found);
    for (size_t i = 0; i < formulas->counter_count; i++) {
        const struct counter_name *counter = &formulas->counters[i];
        found[i] = SIZE_MAX;
        for (size_t k = 0; k < spellings(counter) && found[i] == SIZE_MAX; k++)
            for (size_t c = 0; c < counters->count && found[i] == SIZE_MAX; c++)
                if (counter_is_called(counters->counter[c].name, spelling(counter, k), strlen(spelling(counter, k))))
                    found[i] = c;
    }
    return found;
}

/* The formulas of a row, from its amounts. */
static void evaluate(struct counter_table *table, const struct counter_amount *amounts, double *values)
{
    double known[METRIC_COUNT + DEFINITIONS_MOST];
    for (size_t i = 0; i < METRIC_COUNT + DEFINITIONS_MOST; i++)
        known[i] = NAN;
    for (size_t i = 0; i < table->formulas->counter_count; i++)
        if (table->found[i] != SIZE_MAX)
            known[METRIC_COUNT + i] =
                table->formulas->counters[i].each *
                counter_amount_value(&amounts[table->found[i]], &table->counters->counter[table->found[i]]);
    for (size_t i = 0; i < table->formulas->count; i++) {
        const struct definition *formula = &table->formulas->list[i];
        size_t first = table->found[definition_counter(formula)];
        known[METRIC_time] = NAN;
        if (first != SIZE_MAX && amounts[first].known)
            known[METRIC_time] = (double)amounts[first].ns / 1e9;
        if (!expression_value(&formula->base, known, &values[i]))
            values[i] = NAN;
    }
}

/* Adds a row, unless nothing of it is known. */
static void put_row(struct counter_table *table, struct counter_row row, const struct counter_amount *amounts)
{
    size_t counters = table->counters->count, formulas = table->formulas->count;
    bool known = table->count == 0;
    for (size_t i = 0; i < counters; i++) {
        known = known || amounts[i].known;
        row.ns = larger(row.ns, amounts[i].ns);
    }
    if (!known)
        return;
    ARRAY_PUSH(table->row, table->count, table->capacity, row);
    table->values = memory_resize(table->values, table->capacity * formulas * sizeof *table->values);
    if (!table->values_only)
        table->amounts = memory_resize(table->amounts, (table->capacity * counters + 1) * sizeof *table->amounts);
    for (size_t i = 0; i < counters && !table->values_only; i++)
        table->amounts[(table->count - 1) * counters + i] =
            counter_amount_value(&amounts[i], &table->counters->counter[i]);
    evaluate(table, amounts, &table->values[(table->count - 1) * formulas]);
}

static struct counter_row row_nothing(void)
{
    return (struct counter_row){.rank = UINT32_MAX, .thread = UINT32_MAX, .state = UINT32_MAX, .part = UINT32_MAX};
}

static void clear_amounts(const struct counter_table *table, struct counter_amount *amounts)
{
    memset(amounts, 0, table->counters->count * sizeof *amounts);
}

static void add_track(const struct counter_table *table, struct counter_amount *amounts,
                      const struct counter_track *track, int64_t from_ns, int64_t to_ns)
{
    const struct counters *counters = table->counters;
    counter_amount_add(&amounts[track->counter], track, larger(from_ns, counters->from_ns),
                       smaller(to_ns, counters->to_ns));
}

/* Tracks are by process and thread: rows of neighbours. */
static void rows_of_tracks(struct counter_table *table, struct counter_amount *amounts)
{
    const struct counters *counters = table->counters;
    for (size_t i = 0; i < counters->track_count;) {
        const struct counter_track *first = &counters->track[i];
        struct counter_row row = row_nothing();
        row.rank = first->rank;
        if (table->by == COUNTERS_BY_THREAD)
            row.thread = first->thread;
        clear_amounts(table, amounts);
        for (; i < counters->track_count && counters->track[i].rank == row.rank &&
               (row.thread == UINT32_MAX || counters->track[i].thread == row.thread);
             i++)
            add_track(table, amounts, &counters->track[i], INT64_MIN, INT64_MAX);
        put_row(table, row, amounts);
    }
}

static void rows_of_functions(struct counter_table *table, struct counter_amount *amounts)
{
    const struct counters *counters = table->counters;
    size_t states = counters->defs->state_count + 1; /* the last: outside all */
    bool *seen = memory_new(states * sizeof *seen);
    for (size_t i = 0; i < counters->part_count; i++)
        seen[smaller((size_t)counters->part[i].state, states - 1)] = true;
    for (size_t state = 0; state < states; state++) {
        struct counter_row row = row_nothing();
        if (!seen[state])
            continue;
        row.state = state + 1 < states ? (uint32_t)state : COUNTER_NO_STATE;
        clear_amounts(table, amounts);
        for (size_t i = 0; i < counters->part_count; i++) {
            const struct counter_part *part = &counters->part[i];
            if (part->state != row.state)
                continue;
            amounts[part->counter].amount += part->amount;
            time_add(&amounts[part->counter].ns, part->ns);
            amounts[part->counter].known = true;
        }
        put_row(table, row, amounts);
    }
    free(seen);
}

static const int64_t *borders_of(const struct counter_cuts *cuts, uint32_t rank)
{
    size_t low = 0, high = cuts->processes;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cuts->ranks[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < cuts->processes && cuts->ranks[low] == rank ? &cuts->borders[low * (cuts->count + 1)] : NULL;
}

static void rows_of_cuts(struct counter_table *table, const struct counter_cuts *cuts, struct counter_amount *amounts)
{
    for (size_t part = 0; part < cuts->count; part++) {
        struct counter_row row = row_nothing();
        row.part = (uint32_t)part;
        clear_amounts(table, amounts);
        for (size_t i = 0; i < table->counters->track_count; i++) {
            const struct counter_track *track = &table->counters->track[i];
            const int64_t *borders = borders_of(cuts, track->rank);
            /* A process may not have it: then its borders are not in order. */
            if (borders && borders[part] != INT64_MIN && borders[part] < borders[part + 1])
                add_track(table, amounts, track, borders[part], borders[part + 1]);
        }
        put_row(table, row, amounts);
    }
}

/* From the first reading of all to the last, within the window. */
static void span_of(const struct counters *counters, int64_t *from_ns, int64_t *to_ns)
{
    *from_ns = INT64_MAX;
    *to_ns = INT64_MIN;
    for (size_t i = 0; i < counters->track_count; i++) {
        const struct counter_track *track = &counters->track[i];
        *from_ns = smaller(*from_ns, track->reading[0].time_ns);
        *to_ns = larger(*to_ns, track->reading[track->count - 1].time_ns);
    }
    *from_ns = larger(*from_ns, counters->from_ns);
    *to_ns = smaller(*to_ns, counters->to_ns);
}

static void rows_of_time(struct counter_table *table, size_t parts, struct counter_amount *amounts)
{
    int64_t from_ns, to_ns;
    span_of(table->counters, &from_ns, &to_ns);
    for (size_t part = 0; part < parts && from_ns < to_ns; part++) {
        struct counter_row row = row_nothing();
        double width = (double)time_since(from_ns, to_ns) / (double)parts;
        row.part = (uint32_t)part;
        row.from_ns = from_ns + (int64_t)llrint(width * (double)part);
        row.to_ns = from_ns + (int64_t)llrint(width * (double)(part + 1));
        clear_amounts(table, amounts);
        for (size_t i = 0; i < table->counters->track_count; i++)
            add_track(table, amounts, &table->counters->track[i], row.from_ns, row.to_ns);
        put_row(table, row, amounts);
    }
}

static int by_time(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return order_by(a, b);
}

/* The moments at which any counter of a thread was read: tracks [first, end). */
static int64_t *moments_of(const struct counters *counters, size_t first, size_t end, size_t *count)
{
    int64_t *moments = NULL;
    size_t capacity = 0;
    *count = 0;
    for (size_t i = first; i < end; i++)
        for (size_t k = 0; k < counters->track[i].count; k++) {
            int64_t time_ns = counters->track[i].reading[k].time_ns;
            if (time_ns >= counters->from_ns && time_ns <= counters->to_ns)
                ARRAY_PUSH(moments, *count, capacity, time_ns);
        }
    if (*count > 0)
        qsort(moments, *count, sizeof *moments, by_time);
    return moments;
}

static void rows_of_readings(struct counter_table *table, struct counter_amount *amounts)
{
    const struct counters *counters = table->counters;
    for (size_t first = 0, end; first < counters->track_count; first = end) {
        struct counter_row row = row_nothing();
        row.rank = counters->track[first].rank;
        row.thread = counters->track[first].thread;
        for (end = first; end < counters->track_count && counters->track[end].rank == row.rank &&
                          counters->track[end].thread == row.thread;
             end++)
            continue;
        size_t count;
        int64_t *moments = moments_of(counters, first, end, &count);
        for (size_t i = 1; i < count; i++) {
            row.from_ns = moments[i - 1];
            row.to_ns = moments[i];
            if (row.from_ns == row.to_ns)
                continue;
            clear_amounts(table, amounts);
            for (size_t k = first; k < end; k++)
                add_track(table, amounts, &counters->track[k], row.from_ns, row.to_ns);
            put_row(table, row, amounts);
        }
        free(moments);
    }
}

static void join(struct counter_amount *sum, const struct counter_amount *part)
{
    sum->amount += part->amount;
    time_add(&sum->ns, part->ns);
    sum->known = sum->known || part->known;
}

/* Process by process, so that sums are to the last digit those of a metrics file, which has them by process. */
static void whole_row(struct counter_table *table, struct counter_amount *amounts)
{
    const struct counters *counters = table->counters;
    struct counter_amount *own = memory_new((counters->count + 1) * sizeof *own);
    clear_amounts(table, amounts);
    for (size_t i = 0; i < counters->track_count;) {
        uint32_t rank = counters->track[i].rank;
        clear_amounts(table, own);
        for (; i < counters->track_count && counters->track[i].rank == rank; i++)
            add_track(table, own, &counters->track[i], INT64_MIN, INT64_MAX);
        for (size_t k = 0; k < counters->count; k++)
            join(&amounts[k], &own[k]);
    }
    put_row(table, row_nothing(), amounts);
    free(own);
}

static struct counter_table table_of(struct counter_table table, size_t parts)
{
    const struct counters *counters = table.counters;
    struct counter_amount *amounts = memory_new((counters->count + 1) * sizeof *amounts);
    table.found = formulas_find(table.formulas, counters);
    whole_row(&table, amounts);
    switch (table.by) {
    case COUNTERS_BY_FUNCTION:
        rows_of_functions(&table, amounts);
        break;
    case COUNTERS_BY_PHASE:
        rows_of_cuts(&table, &counters->phases, amounts);
        break;
    case COUNTERS_BY_ITERATION:
        rows_of_cuts(&table, &counters->iterations, amounts);
        break;
    case COUNTERS_BY_TIME:
        rows_of_time(&table, parts, amounts);
        break;
    case COUNTERS_BY_READING:
        rows_of_readings(&table, amounts);
        break;
    default:
        rows_of_tracks(&table, amounts);
    }
    free(amounts);
    return table;
}

struct counter_table counter_table_of(const struct counters *counters, const struct definitions *formulas,
                                      enum counters_by by, size_t parts)
{
    return table_of((struct counter_table){.by = by, .counters = counters, .formulas = formulas}, parts);
}

struct counter_table counter_table_at(const struct counters *counters, const struct definitions *formulas,
                                      int64_t time_ns)
{
    struct counter_table table = counter_table_of(counters, formulas, COUNTERS_BY_THREAD, 0);
    for (size_t i = 0; i < table.count * formulas->count; i++)
        table.values[i] = NAN;
    for (size_t i = 0; i < table.count * counters->count; i++)
        table.amounts[i] = NAN;
    /* Rows of threads are in the order of tracks. */
    for (size_t i = 0, row = 1; i < counters->track_count; i++) {
        const struct counter_track *track = &counters->track[i];
        size_t at = row;
        while (at < table.count && (table.row[at].rank != track->rank || table.row[at].thread != track->thread))
            at++;
        /* A thread without any known amount has no row. */
        if (at == table.count)
            continue;
        row = at;
        table.amounts[row * counters->count + track->counter] =
            counter_value_at(track, &counters->counter[track->counter], time_ns);
    }
    return table;
}

void counter_table_clear(struct counter_table *table)
{
    free(table->found);
    free(table->row);
    free(table->amounts);
    free(table->values);
    *table = (struct counter_table){0};
}

bool counter_table_has(const struct counter_table *table, size_t formula)
{
    for (size_t row = 0; row < table->count; row++)
        if (!isnan(table->values[row * table->formulas->count + formula]))
            return true;
    return false;
}

void formulas_rate(struct counters *counters)
{
    struct error err = {0};
    counters->formulas = formulas_read(NULL, &err);
    if (!counters->formulas)
        return;
    struct counter_table table = table_of(
        (struct counter_table){
            .by = COUNTERS_BY_PROCESS, .counters = counters, .formulas = counters->formulas, .values_only = true},
        0);
    size_t formulas = counters->formulas->count;
    counters->rates = memory_new(formulas * sizeof *counters->rates);
    counters->rate_count = formulas;
    for (size_t i = 0; i < formulas; i++) {
        const struct definition *formula = &counters->formulas->list[i];
        struct counter_rate *rate = &counters->rates[i];
        *rate = (struct counter_rate){.formula = formula->name,
                                      .whole = table.values[i],
                                      .count = table.count - 1,
                                      .limits = {formula->limits[0], formula->limits[1]}};
        rate->value = memory_new(rate->count * sizeof *rate->value);
        rate->rank = memory_new(rate->count * sizeof *rate->rank);
        for (size_t row = 0; row < rate->count; row++) {
            rate->value[row] = table.values[(row + 1) * formulas + i];
            rate->rank[row] = table.row[row + 1].rank;
        }
    }
    counter_table_clear(&table);
}
