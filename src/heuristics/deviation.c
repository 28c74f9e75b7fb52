/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGHT's three deviations: the population standard deviation over the processes of their communication time (eq. 4.3.1
   of the dissertation), compute component (4.3.2) and total time (4.3.4), in seconds.

   Verdict: see verdict_of, by the larger of the coefficient of variation (deviation / mean) and, where the times are
   not even (measure_is_even), of the slowest process's excess over the mean, as a share of the run's duration. Also
   good if that share is at most 1 %: then evening out would make no noticeable difference. Unknown with fewer than two
   processes, or a mean of 0. */
#include "heuristics/heuristic.h"

#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/master.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* An imbalance below this share of the run's duration is not reported: it is FINDING_NOISE, so that the heuristics do
   not complain where the diagnosis has no finding. */
static const double NEGLIGIBLE = 0.01;

/* A process with less than this share of the others' mean has nearly nothing to do. */
static const double IDLE = 0.25;

/* The subject of a deviation, and its wording. */
struct subject {
    int64_t (*time_ns)(const struct metrics *metrics, size_t row);
    const char *noun;          /* "computing time" */
    const char *does;          /* "computes" */
    const char *do_;           /* "compute" */
    const char *above, *below; /* of few that stand out: "far above the rest" */
    void (*advise)(struct heuristic_result *result, const struct pattern *pattern, const struct measure *measure);
};

struct spread {
    const struct metrics *metrics;
    const struct subject *subject;
    struct measure measure;
    struct pattern pattern;
    double duration; /* of the run, in seconds */
};

static int64_t communication_ns(const struct metrics *metrics, size_t row)
{
    /* Polling is MPI: a process that asks again and again does not compute. */
    return metrics->process[row].communication_ns + metrics_polled_ns(metrics, row);
}

static int64_t total_ns(const struct metrics *metrics, size_t row)
{
    return process_total_ns(&metrics->process[row]);
}

static struct series series_of(const struct metrics *metrics, int64_t (*time_ns)(const struct metrics *, size_t))
{
    struct series series = series_new(metrics->process_count);
    for (size_t i = 0; i < metrics->process_count; i++) {
        series.value[i] = (double)time_ns(metrics, i) / 1e9;
        /* Places of a series are rows: the rank identifies them where processes are left out. */
        series.rank[i] = metrics->process[i].rank;
    }
    return series;
}

static enum verdict spread_verdict(const struct measure *measure, double duration)
{
    /* A mean of 0 has no variation. */
    if (measure->count < 2 || measure->mean <= 0)
        return VERDICT_UNKNOWN;
    /* Processes that hardly compute may differ by any factor: the run would not be shorter. */
    if (measure->imbalance <= NEGLIGIBLE * duration)
        return VERDICT_GOOD;
    /* One straggler among thousands hardly changes the deviation, but all wait for it. */
    double waited = measure_is_even(measure) ? 0 : ratio_of(measure->imbalance, duration);
    return verdict_of(fmax(measure->variation, waited));
}

static const char *process_word(size_t count)
{
    return text_plural(count, "process", "processes");
}

/* "2.4 times as long as", or in per cent if that reads better. */
static char *times_text(char *buffer, size_t size, double more, double less)
{
    char times[TEXT_NUMBER_SIZE];
    /* A factor of ten thousand is no number that anyone would check. */
    if (less <= 0 || more / less >= 10000)
        snprintf(buffer, size, "far longer than");
    else if (more / less >= 9.95)
        snprintf(buffer, size, "%s times as long as", text_thousands(times, (uint64_t)(more / less + 0.5)));
    else if (more / less >= 1.5)
        snprintf(buffer, size, "%.1f times as long as", more / less);
    else
        snprintf(buffer, size, "%.0f %% longer than", (more / less - 1) * 100);
    return buffer;
}

/* "1.00 s to 1.10 s" or, if both look the same, "1.00 s" followed by the text for one value. */
enum { RANGE_TEXT_SIZE = 2 * TEXT_NUMBER_SIZE + 16 };
static char *range_text(char buffer[RANGE_TEXT_SIZE], double least, double most, const char *one)
{
    char from[TEXT_NUMBER_SIZE], to[TEXT_NUMBER_SIZE];
    /* Compared as they are shown: values that differ in the fourth digit look the same. */
    if (strcmp(seconds_text(from, least), seconds_text(to, most)) == 0)
        snprintf(buffer, RANGE_TEXT_SIZE, "%s%s", from, one);
    else
        snprintf(buffer, RANGE_TEXT_SIZE, "%s to %s", from, to);
    return buffer;
}

static void say_even(struct heuristic_result *result, const struct spread *spread)
{
    const struct measure *measure = &spread->measure;
    char least[TEXT_NUMBER_SIZE], most[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE], over[TEXT_NUMBER_SIZE],
        range[RANGE_TEXT_SIZE];
    double waited = ratio_of(measure->imbalance, spread->duration);
    if (!measure_is_even(measure))
        result_say(result,
                   "The %ss differ (%s on process %s to %s on process %s), but the longest exceeds the mean by only "
                   "%s, %s of the run%s.",
                   spread->subject->noun, seconds_text(least, measure->least), text_number(measure->least_rank).text,
                   seconds_text(most, measure->most), text_number(measure->most_rank).text,
                   seconds_text(over, measure->imbalance), text_share(share, waited),
                   waited <= NEGLIGIBLE ? ": negligible" : "");
    else if (waited > NEGLIGIBLE)
        result_say(result, "Every process %s for %s; the longest exceeds the mean by %s, %s of the run.",
                   spread->subject->does, range_text(range, measure->least, measure->most, ""),
                   seconds_text(over, measure->imbalance), text_share(share, waited));
    else
        result_say(result, "Evenly spread: every process %s for %s.", spread->subject->does,
                   range_text(range, measure->least, measure->most, ""));
}

/* How far the few are from the rest: "far above the rest", "nearly idle". */
static const char *distance_words(const struct spread *spread)
{
    const struct pattern *pattern = &spread->pattern;
    bool high = pattern->shape == SHAPE_FEW_HIGH;
    if (measure_is_even(&spread->measure))
        return high ? "above the rest" : "below the rest";
    if (high)
        return spread->subject->above;
    /* Few that are far below may simply have less to do; only next to nothing is worth a word of its own. */
    if (pattern->far_mean < IDLE * pattern->rest_mean)
        return spread->subject->below;
    return "far below the rest";
}

/* Half of what the few lack, at least, is after their last events, as they never returned from a call. */
static bool few_hang(const struct spread *spread)
{
    const struct pattern *pattern = &spread->pattern;
    const struct metrics *metrics = spread->metrics;
    for (size_t far = 0; far < pattern->far_count; far++) {
        size_t row = 0;
        while (row < metrics->process_count && metrics->process[row].rank != pattern->far[far])
            row++;
        if (row == metrics->process_count || !process_never_returned(metrics, &metrics->process[row]))
            return false;
        double after_s = (double)time_since(metrics->process[row].end_ns, metrics->end_ns) / 1e9;
        if (after_s < (pattern->rest_mean - pattern->far_mean) / 2)
            return false;
    }
    return true;
}

static void say_few(struct heuristic_result *result, const struct spread *spread)
{
    const struct pattern *pattern = &spread->pattern;
    size_t few = pattern->far_count;
    bool high = pattern->shape == SHAPE_FEW_HIGH;
    /* The subject's words are in both numbers, as English verbs differ. */
    const char *verb = text_plural(few, spread->subject->does, spread->subject->do_);
    char ranks[RANKS_TEXT_SIZE], far[TEXT_NUMBER_SIZE], rest[TEXT_NUMBER_SIZE], range[RANGE_TEXT_SIZE];
    char mean[64] = "", times[64] = "much less than";
    ranks_text(ranks, pattern->far, few);
    if (high)
        times_text(times, sizeof times, pattern->far_mean, pattern->rest_mean);
    const char *why = "";
    if (!high && few_hang(spread))
        why = text_plural(few, ", as it never returned from a call", ", as they never returned from a call");
    snprintf(result->headline, sizeof result->headline, "%s %s %s %s the other processes%s", process_word(few), ranks,
             verb, times, why);
    range_text(range, pattern->rest_least, pattern->rest_most, " each");
    /* Where the rest all take the same to three digits, their mean says nothing new. */
    if (strstr(range, " to "))
        snprintf(mean, sizeof mean, " (mean %s)", seconds_text(rest, pattern->rest_mean));
    result_say(result, "%s %s %s %s%s%s, the other %s processes %s%s: %s %s %s.",
               text_plural(few, "Process", "Processes"), ranks, verb, high ? "" : "only ",
               seconds_text(far, pattern->far_mean), text_plural(few, "", " on average"),
               text_number(pattern->rest_count).text, range, mean, text_plural(few, "one", "a few"), process_word(few),
               distance_words(spread));
    if (*why)
        result_say(result, "%s never returned from a call, which counts only to the last event before.",
                   text_plural(few, "It", "They"));
}

static void say_groups(struct heuristic_result *result, const struct spread *spread)
{
    const struct pattern *pattern = &spread->pattern;
    bool alternating = pattern->shape == SHAPE_ALTERNATING;
    char far_ranks[RANKS_TEXT_SIZE + 16], rest_ranks[RANKS_TEXT_SIZE + 16], far[TEXT_NUMBER_SIZE],
        rest[TEXT_NUMBER_SIZE], times[64];
    const char *compared = rest_ranks, *form = "Even and odd ranks alternate";
    if (alternating) {
        static const char *const parity[] = {"even", "odd"};
        /* Which parity computes longer is known of any member of the far group. */
        uint32_t odd = pattern->far[0] % 2;
        snprintf(far_ranks, sizeof far_ranks, "the %s ranks", parity[odd]);
        snprintf(rest_ranks, sizeof rest_ranks, "the %s ones", parity[1 - odd]);
    } else {
        compared = "the other processes";
        form = "Two groups";
        char ranks[RANKS_TEXT_SIZE];
        snprintf(far_ranks, sizeof far_ranks, "processes %s", ranks_text(ranks, pattern->far, pattern->far_count));
        snprintf(rest_ranks, sizeof rest_ranks, "the rest (%s)", ranks_text(ranks, pattern->rest, pattern->rest_count));
    }
    times_text(times, sizeof times, pattern->far_mean, pattern->rest_mean);
    snprintf(result->headline, sizeof result->headline, "%s %s %s %s", far_ranks, spread->subject->do_, times,
             compared);
    result_say(result, "%s: %s %s %s on average, %s %s.", form, far_ranks, spread->subject->do_,
               seconds_text(far, pattern->far_mean), rest_ranks, seconds_text(rest, pattern->rest_mean));
}

static void say_gradient(struct heuristic_result *result, const struct spread *spread)
{
    const struct measure *measure = &spread->measure;
    struct {
        double seconds;
        uint32_t rank;
        /* Least and most are named with their ranks, whatever the direction of the gradient. */
    } ends[] = {{measure->least, measure->least_rank}, {measure->most, measure->most_rank}};
    char from[TEXT_NUMBER_SIZE], to[TEXT_NUMBER_SIZE];
    /* The sign of the rank correlation: falling values begin with the largest. */
    size_t first = spread->pattern.trend <= 0, last = 1 - first;
    const char *verb = first == 0 ? "grows" : "falls";
    snprintf(result->headline, sizeof result->headline, "the %s %s with the rank", spread->subject->noun, verb);
    /* The correlation is of all processes: those with least and most may be exceptions. */
    if (ends[first].rank > ends[last].rank) {
        result_say(
            result,
            "A gradient over the ranks: the %s %s with the rank, though not everywhere: process %s has the least "
            "(%s), process %s the most (%s).",
            spread->subject->noun, verb, text_number(measure->least_rank).text, seconds_text(from, measure->least),
            text_number(measure->most_rank).text, seconds_text(to, measure->most));
        return;
    }
    result_say(result, "A gradient over the ranks: the %s %s with the rank, from %s on process %s to %s on process %s.",
               spread->subject->noun, verb, seconds_text(from, ends[first].seconds), text_number(ends[first].rank).text,
               seconds_text(to, ends[last].seconds), text_number(ends[last].rank).text);
}

static void say_scattered(struct heuristic_result *result, const struct spread *spread)
{
    const struct measure *measure = &spread->measure;
    char least[TEXT_NUMBER_SIZE], most[TEXT_NUMBER_SIZE], times[64];
    times_text(times, sizeof times, measure->most, measure->least);
    /* Of two processes one computes "more", of many one "most". */
    const char *more = "most", *less = "least", *begin = "No simple pattern. ";
    if (spread->pattern.shape == SHAPE_PAIR) {
        more = "more";
        less = "less";
        begin = "";
    }
    snprintf(result->headline, sizeof result->headline, "process %s %s %s process %s",
             text_number(measure->most_rank).text, spread->subject->does, times, text_number(measure->least_rank).text);
    result_say(result, "%sProcess %s %s %s (%s, %.0f %% above the mean), process %s %s (%s, %.0f %% below it).", begin,
               text_number(measure->most_rank).text, spread->subject->does, more, seconds_text(most, measure->most),
               (measure->most_over_mean - 1) * 100, text_number(measure->least_rank).text, less,
               seconds_text(least, measure->least), (1 - measure->least / measure->mean) * 100);
}

static void say_pattern(struct heuristic_result *result, const struct spread *spread)
{
    switch (spread->pattern.shape) {
    case SHAPE_UNKNOWN:
    case SHAPE_EVEN:
        say_even(result, spread);
        break;
    case SHAPE_FEW_HIGH:
    case SHAPE_FEW_LOW:
        say_few(result, spread);
        break;
    case SHAPE_TWO_GROUPS:
    case SHAPE_ALTERNATING:
        say_groups(result, spread);
        break;
    case SHAPE_GRADIENT:
        say_gradient(result, spread);
        break;
    case SHAPE_PAIR:
    case SHAPE_SCATTERED:
        say_scattered(result, spread);
    }
}

static void advise(struct heuristic_result *result, const struct spread *spread)
{
    if (spread->pattern.shape == SHAPE_FEW_LOW && few_hang(spread))
        result_suggest(result, "find out why %s never returned from a call: no other division of the work changes that",
                       text_plural(spread->pattern.far_count, "it", "they"));
    else
        spread->subject->advise(result, &spread->pattern, &spread->measure);
}

static double value_at(const struct series *series, uint32_t rank)
{
    for (size_t i = 0; i < series->count; i++)
        if (series->rank[i] == rank)
            return series->value[i];
    return 0;
}

/* Describes the master apart from the workers, and how even the workers are. */
static void say_master(struct heuristic_result *result, const struct spread *spread, const struct series *series,
                       uint32_t master)
{
    /* A master is expected to differ: whether the work is even is a question about its workers. */
    struct series workers = series_without(series, master);
    struct spread rest = {.metrics = spread->metrics,
                          .subject = spread->subject,
                          .measure = measure_of(&workers),
                          .duration = spread->duration};
    rest.pattern = pattern_of(&workers, &rest.measure);
    double own = value_at(series, master);
    char text[TEXT_NUMBER_SIZE], range[RANGE_TEXT_SIZE], deviation[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
    /* A master that computes a tenth of what its workers do is one that only hands out work. */
    bool hardly = own < 0.1 * rest.measure.mean;
    enum verdict verdict = spread_verdict(&rest.measure, spread->duration);
    bool uneven = verdict == VERDICT_FAIR || verdict == VERDICT_POOR;
    /* The pattern of the workers is put into words first, and then moved to the end of the text: the sentences add to
       result->analysis, and the headline is replaced below. */
    if (uneven)
        say_pattern(result, &rest);
    char workers_say[sizeof result->analysis];
    snprintf(workers_say, sizeof workers_say, "%s", result->analysis);
    result->analysis[0] = '\0';
    result_say(result,
               hardly ? "Process %s is the master of %s workers: it hardly %s (%s), they %s %s."
                      : "Process %s is the master of %s workers: it %s %s, they %s %s.",
               text_number(master).text, text_number(workers.count).text, spread->subject->does,
               seconds_text(text, own), spread->subject->do_,
               range_text(range, rest.measure.least, rest.measure.most, " each"));
    if (verdict != VERDICT_UNKNOWN)
        result_say(result, "Without the master: deviation %s (%s of the mean): %s.",
                   seconds_text(deviation, rest.measure.deviation), text_share(share, rest.measure.variation),
                   verdict_name(verdict));
    workers_say[0] = (char)tolower((unsigned char)workers_say[0]);
    if (uneven)
        result_say(result, "Among the workers: %s", workers_say);
    const char *than = own < rest.measure.mean ? "less than" : "longer than";
    snprintf(result->headline, sizeof result->headline,
             hardly ? "process %s is a master that hardly %s %s its workers"
                    : "process %s is a master that %s %s its workers",
             text_number(master).text, spread->subject->does, hardly ? "compared with" : than);
    /* Charts and reports mark the process. */
    result->master = master;
    result_detail(result, "deviation_without_master_s", rest.measure.deviation, true);
    result_detail(result, "variation_without_master", rest.measure.variation, false);
    if (uneven)
        advise(result, &rest);
    pattern_clear(&rest.pattern);
    series_clear(&workers);
}

static void add_details(struct heuristic_result *result, const struct measure *measure)
{
    result_detail(result, "processes", (double)measure->count, false);
    result_detail(result, "least_s", measure->least, true);
    result_detail(result, "most_s", measure->most, true);
    result_detail(result, "variation", measure->variation, false);
    result_detail(result, "most_over_mean", measure->most_over_mean, false);
    result_detail(result, "imbalance_s", measure->imbalance, true);
    result_detail(result, "gini", measure->gini, false);
    result_detail(result, "median_s", measure->median, true);
    result_detail(result, "median_distance_s", measure->mad, true);
}

static void say_unknown(struct heuristic_result *result, const struct subject *subject, size_t processes)
{
    if (processes == 0)
        result_say(result, "No process has any events.");
    else if (processes == 1)
        result_say(result, "There is only one process: its %s cannot be compared.", subject->noun);
    else
        result_say(result, "No process has any %s: there is nothing to compare.", subject->noun);
}

/* A master differs from its workers in computing and communicating; total times have none. */
static void judge_spread(const struct metrics *metrics, const struct subject *subject, bool masters,
                         struct heuristic_result *result)
{
    struct series series = series_of(metrics, subject->time_ns);
    struct spread spread = {.metrics = metrics,
                            .subject = subject,
                            .measure = measure_of(&series),
                            .duration = (double)time_since(metrics->begin_ns, metrics->end_ns) / 1e9};
    spread.pattern = pattern_of(&series, &spread.measure);
    /* The index is the dissertation's, in seconds; the share that the verdict is about is the variation. */
    result->is_deviation = true;
    result->measure = spread.measure;
    result->index = spread.measure.deviation;
    result->mean = spread.measure.mean;
    result->share = spread.measure.variation;
    result->shape = spread.pattern.shape;
    result->verdict = spread_verdict(&spread.measure, spread.duration);
    add_details(result, &spread.measure);
    /* Only heuristics about computing and communication know masters. */
    int64_t master = -1;
    if (masters)
        master = master_of(metrics);
    if (result->verdict == VERDICT_UNKNOWN) {
        say_unknown(result, subject, series.count);
    } else if (result->verdict == VERDICT_GOOD) {
        say_even(result, &spread);
    } else if (master >= 0) {
        /* What evening out would save at most: the slowest then takes the mean. */
        result->lost = spread.measure.imbalance;
        say_master(result, &spread, &series, (uint32_t)master);
    } else {
        result->lost = spread.measure.imbalance;
        say_pattern(result, &spread);
        advise(result, &spread);
    }
    pattern_clear(&spread.pattern);
    series_clear(&series);
}

static void advise_compute(struct heuristic_result *result, const struct pattern *pattern,
                           const struct measure *measure)
{
    char ranks[RANKS_TEXT_SIZE];
    switch (pattern->shape) {
    /* A few that have more: their neighbours in rank have the same code. */
    case SHAPE_FEW_HIGH:
        ranks_text(ranks, pattern->far, pattern->far_count);
        result_suggest(result, "give %s %s less work, or find out what %s that the other processes do not",
                       process_word(pattern->far_count), ranks, text_plural(pattern->far_count, "it does", "they do"));
        break;
    case SHAPE_FEW_LOW:
        ranks_text(ranks, pattern->far, pattern->far_count);
        result_suggest(result, "give %s %s more of the work", process_word(pattern->far_count), ranks);
        break;
    case SHAPE_TWO_GROUPS:
        result_suggest(result, "find out what distinguishes the two sets: a remainder of the division of work, "
                               "different nodes, different input");
        break;
    case SHAPE_ALTERNATING:
        result_suggest(result, "find out what even and odd ranks do differently: a red-black scheme, two processes on "
                               "one core, a sender and a receiver");
        break;
    case SHAPE_GRADIENT:
        result_suggest(result, "distribute the work cyclically instead of in blocks by rank");
        break;
    case SHAPE_PAIR:
        result_suggest(result, "move work from process %s to process %s", text_number(measure->most_rank).text,
                       text_number(measure->least_rank).text);
        break;
    default:
        /* Without a pattern only a scheme that adapts by itself helps. */
        result_suggest(result, "hand out the work in smaller pieces, as processes ask for it; process %s has the most",
                       text_number(measure->most_rank).text);
    }
}

static void advise_communication(struct heuristic_result *result, const struct pattern *pattern,
                                 const struct measure *measure)
{
    char ranks[RANKS_TEXT_SIZE];
    if (pattern->shape == SHAPE_FEW_HIGH)
        result_suggest(result, "see which functions %s %s %s in: sight chart activity",
                       process_word(pattern->far_count), ranks_text(ranks, pattern->far, pattern->far_count),
                       text_plural(pattern->far_count, "is", "are"));
    else
        result_suggest(result,
                       "see which functions process %s spends time in that process %s does not: sight chart activity",
                       text_number(measure->most_rank).text, text_number(measure->least_rank).text);
}

static void advise_total(struct heuristic_result *result, const struct pattern *pattern, const struct measure *measure)
{
    char ranks[RANKS_TEXT_SIZE];
    if (pattern->shape == SHAPE_FEW_LOW)
        result_suggest(result, "find out why %s %s %s later or %s earlier than the other processes",
                       process_word(pattern->far_count), ranks_text(ranks, pattern->far, pattern->far_count),
                       text_plural(pattern->far_count, "starts", "start"),
                       text_plural(pattern->far_count, "ends", "end"));
    else
        result_suggest(result,
                       "processes start or end at different times: look at what process %s does before or after the "
                       "other%s",
                       text_number(measure->most_rank).text, text_plural(measure->count - 1, "", "s"));
}

static const struct subject computing = {metrics_compute_ns,   "computing time", "computes",    "compute",
                                         "far above the rest", "nearly idle",    advise_compute};

void judge_compute(const struct metrics *metrics, struct heuristic_result *result)
{
    judge_spread(metrics, &computing, true, result);
}

void describe_compute(const struct metrics *metrics, struct heuristic_result *result)
{
    struct series series = series_of(metrics, metrics_compute_ns);
    struct spread spread = {.metrics = metrics,
                            .subject = &computing,
                            .measure = measure_of(&series),
                            .duration = (double)time_since(metrics->begin_ns, metrics->end_ns) / 1e9};
    spread.pattern = pattern_of_differences(&series, &spread.measure);
    say_pattern(result, &spread);
    advise(result, &spread);
    pattern_clear(&spread.pattern);
    series_clear(&series);
}

/* True if communication times mirror computing times: they add up to the same on all processes. Then the time in MPI
   is mostly waiting for processes that compute longer, and evening out the computing evens out both. */
static bool mirrors_computing(const struct metrics *metrics)
{
    struct series compute = series_of(metrics, metrics_compute_ns),
                  communication = series_of(metrics, communication_ns);
    double mirrored = correlation(compute.value, communication.value, compute.count);
    series_clear(&compute);
    series_clear(&communication);
    /* Nearly -1: what one process computes less it waits more. */
    return mirrored <= -0.9;
}

void judge_communication(const struct metrics *metrics, struct heuristic_result *result)
{
    static const struct subject subject = {communication_ns,    "communication time", "communicates",
                                           "communicate",       "far above the rest", "nearly without communication",
                                           advise_communication};
    judge_spread(metrics, &subject, true, result);
    if ((result->verdict == VERDICT_FAIR || result->verdict == VERDICT_POOR) && mirrors_computing(metrics)) {
        result_say(result,
                   "These times mirror the computing times: a process that computes less spends more time in MPI.");
        /* None if the times only differ between a master and even workers. */
        bool advised = result->suggestion_count > 0;
        result->suggestion_count = 0;
        if (advised)
            result_suggest(result, "balance the computing first: the times in MPI follow it");
    }
}

void judge_total(const struct metrics *metrics, struct heuristic_result *result)
{
    static const struct subject subject = {total_ns,        "total time", "runs", "run", "far above the rest",
                                           "nearly absent", advise_total};
    judge_spread(metrics, &subject, false, result);
}
