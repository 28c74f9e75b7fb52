/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/diagnosis.h"

#include "core/memory.h"
#include "core/shell_text.h"
#include "core/text.h"
#include "heuristics/advice.h"
#include "heuristics/efficiency.h"
#include "heuristics/hot_code.h"
#include "heuristics/iterations.h"
#include "heuristics/threads.h"
#include "render/clock_sentence.h"
#include "render/facts.h"
#include "render/field.h"
#include "render/reports/stuck_report.h"
#include "render/terminal.h"
#include "render/terminal_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines of a screen that are left for the heuristics. */
enum { STUCK_LINES = 9, SCREEN_LINES = 24, FRAME_LINES = 10, SHOWN = 3 };

/* With so little computing, even work means nothing. */
static const double HARDLY_COMPUTES = 0.95;

/* Work is even up to this ratio of the longest computing to the mean; what costs this part of the run is noise. */
static const double UNEVEN = 1.1, LITTLE = 0.01;

static const double MOST = 0.5;

/* Causes come before their effects. */
static const char *const ranking[] = {"stddev-compute",          "stddev-total", "communication-overhead",
                                      "synchronisation-locator", "contention",   "communication-locator",
                                      "stddev-communication"};

static bool matters(const struct heuristic_result *result)
{
    return result->verdict == VERDICT_FAIR || result->verdict == VERDICT_POOR;
}

/* Uneven work causes waiting in communication, and waiting shows up in the locators: each cause is reported once. */
static bool follows(const char *id, const struct heuristic_result *results)
{
    /* Asked for both: the locators name the place where processes wait for those with more work. */
    bool uneven = matters(heuristics_find(results, "stddev-compute"));
    if (strcmp(id, "stddev-communication") == 0)
        return uneven;
    if (strcmp(id, "communication-locator") == 0)
        return matters(heuristics_find(results, "contention"));
    return false;
}

size_t diagnosis_rank(const struct heuristic_result *results, size_t *index)
{
    size_t count = 0;
    /* Poor ones first, each group in the order of causes. */
    for (int poor = 1; poor >= 0; poor--)
        for (size_t i = 0; i < sizeof ranking / sizeof *ranking; i++) {
            const struct heuristic_result *result = heuristics_find(results, ranking[i]);
            enum verdict wanted = poor ? VERDICT_POOR : VERDICT_FAIR;
            if (result->verdict == wanted && !follows(ranking[i], results))
                index[count++] = (size_t)(result - results);
        }
    return count;
}

/* Messages to or from a process that the trace does not have. */
static bool has_others(const struct metrics *metrics)
{
    for (size_t i = 0; i < metrics->process_count; i++) {
        const struct process_row *row = &metrics->process[i];
        const struct partner_row *partners[] = {row->sent, row->received};
        size_t counts[] = {row->sent_count, row->received_count};
        for (int side = 0; side < 2; side++)
            for (size_t k = 0; k < counts[side]; k++)
                if (partners[side][k].partner != PARTNER_NONE && partners[side][k].partner != (int32_t)row->rank)
                    return true;
    }
    return false;
}

/* Why there is no verdict on the work. */
static const char *nothing_computed(const struct metrics *metrics)
{
    if (metrics->process_count > 1)
        return "No process computes anything.";
    if (metrics->processes > 1 || has_others(metrics))
        return "Only one process has events in this trace.";
    return "There is only one process.";
}

void diagnosis_sentence(char buffer[DIAGNOSIS_SENTENCE_SIZE], const struct metrics *metrics,
                        const struct heuristic_result *results)
{
    const struct heuristic_result *work = heuristics_find(results, "stddev-compute");
    char share[TEXT_NUMBER_SIZE];
    double mpi = communication_share(metrics);
    double run_s = (double)time_since(metrics->begin_ns, metrics->end_ns) / 1e9;
    int used;
    if (mpi > 0)
        used = snprintf(buffer, DIAGNOSIS_SENTENCE_SIZE, "%s of the time is spent in MPI. ", text_share(share, mpi));
    else
        used = snprintf(buffer, DIAGNOSIS_SENTENCE_SIZE, "%s",
                        metrics_have_calls(metrics) ? "No time is spent in MPI. " : "The trace has no calls of MPI. ");
    const struct heuristic_result *total = heuristics_find(results, "stddev-total");
    const char *rest = "The work is evenly spread.";
    char text[600];
    /* A verdict without a headline has nothing that could be named in a sentence. */
    if (matters(work) && *work->headline) {
        snprintf(text, sizeof text, "The work is uneven: %s.", work->headline);
        rest = text;
    } else if (matters(total) && *total->headline) {
        snprintf(text, sizeof text, "The processes' total times differ: %s.", total->headline);
        rest = text;
    } else if (work->verdict == VERDICT_UNKNOWN) {
        rest = nothing_computed(metrics);
    } else if (mpi > HARDLY_COMPUTES) {
        rest = "The processes hardly compute.";
    } else if (work->measure.most_over_mean > UNEVEN && work->measure.imbalance < LITTLE * run_s) {
        rest = "The work is uneven, but that costs less than 1 % of the run.";
    }
    snprintf(buffer + used, (size_t)(DIAGNOSIS_SENTENCE_SIZE - used), "%s", rest);
}

/* "▇▇▇░░░░░░░": ten places. */
static const char *bar_text(char buffer[64], double share)
{
    /* Rounded: 95 % and more is a full bar. */
    int full = (int)(share * 10 + 0.5);
    buffer[0] = '\0';
    for (int i = 0; i < 10; i++)
        strcat(buffer, i < full ? "▇" : "░");
    return buffer;
}

static void write_title(struct output *output, const struct metrics *metrics, const char *title)
{
    char facts[FACTS_SIZE], share[TEXT_NUMBER_SIZE];
    headline_write(output, title, facts_text(facts, metrics));
    const struct trace_end *end = &metrics->end;
    /* How much is missing decides how far the rest can be trusted. */
    if (end->damage.count > 0 && end->total > 0 && end->used < end->total)
        output_print(output, "damaged: only %s of the file could be read\n",
                     text_share(share, (double)end->used / (double)end->total));
    else if (end->damage.count > 0)
        output_text(output, "damaged: the file could be read to its end, but contains errors\n");
}

/* Of programs with parallel regions: how the cores are used. */
static void write_threads(struct output *output, const struct metrics *metrics)
{
    struct thread_efficiency cores = thread_efficiency_of(metrics);
    char hybrid[TEXT_NUMBER_SIZE], mpi[TEXT_NUMBER_SIZE], openmp[TEXT_NUMBER_SIZE], serial[TEXT_NUMBER_SIZE],
        waiting[TEXT_NUMBER_SIZE];
    if (cores.threads == 0)
        return;
    output_print(output, "  with %zu threads  %s  =  MPI %s  ×  OpenMP %s\n", cores.threads,
                 text_share(hybrid, cores.hybrid), text_share(mpi, cores.mpi), text_share(openmp, cores.openmp));
    output_print(output, "    idle while one thread computes %s", text_share(serial, cores.serial));
    /* Where a trace does not say when threads wait, there is none. */
    if (cores.waiting > 0)
        output_print(output, ", waiting in regions %s", text_share(waiting, cores.waiting));
    output_text(output, "\n");
}

static void write_efficiency(struct output *output, const struct diagnosis *diagnosis)
{
    struct efficiency efficiency = efficiency_of(diagnosis->metrics);
    const struct analysis *analysis = diagnosis->metrics->analysis;
    char bar[64], parallel[TEXT_NUMBER_SIZE], balance[TEXT_NUMBER_SIZE], communication[TEXT_NUMBER_SIZE],
        serialisation[TEXT_NUMBER_SIZE], transfer[TEXT_NUMBER_SIZE];
    output_text(output, "\n  parallel efficiency  ");
    if (diagnosis->colour)
        output_text(output, terminal_efficiency(efficiency.parallel));
    output_text(output, bar_text(bar, efficiency.parallel));
    if (diagnosis->colour)
        output_text(output, TERMINAL_PLAIN);
    output_print(output, "  %s  =  load balance %s\n", text_share(parallel, efficiency.parallel),
                 text_share(balance, efficiency.load_balance));
    output_print(output, "    ×  communication efficiency %s", text_share(communication, efficiency.communication));
    /* Known only where the run was replayed. */
    if (analysis && analysis->serialisation > 0)
        output_print(output, "  (serialisation %s  ×  transfer %s)", text_share(serialisation, analysis->serialisation),
                     text_share(transfer, analysis->transfer));
    output_text(output, "\n");
    write_threads(output, diagnosis->metrics);
    /* Where it is most of the run, all that is said is of a small rest of it. */
    if (diagnosis->verbose || startup_share(diagnosis->metrics) > MOST)
        output_print(output, "  MPI_Init and MPI_Finalize take %s of the processes' time\n",
                     text_share(parallel, startup_share(diagnosis->metrics)));
}

/* Which process sends to which, where that has a name. */
static void write_structure(struct output *output, const struct metrics *metrics)
{
    struct structure structure = structure_of_run(metrics);
    char text[STRUCTURE_TEXT_SIZE];
    /* A structure that has no name is no news, and a wrong name would be worse. */
    bool clear = structure.kind != STRUCTURE_TOO_FEW && structure.kind != STRUCTURE_IRREGULAR &&
                 structure.kind != STRUCTURE_COLLECTIVE;
    if (!clear || structure.ambiguous)
        return;
    paragraph_write(output, "  messages: ", "  ", structure_text(text, &structure));
}

/* Processes that wait for activities that only others have. Returns the number of lines. */
static size_t write_impact(struct output *output, const struct metrics *metrics)
{
    char text[400], share[TEXT_NUMBER_SIZE], inter[TEXT_NUMBER_SIZE];
    double lost_share, inter_share;
    /* Among equals it is compute imbalance, which is reported as a finding. */
    if (!finding_roles_differ(metrics->analysis, &lost_share, &inter_share))
        return 0;
    snprintf(text, sizeof text,
             "%s of the processes' time is spent waiting for activities that take longer on the critical path, %s of "
             "that in processes that never perform these activities: work is split unevenly between roles, not among "
             "equal processes.",
             text_share(share, lost_share), text_share(inter, inter_share));
    return paragraph_write(output, "  ", "  ", text);
}

/* Iterations that take much longer than others, or longer and longer. Returns how many lines that takes. */
static size_t write_iterations(struct output *output, const struct metrics *metrics)
{
    char text[ITERATIONS_TEXT_SIZE + 1];
    if (!metrics->phases)
        return 0;
    /* Empty if the iterations have nothing remarkable. */
    iterations_remark(text, metrics);
    if (!*text)
        return 0;
    strcat(text, ".");
    return paragraph_write(output, "  ", "  ", text);
}

/* One heuristic in a few lines; only counts them without output. */
static size_t write_one(struct output *output, size_t number, const struct heuristic *heuristic,
                        const struct heuristic_result *result)
{
    char save[64] = "", seconds[TEXT_NUMBER_SIZE];
    if (result->lost > 0)
        snprintf(save, sizeof save, "   (up to %s lost)", seconds_text(seconds, result->lost));
    if (output)
        output_print(output, "\n  %zu  %s: %s%s\n", number, heuristic->title, verdict_name(result->verdict), save);
    size_t lines = 2 + paragraph_write(output, "     ", "     ", result->analysis);
    if (result->suggestion_count)
        lines += paragraph_write(output, "     → ", "       ", result->suggestions[0]);
    return lines;
}

static void write_heuristics(struct output *output, const struct metrics *metrics,
                             const struct heuristic_result *results)
{
    size_t *index = memory_new(heuristic_count() * sizeof *index), count = diagnosis_rank(results, index);
    char noise[TEXT_NUMBER_SIZE];
    if (count == 0 && metrics->process_count > 1)
        output_print(output, "\n  Well balanced: nothing is uneven by more than 10 %% or 1 %% of the run (%s).\n",
                     text_duration(noise, time_since(metrics->begin_ns, metrics->end_ns) / 100));
    size_t lines = 0, shown = 0;
    for (; shown < count && shown < SHOWN; shown++) {
        const struct heuristic *heuristic = heuristic_at(index[shown]);
        /* Counted before it is written: what does not fit on the screen is left out as a whole. */
        lines += write_one(NULL, shown + 1, heuristic, &results[index[shown]]);
        /* The first is shown whatever its length. */
        if (shown > 0 && lines > SCREEN_LINES - FRAME_LINES)
            break;
        write_one(output, shown + 1, heuristic, &results[index[shown]]);
    }
    free(index);
}

/* What it is, and what fixing it saves; only counts the lines where there is no output. */
static size_t write_head(struct output *output, size_t number, const struct finding *finding)
{
    char head[600], first[32], seconds[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
    const char *saves = finding->unresolved ? "at most" : "could save up to";
    snprintf(head, sizeof head, "%s — %s %s (%s)", finding->title, saves, seconds_text(seconds, finding->saving_s),
             text_share(share, finding->share));
    if (finding->risk)
        snprintf(head, sizeof head, "%s", finding->title);
    snprintf(first, sizeof first, "  %zu  ", number);
    return paragraph_write(output, first, "     ", head);
}

void diagnosis_write_savings(struct output *output, const struct findings *findings)
{
    size_t number = 0;
    for (size_t i = 0; i < findings->count; i++) {
        /* What is caused by another finding goes away with it: adding it up would count time twice. */
        if (findings->finding[i].root)
            continue;
        if (number++ == 0)
            output_text(output, "\nWhat the diagnosis finds (sight explain):\n\n");
        write_head(output, i + 1, &findings->finding[i]);
    }
}

/* One finding in a few lines; only counts them without output. */
static size_t write_finding(struct output *output, size_t number, const struct finding *finding, bool colour)
{
    if (output)
        output_text(output, "\n");
    if (output && colour)
        output_text(output, TERMINAL_BOLD);
    size_t lines = 1 + write_head(output, number, finding);
    if (output && colour)
        output_text(output, TERMINAL_PLAIN);
    lines += paragraph_write(output, "     ", "     ", finding->text);
    return lines + paragraph_write(output, "     → ", "       ", finding->advice);
}

enum { COLUMNS = 80 };

/* A command stands with the trace's name as a shell takes it, to be copied; with a word for it where that leaves the
   line, and where there is no such name. */
static const char *name_within(char text[COLUMNS], const char *input, size_t beside)
{
    char shown[VALUE_TEXT_SIZE];
    if (!input || strcmp(input, "-") == 0)
        return "TRACE";
    text_for_terminal(shown, sizeof shown, input, COLUMNS);
    *text = '\0';
    /* A name that a terminal does not show as it is cannot be copied. */
    if (strcmp(shown, input) != 0 || !shell_text_add(text, COLUMNS, input) || strlen(text) + beside > COLUMNS)
        return "TRACE";
    return text;
}

/* What is wrong with a run although it came to its end. Returns what `more` is for the next paragraph. */
static bool write_fault(struct output *output, const char *text, bool more)
{
    output_text(output, more ? "" : "\n");
    paragraph_write(output, "  ", "  ", text);
    return false;
}

/* `lines` are taken of the screen already. True if there are more than are shown. */
static bool write_findings(struct output *output, const struct diagnosis *diagnosis, size_t lines)
{
    const struct findings *findings = diagnosis->findings;
    /* A metrics file has no events, which sight explain needs for the rest. */
    bool all = diagnosis->all || diagnosis->metrics->own_defs;
    char none[FINDINGS_NONE_SIZE], name[COLUMNS];
    size_t shown = 0;
    if (*findings->caveat)
        lines += paragraph_write(output, "  ", "  ", findings->caveat);
    if (findings->count == 0) {
        output_text(output, "\n");
        paragraph_write(output, "  ", "  ", findings_none(findings, none));
        return false;
    }
    for (; shown < findings->count && (all || shown < SHOWN); shown++) {
        lines += write_finding(NULL, shown + 1, &findings->finding[shown], false);
        if (!all && shown > 0 && lines > SCREEN_LINES - FRAME_LINES)
            break;
        write_finding(output, shown + 1, &findings->finding[shown], diagnosis->colour);
    }
    if (shown < findings->count)
        output_print(output, "\n  … %zu more:  sight explain %s\n", findings->count - shown,
                     name_within(name, diagnosis->input, sizeof "  … 999 more:  sight explain "));
    return shown < findings->count;
}

/* Formats have records that say nothing of a program's course (a kernel's scheduler, samples): only info counts them.
 */
static void write_nothing(struct output *output, const struct diagnosis *diagnosis)
{
    char name[COLUMNS];
    output_text(output, "  There are no events in this trace.\n");
    if (!diagnosis->metrics->own_defs)
        output_print(output, "\n  what it has:  sight info %s\n",
                     name_within(name, diagnosis->input, sizeof "  what it has:  sight info "));
}

size_t diagnosis_begin_text(struct output *output, const struct diagnosis *diagnosis)
{
    write_title(output, diagnosis->metrics, diagnosis->title);
    output_text(output, "\n");
    /* A run that hung has no verdict on its speed that would matter more. */
    if (diagnosis->metrics->process_count == 0 || !stuck_is_reported(diagnosis->stuck))
        return 0;
    size_t lines = 1 + stuck_write_text(output, diagnosis->stuck, STUCK_LINES);
    output_text(output, "\n");
    return lines;
}

void diagnosis_write_text(struct output *output, const struct diagnosis *diagnosis)
{
    const struct metrics *metrics = diagnosis->metrics;
    size_t lines = diagnosis->begun;
    if (lines == 0)
        lines = diagnosis_begin_text(output, diagnosis);
    if (metrics->process_count == 0) {
        write_nothing(output, diagnosis);
        return;
    }
    char sentence[DIAGNOSIS_SENTENCE_SIZE];
    diagnosis_sentence(sentence, metrics, diagnosis->results);
    if (diagnosis->colour)
        output_text(output, TERMINAL_BOLD);
    paragraph_write(output, "  ", "  ", sentence);
    if (diagnosis->colour)
        output_text(output, TERMINAL_PLAIN);
    /* Without calls nobody is known to wait: all that there is would count as computing. */
    if (metrics->process_count > 1 && metrics_have_calls(metrics))
        write_efficiency(output, diagnosis);
    else if (metrics->process_count == 1)
        write_threads(output, metrics);
    char sample[SAMPLE_SENTENCE_SIZE];
    if (*sample_sentence(sample, metrics->defs))
        lines += paragraph_write(output, "  ", "  ", sample);
    write_structure(output, metrics);
    char hot[HOT_CODE_SIZE];
    if (*hot_code_sentence(hot, metrics))
        lines += paragraph_write(output, "  ", "  ", hot);
    char clocks[CLOCK_SENTENCE_SIZE];
    if (*clock_sentence(clocks, metrics, diagnosis->findings))
        lines += paragraph_write(output, "  ", "  ", clocks);
    /* Anything that distorts times affects those of iterations first. */
    else if (!*diagnosis->findings->caveat)
        lines += write_iterations(output, metrics);
    bool more = false;
    if (metrics->analysis && metrics->process_count > 1 && !*diagnosis->findings->caveat)
        lines += write_impact(output, metrics);
    if (metrics->analysis && (metrics->process_count > 1 || diagnosis->findings->count > 0))
        more = write_findings(output, diagnosis, lines);
    else
        write_heuristics(output, metrics, diagnosis->results);
    if (diagnosis->may_hang && diagnosis->may_hang->count > 0)
        more = write_fault(output, diagnosis->may_hang->text, more);
    if (diagnosis->left_over && diagnosis->left_over->text)
        more = write_fault(output, diagnosis->left_over->text, more);
    char text[COLUMNS];
    const char *name = name_within(text, diagnosis->input, sizeof "    sight report  -o report.html");
    bool fits = strlen(name) < COLUMNS - strlen("  charts and details:  sight report  -o report.html");
    output_print(output, "%s  charts and details:%s  sight report %s -o report.html\n", more ? "" : "\n",
                 fits ? "" : "\n  ", name);
}
