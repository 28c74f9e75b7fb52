/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/report.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/efficiency.h"

#include <ctype.h>
#include <stdio.h>

void report_damage(const struct report *report, char line[REPORT_LINE_SIZE])
{
    const struct trace_end *end = &report->input.metrics->end;
    line[0] = '\0';
    if (end->complete)
        return;
    const char *first = "the trace is incomplete";
    if (end->damage.count > 0)
        first = end->damage.first;
    int used = snprintf(line, REPORT_LINE_SIZE, "%.300s", first);
    if (end->total > 0 && used > 0 && used < REPORT_LINE_SIZE)
        snprintf(line + used, (size_t)(REPORT_LINE_SIZE - used), "; used %.1f %% of the size",
                 100.0 * (double)end->used / (double)end->total);
}

size_t report_faults(const struct report *report, const char *faults[REPORT_FAULTS])
{
    size_t count = 0;
    if (report->may_hang && report->may_hang->count > 0)
        faults[count++] = report->may_hang->text;
    if (report->left_over && report->left_over->text)
        faults[count++] = report->left_over->text;
    return count;
}

void report_figures(const struct report *report, struct figure figures[REPORT_FIGURES])
{
    const struct metrics *metrics = report->input.metrics;
    struct efficiency efficiency = efficiency_of(metrics);
    uint64_t bytes, messages = metrics_messages(metrics, &bytes);
    char text[TEXT_NUMBER_SIZE], more[TEXT_NUMBER_SIZE];
    const struct {
        const char *name, *meaning;
        double share;
        /* Each with its definition: names alone mean different things to different people. */
    } shares[] = {
        {"time in MPI", "share of the processes' time, without MPI_Init and MPI_Finalize",
         communication_share(metrics)},
        {"parallel efficiency", "mean computing time / time from MPI_Init to MPI_Finalize", efficiency.parallel},
        {"load balance", "mean computing time / longest computing time", efficiency.load_balance},
        {"communication efficiency", "longest computing time / time from MPI_Init to MPI_Finalize",
         efficiency.communication},
    };
    size_t count = sizeof shares / sizeof *shares;
    for (size_t i = 0; i < count; i++) {
        figures[i] = (struct figure){.name = shares[i].name, .meaning = shares[i].meaning};
        snprintf(figures[i].value, sizeof figures[i].value, "%s", text_share(text, shares[i].share));
    }
    figures[count] = (struct figure){.name = "messages", .meaning = "point-to-point messages between processes"};
    snprintf(figures[count].value, sizeof figures[count].value, "%s", text_thousands(text, messages));
    figures[count + 1] = (struct figure){.name = "bytes in messages", .meaning = "of all point-to-point messages"};
    snprintf(figures[count + 1].value, sizeof figures[count + 1].value, "%s", text_bytes(more, bytes));
}

void report_saving(const struct finding *finding, char line[REPORT_LINE_SIZE])
{
    char seconds[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
    /* A cause that could not be resolved has an upper bound only. */
    const char *saves = finding->unresolved ? "at most" : "could save up to";
    if (finding->risk) {
        snprintf(line, REPORT_LINE_SIZE, "may end the run");
        return;
    }
    snprintf(line, REPORT_LINE_SIZE, "%s %s (%s)", saves, seconds_text(seconds, finding->saving_s),
             text_share(share, finding->share));
}

void report_finding_title(const struct findings *findings, size_t place, char line[REPORT_LINE_SIZE])
{
    const char *title = findings->finding[place].title;
    snprintf(line, REPORT_LINE_SIZE, "%zu. %c%s", place + 1, toupper((unsigned char)*title), title + (*title != '\0'));
    text_end_whole(line);
}

void report_finding_root(const struct findings *findings, size_t place, char line[REPORT_LINE_SIZE])
{
    size_t root = finding_root_place(findings, place);
    *line = '\0';
    if (root < place)
        snprintf(line, REPORT_LINE_SIZE, "Caused by finding %zu: fix that first.", root + 1);
}

void report_no_findings(const struct report *report, char line[REPORT_LINE_SIZE])
{
    line[0] = '\0';
    /* Without an analysis nothing was looked for, and one process cannot wait for others. */
    if (report->findings->count == 0 && report->input.metrics->analysis && report->input.metrics->process_count > 1)
        findings_none(report->findings, line);
}

bool report_iterations(const struct metrics *metrics, struct report_iterations *found)
{
    const struct phase_metrics *phases = metrics->phases;
    if (!phases || phases->iterations.loop == PHASE_NONE)
        return false;
    const struct iteration_metrics *iterations = &phases->iterations;
    *found = (struct report_iterations){.context = {.metrics = metrics, .bottleneck = LOOP_BOTTLENECK_SHARE},
                                        .slow = iterations->slowest};
    iterations_text(found->text, metrics);
    found->fields = phases_slow_fields(&found->field_count);
    /* The slowest are kept whether or not they are slow. */
    found->count = smaller(iterations->slow, iterations->slowest_count);
    return true;
}

/* HTML and PDF leave out the same charts. */
bool report_has_chart(const struct report *report, size_t index)
{
    const struct chart *chart = chart_at(index);
    /* What an empty chart would say is said by the figures and the findings. */
    return chart_can(chart, &report->input) &&
           (report->input.metrics->process_count == 0 || !chart_lack(chart, &report->input));
}

struct ordered {
    int64_t compute_ns;
    size_t row;
};

static int by_compute(const void *a, const void *b)
{
    const struct ordered *left = a, *right = b;
    if (left->compute_ns != right->compute_ns)
        return order_by(left->compute_ns, right->compute_ns);
    return order_by(left->row, right->row);
}

static int by_row(const void *a, const void *b)
{
    const size_t *left = a, *right = b;
    return order_by(*left, *right);
}

size_t *report_processes(const struct report *report, size_t most, size_t *count)
{
    const struct metrics *metrics = report->input.metrics;
    size_t all = metrics->process_count;
    *count = smaller(all, most);
    struct ordered *ordered = memory_new(all * sizeof *ordered);
    size_t *rows = memory_new(*count * sizeof *rows);
    for (size_t i = 0; i < all; i++)
        ordered[i] = (struct ordered){metrics_compute_ns(metrics, i), i};
    /* Where all are shown they stay in order; else the extremes are what a reader looks for. */
    if (all > most)
        qsort(ordered, all, sizeof *ordered, by_compute);
    for (size_t i = 0; i < *count; i++) {
        /* The first half from the beginning, the second from the end. */
        size_t place = i;
        if (i >= *count / 2)
            place = all - *count + i;
        rows[i] = ordered[place].row;
    }
    /* Tables are by rank: the extremes were chosen, not ranked. */
    if (*count > 0)
        qsort(rows, *count, sizeof *rows, by_row);
    free(ordered);
    return rows;
}
