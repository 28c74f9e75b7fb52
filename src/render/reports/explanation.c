/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/explanation.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "render/terminal.h"
#include "render/terminal_text.h"
#include "render/text_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PROCESSES = 8 };

struct share {
    int64_t ns;
    uint32_t rank;
};

static int by_time(const void *a, const void *b)
{
    const struct share *left = a, *right = b;
    if (left->ns != right->ns)
        return order_by(right->ns, left->ns);
    return order_by(left->rank, right->rank);
}

/* "process 3  1.23 s  45 %" for those with most. */
static void write_processes(struct output *output, const struct metrics *metrics, const char *title,
                            const int64_t *sums_ns, int64_t all_ns)
{
    size_t count = metrics->process_count;
    struct share *shares = memory_new(count * sizeof *shares);
    char number[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE], rank[TEXT_NUMBER_SIZE];
    for (size_t i = 0; i < count; i++)
        shares[i] = (struct share){sums_ns[i], metrics->process[i].rank};
    if (count > 0)
        qsort(shares, count, sizeof *shares, by_time);
    output_print(output, "\n     %s\n", title);
    /* Processes without a share would fill the list of a small run. */
    for (size_t i = 0; i < count && i < PROCESSES && shares[i].ns > 0; i++)
        output_print(output, "       process %-8s %10s  %s\n", text_thousands(rank, shares[i].rank),
                     text_duration(number, shares[i].ns), text_share(share, (double)shares[i].ns / (double)all_ns));
    free(shares);
}

/* Times to the ns, as the trace has them: these are to be found again. */
#define WAIT_INDENT "                   "

static void write_instance(struct output *output, const struct metrics *metrics, const struct wait_instance *instance)
{
    char wait[TEXT_NUMBER_SIZE], function[80], cause[80];
    text_for_terminal(function, sizeof function, metrics->defs->states[instance->state].name, 40);
    text_for_terminal(cause, sizeof cause, metrics->defs->states[instance->cause_state].name, 40);
    char first[TEXT_NUMBER_SIZE + 16], line[400];
    snprintf(first, sizeof first, "       %10s  ", text_duration(wait, instance->ns));
    snprintf(line, sizeof line, "process %s in %s from %.9f to %.9f s,",
             text_number(metrics->process[instance->process].rank).text, function, (double)instance->enter_ns / 1e9,
             (double)instance->leave_ns / 1e9);
    /* Victim and cause have a line each: the two times are compared with each other. */
    paragraph_write(output, first, WAIT_INDENT, line);
    snprintf(line, sizeof line, "for process %s, which enters %s at %.9f s",
             text_number(metrics->process[instance->cause_process].rank).text, cause,
             (double)instance->cause_enter_ns / 1e9);
    paragraph_write(output, WAIT_INDENT, WAIT_INDENT, line);
}

/* "sort.c:88  1.23 s  45 %" for those with most. */
static void write_sites(struct output *output, const struct metrics *metrics, const struct wait_sums *sums,
                        const char *title)
{
    char site[SITE_TEXT_SIZE], shown[SITE_TEXT_SIZE], number[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
    if (sums->site_count == 0)
        return;
    /* Of what one process computes more than the others, less at other places is taken off the sum. */
    int64_t all_ns = 0;
    for (size_t i = 0; i < sums->site_count; i++)
        time_add(&all_ns, sums->sites[i].ns);
    all_ns = larger(all_ns, sums->ns);
    struct text_table *table = text_table_columns(3);
    text_table_titles(table, 0);
    for (size_t i = 0; i < PROCESSES && i < sums->site_count; i++) {
        site_text(site, &metrics->defs->sites[sums->sites[i].index]);
        /* Paths of sources are as long as the build made them. */
        text_for_terminal(shown, sizeof shown, site, 40);
        text_table_cell(table, shown, true);
        text_table_cell(table, text_duration(number, sums->sites[i].ns), false);
        text_table_cell(table, text_share(share, (double)sums->sites[i].ns / (double)all_ns), false);
    }
    output_print(output, "\n     %s\n", title);
    text_table_print(table, output, "       ");
}

static void write_waits(struct output *output, const struct metrics *metrics, const struct wait_sums *sums)
{
    write_sites(output, metrics, sums, "places in the source");
    write_processes(output, metrics, "processes that wait", sums->victims_ns, sums->ns);
    write_processes(output, metrics, "processes that are waited for", sums->causes_ns, sums->ns);
    if (sums->longest_count > 0)
        output_text(output, "\n     the longest waits (times from the start of the run)\n");
    for (size_t i = 0; i < sums->longest_count; i++)
        write_instance(output, metrics, &sums->longest[i]);
}

/* Times and counts as everywhere, other numbers with four digits. */
static char *evidence_text(char buffer[TEXT_NUMBER_SIZE], const struct detail *detail)
{
    if (detail->is_time)
        return seconds_text(buffer, detail->value);
    /* Counts of calls and messages are whole, other evidence is a ratio. */
    if (detail->value >= 0 && detail->value == floor(detail->value))
        return text_thousands(buffer, text_whole(detail->value));
    snprintf(buffer, TEXT_NUMBER_SIZE, "%.4g", detail->value);
    return buffer;
}

void explanation_write(struct output *output, const struct metrics *metrics, size_t number,
                       const struct finding *finding)
{
    char head[700], first[16], seconds[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE], from[TEXT_NUMBER_SIZE],
        to[TEXT_NUMBER_SIZE], waiting[TEXT_NUMBER_SIZE];
    snprintf(first, sizeof first, "  %zu  ", number);
    snprintf(head, sizeof head, "%s [%s]", finding->title, finding->id);
    terminal_style(output, TERMINAL_BOLD);
    paragraph_write(output, first, "     ", head);
    terminal_style(output, NULL);
    paragraph_write(output, "     ", "     ", finding->text);
    snprintf(
        head, sizeof head,
        "time lost, summed over all processes: %s; could save up to %s of the run (%s); between %s and %s of the run",
        seconds_text(waiting, finding->waiting_s), seconds_text(seconds, finding->saving_s),
        text_share(share, finding->share), seconds_text(from, finding->from_s), seconds_text(to, finding->to_s));
    if (!finding->risk)
        paragraph_write(output, "     ", "     ", head);
    /* The cause is named by its id, which stands at the head of its own explanation. */
    if (finding->root) {
        snprintf(head, sizeof head, "caused by %s: fix that first", finding->root);
        paragraph_write(output, "     ", "     ", head);
    }
    paragraph_write(output, "     → ", "       ", finding->advice);
    if (finding->pattern) {
        paragraph_write(output, "     POP: ", "       ", finding->pattern);
        paragraph_write(output, "          ", "       ", finding->best_practice);
    }
    for (size_t i = 0; i < finding->evidence_count; i++)
        output_print(output, "       %-26s %s\n", finding->evidence[i].name,
                     evidence_text(waiting, &finding->evidence[i]));
    /* The two kinds of wrong order are different mistakes: each has its own list below. */
    struct wait_sums *waits = NULL;
    if (finding->kind != FINDING_wrong_order)
        waits = finding_waits(finding->kind, metrics->analysis);
    if (waits)
        write_waits(output, metrics, waits);
    wait_sums_free(waits);
    if (finding->kind == FINDING_compute_imbalance)
        write_sites(output, metrics, &metrics->analysis->uneven, "extra computing before");
    if (finding->kind == FINDING_wrong_order)
        for (int order = WAIT_WRONG_ORDER_SAME; order <= WAIT_WRONG_ORDER_OTHER; order++)
            if (metrics->analysis->waits[order].count > 0) {
                const char *whose = "from several senders";
                if (order == WAIT_WRONG_ORDER_SAME)
                    whose = "from the same sender";
                output_print(output, "\n     %s\n", whose);
                write_waits(output, metrics, &metrics->analysis->waits[order]);
            }
}
