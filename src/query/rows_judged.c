/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of what the diagnosis says: findings, phases, iterations. */
#include "query/trace.h"

#include "core/memory.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

static const struct engine_result *result_of(const struct query_cursor *cursor)
{
    return cursor->trace->result;
}

/* Findings: with the texts that are made of lists. */

struct finding_texts {
    char *victims, *causes, *functions, *sites;
};

/* Appends a word to a list with commas. */
static char *listed(char *list, const char *word)
{
    size_t length = 0, more = strlen(word);
    /* The first word begins the list. */
    if (list)
        length = strlen(list);
    list = memory_resize(list, length + more + 2);
    if (length > 0)
        list[length++] = ',';
    memcpy(list + length, word, more + 1);
    return list;
}

static char *ranks_list(const struct ranks *ranks)
{
    char *list = NULL, number[TEXT_NUMBER_SIZE];
    for (size_t i = 0; i < ranks->count; i++) {
        /* Without thousands separators, which would be commas of the list. */
        snprintf(number, sizeof number, "%u", ranks->rank[i]);
        list = listed(list, number);
    }
    return list;
}

static struct finding_texts texts_of(const struct finding *finding)
{
    struct finding_texts texts = {.victims = ranks_list(&finding->victims), .causes = ranks_list(&finding->causes)};
    for (size_t i = 0; i < FINDING_FUNCTIONS && finding->functions[i]; i++)
        texts.functions = listed(texts.functions, finding->functions[i]);
    for (size_t i = 0; i < FINDING_SITES && finding->sites[i]; i++) {
        char site[SITE_TEXT_SIZE];
        texts.sites = listed(texts.sites, site_text(site, finding->sites[i]));
    }
    return texts;
}

static enum status findings_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    const struct findings *findings = result_of(cursor)->findings;
    /* The texts are made once: a second call says that there are no more. */
    if (cursor->step > 0)
        return STATUS_END;
    struct finding_texts *texts = memory_new(findings->count * sizeof *texts);
    for (size_t i = 0; i < findings->count; i++)
        texts[i] = texts_of(&findings->finding[i]);
    cursor->rows = texts;
    return query_once(cursor, findings->count);
}

static void findings_clear_rows(struct query_cursor *cursor)
{
    struct finding_texts *texts = cursor->rows;
    for (size_t i = 0; texts && i < cursor->count; i++) {
        free(texts[i].victims);
        free(texts[i].causes);
        free(texts[i].functions);
        free(texts[i].sites);
    }
}

/* Findings have seconds as double; tables have ns, so that sums in SQL are exact. */
static struct value seconds(double s)
{
    return value_time((int64_t)llrint(s * 1e9));
}

static struct value findings_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct finding *finding = &result_of(cursor)->findings->finding[row];
    const struct finding_texts *texts = (const struct finding_texts *)cursor->rows + row;
    switch (column) {
    case findings_run:
        return query_run(cursor);
    case findings_id:
        return value_text(finding->id);
    case findings_title:
        return value_text(finding->title);
    case findings_waiting_s:
        return seconds(finding->waiting_s);
    case findings_saving_s:
        return seconds(finding->saving_s);
    case findings_share:
        return value_ratio(finding->share);
    case findings_root:
        return query_text(finding->root);
    case findings_victims:
        return query_text(texts->victims);
    case findings_causes:
        return query_text(texts->causes);
    case findings_functions:
        return query_text(texts->functions);
    case findings_sites:
        return query_text(texts->sites);
    case findings_from_s:
        return seconds(finding->from_s);
    case findings_to_s:
        return seconds(finding->to_s);
    case findings_text:
        return query_text(finding->text);
    default:
        return query_text(finding->advice);
    }
}

/* Passing: the lists belong to the cursor, and go with it. */
const struct query_rows rows_findings = {.wants = QUERY_METRICS | ENGINE_FINDINGS,
                                         .next = findings_next,
                                         .value = findings_value,
                                         .clear = findings_clear_rows,
                                         .passing = true};

/* Phases. */

static enum status phases_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    const struct phase_metrics *phases = result_of(cursor)->metrics->phases;
    /* A trace too large for an analysis has no phases, and the table no rows. */
    return query_once(cursor, phases ? phases->phase_count : 0);
}

static struct value phases_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct phase_row *phase = &result_of(cursor)->metrics->phases->phases[row];
    switch (column) {
    case phases_run:
        return query_run(cursor);
    case phases_phase:
        /* The number of a phase is its place, to which the shares of other tables refer. */
        return value_count(row);
    case phases_name:
        return query_text(phase->name);
    case phases_begin_s:
        return value_time(phase->begin_ns);
    case phases_end_s:
        return value_time(phase->end_ns);
    case phases_compute_s:
        return value_time(phase->sums.compute_ns);
    case phases_mpi_s:
        return value_time(phase->sums.mpi_ns);
    case phases_waiting_s:
        return value_time(part_waiting_ns(&phase->sums));
    case phases_messages:
        return value_count(phase->sums.messages);
    default:
        return value_bytes(phase->sums.bytes);
    }
}

const struct query_rows rows_phases = {
    .wants = QUERY_METRICS | ENGINE_PHASES, .next = phases_next, .value = phases_value};

/* Iterations of the main loop. */

static enum status iterations_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    const struct phase_metrics *phases = result_of(cursor)->metrics->phases;
    /* Of the main loop only: other loops have no iterations of their own in metrics. */
    return query_once(cursor, phases ? phases->iterations.row_count : 0);
}

/* The rank of a process by its row; null where no process is the heaviest. */
static struct value rank_of(const struct metrics *metrics, uint32_t row)
{
    /* A process beyond the rows is PHASE_NONE: nothing was computed. */
    if (row >= metrics->process_count)
        return value_null();
    return value_count(metrics->process[row].rank);
}

static struct value iterations_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct metrics *metrics = result_of(cursor)->metrics;
    const struct iteration_row *iteration = &metrics->phases->iterations.rows[row];
    switch (column) {
    case iterations_run:
        return query_run(cursor);
    case iterations_first:
        return value_count(iteration->first);
    case iterations_count:
        return value_count(iteration->count);
    case iterations_begin_s:
        return value_time(iteration->begin_ns);
    case iterations_time_s:
        return value_time(iteration->time_ns);
    case iterations_longest_s:
        return value_time(iteration->longest_ns);
    case iterations_computing_s:
        return value_time(iteration->computing_ns);
    case iterations_most_s:
        return value_time(iteration->most_ns);
    case iterations_heaviest:
        return rank_of(metrics, iteration->heaviest);
    case iterations_compute_s:
        return value_time(iteration->sums.compute_ns);
    case iterations_mpi_s:
        return value_time(iteration->sums.mpi_ns);
    case iterations_waiting_s:
        return value_time(part_waiting_ns(&iteration->sums));
    case iterations_messages:
        return value_count(iteration->sums.messages);
    default:
        return value_bytes(iteration->sums.bytes);
    }
}

const struct query_rows rows_iterations = {
    .wants = QUERY_METRICS | ENGINE_PHASES, .next = iterations_next, .value = iterations_value};
