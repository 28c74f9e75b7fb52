/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/finding.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ids and wait states are defined here, not with the finders, which use them. */
static const struct {
    const char *id;
    enum wait_kind wait;
} kinds[] = {
#define FINDER(name, id, wait, ...) {id, WAIT_##wait},
#include "heuristics/findings.def"
};

/* With more messages that violate causality, or clocks corrected by more of the median wait, results are too uncertain
   (rules of diagnosis, 0 and 3.4): one wait on a wrong process can move all blame along a chain. */
static const double EARLY_PART = 0.001, BENT_PART = 0.1;

const char *finding_id(enum finding_kind kind)
{
    return kinds[kind].id;
}

enum finding_kind finding_find(const char *id)
{
    enum finding_kind kind = 0;
    while (kind < FINDING_KINDS && strcmp(kinds[kind].id, id) != 0)
        kind++;
    return kind;
}

enum wait_kind finding_wait(enum finding_kind kind)
{
    return kinds[kind].wait;
}

struct wait_sums *finding_waits(enum finding_kind kind, const struct analysis *analysis)
{
    /* Merging with the empty sums of WAIT_NONE makes a copy that the caller can free like the others. */
    const struct wait_sums *waits = analysis->waits, *none = &waits[WAIT_NONE];
    if (kind == FINDING_late_sender)
        return wait_sums_for_senders(analysis);
    if (kind == FINDING_wrong_order)
        return wait_sums_merged(analysis, &waits[WAIT_WRONG_ORDER_SAME], &waits[WAIT_WRONG_ORDER_OTHER]);
    if (kind == FINDING_contention)
        return wait_sums_merged(analysis, &analysis->contention, none);
    enum wait_kind wait = kinds[kind].wait;
    if (wait == WAIT_NONE)
        return NULL;
    return wait_sums_merged(analysis, &waits[wait], none);
}

size_t finding_root_place(const struct findings *findings, size_t place)
{
    const char *root = findings->finding[place].root;
    for (size_t i = 0; root && i < place; i++)
        if (strcmp(findings->finding[i].id, root) == 0)
            return i;
    return place;
}

bool finding_roots_known(const struct analysis *analysis)
{
    return (double)analysis->early <= EARLY_PART * (double)analysis->messages;
}

bool finding_waits_uncertain(const struct analysis *analysis)
{
    return analysis->clocks_fixed && analysis->median_wait > 0 &&
           (double)analysis->clock_bent > BENT_PART * (double)analysis->median_wait;
}

double finding_noise(const struct analysis *analysis)
{
    double processes = (double)analysis->process_count;
    if (processes < 2)
        return 0;
    return FINDING_NOISE * sqrt(2 * log(processes)) * (double)analysis->duration;
}

struct part {
    int64_t ns;
    uint32_t rank;
};

static int by_time(const void *a, const void *b)
{
    const struct part *left = a, *right = b;
    if (left->ns != right->ns)
        return order_by(right->ns, left->ns);
    return order_by(left->rank, right->rank);
}

static int by_rank(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* Processes with nearly equal values are not distinguished: which of them is within the part, and which is the first
   beyond it, is chance. */
static bool is_alike(const struct part *part, const struct part *other)
{
    return part->ns > 0 && (double)part->ns >= 0.9 * (double)other->ns;
}

/* Selects until they have `part` of the sum, only those with `least` of the largest. */
static struct ranks ranks_holding(const struct metrics *metrics, const int64_t *sums_ns, double part, double least)
{
    size_t count = metrics->process_count;
    struct part *parts = memory_new(count * sizeof *parts);
    struct ranks ranks = {memory_new(count * sizeof *ranks.rank), 0};
    double all = 0, taken = 0;
    size_t last = 0;
    for (size_t i = 0; i < count; i++) {
        parts[i] = (struct part){sums_ns[i], metrics->process[i].rank};
        all += (double)sums_ns[i];
    }
    if (count > 0)
        qsort(parts, count, sizeof *parts, by_time);
    /* `last`: the last that the part needed. Those after it must be like it, not like each other: a row of small steps
       would name everybody. */
    for (size_t i = 0; i < count && (taken < part * all || (i > 0 && is_alike(&parts[i], &parts[last]))); i++) {
        if ((double)parts[i].ns < least * (double)parts[0].ns)
            break;
        if (taken < part * all)
            last = i;
        ranks.rank[ranks.count++] = parts[i].rank;
        taken += (double)parts[i].ns;
    }
    if (ranks.count > 0)
        qsort(ranks.rank, ranks.count, sizeof *ranks.rank, by_rank);
    free(parts);
    return ranks;
}

struct ranks ranks_with_most(const struct metrics *metrics, const int64_t *sums_ns, double part)
{
    return ranks_holding(metrics, sums_ns, part, 0);
}

struct ranks ranks_to_blame(const struct metrics *metrics, const int64_t *sums_ns)
{
    return ranks_holding(metrics, sums_ns, 0.8, 0.1);
}

char *who_text(char buffer[WHO_SIZE], const struct ranks *ranks, size_t all)
{
    char text[RANKS_TEXT_SIZE];
    if (ranks->count == all && all > 1)
        snprintf(buffer, WHO_SIZE, "all processes");
    else
        snprintf(buffer, WHO_SIZE, "%s %s", text_plural(ranks->count, "process", "processes"),
                 ranks_text(text, ranks->rank, ranks->count));
    return buffer;
}

char *site_text(char buffer[SITE_TEXT_SIZE], const struct site_def *site)
{
    const char *slash = strrchr(site->file, '/'), *name = site->file;
    if (slash && slash[1])
        name = slash + 1;
    /* Without debug information a site has only its function, or nothing. */
    bool has_line = *name && site->line > 0;
    if (!*name)
        name = site->function ? site->function : "?";
    if (has_line)
        snprintf(buffer, SITE_TEXT_SIZE, "%.*s:%" PRId32, text_beginning(name, 100), name, site->line);
    else
        snprintf(buffer, SITE_TEXT_SIZE, "%.*s", text_beginning(name, 100), name);
    return buffer;
}

char *site_where(char buffer[SITE_WHERE_SIZE], const struct site_def *site)
{
    char text[SITE_TEXT_SIZE];
    const char *link = *site->file && site->function ? strstr(site->function, SITE_FUNCTIONS_LINK) : NULL;
    int used = snprintf(buffer, SITE_WHERE_SIZE, "%s %s", *site->file ? "at" : "in", site_text(text, site));
    if (link) {
        link += strlen(SITE_FUNCTIONS_LINK);
        snprintf(buffer + used, SITE_WHERE_SIZE - (size_t)used, " by way of %.*s", text_beginning(link, 60), link);
    }
    return buffer;
}

void finding_takes_waits(struct finding *finding, const struct analysis *analysis)
{
    analysis_waiting_course(analysis, finding->course_ns);
    /* Waiting in MPI_Init is a finding of its own (late-start). */
    for (size_t bin = 0; bin < COURSE_BINS; bin++)
        finding->course_ns[bin] -= analysis->waits[WAIT_AT_INIT].course_ns[bin];
}

void finding_keeps_window(struct finding *finding, const struct analysis *analysis)
{
    for (size_t bin = 0; bin < COURSE_BINS; bin++)
        if ((double)course_edge(analysis->duration, bin + 1) <= finding->from_s * 1e9 ||
            (double)course_edge(analysis->duration, bin) >= finding->to_s * 1e9)
            finding->course_ns[bin] = 0;
}

void finding_takes_calls(struct finding *finding, const struct analysis *analysis, size_t state)
{
    const int64_t *own_ns = analysis->own_course_ns[state];
    for (size_t bin = 0; own_ns && bin < COURSE_BINS; bin++)
        time_add(&finding->course_ns[bin], own_ns[bin]);
}

void finding_evidence(struct finding *finding, const char *name, double value, bool is_time)
{
    if (finding->evidence_count < FINDING_EVIDENCE)
        finding->evidence[finding->evidence_count++] = (struct detail){name, value, is_time};
}

char *findings_none(const struct findings *findings, char line[FINDINGS_NONE_SIZE])
{
    char floor[TEXT_NUMBER_SIZE], chance[TEXT_NUMBER_SIZE];
    const char *limit = "1 % of the run";
    if (findings->without_start)
        limit = "1 % of the run, excluding the start and end of MPI";
    if (findings->clock_limits)
        limit = "the clock error of this trace";
    snprintf(line, FINDINGS_NONE_SIZE, "No finding above %s (%s)", seconds_text(floor, findings->floor_s), limit);
    if (findings->chance_s > findings->floor_s)
        text_append(line, FINDINGS_NONE_SIZE, ", or %s where chance may explain it",
                    seconds_text(chance, findings->chance_s));
    text_append(line, FINDINGS_NONE_SIZE, ".");
    return line;
}

bool finding_is_shortage(enum finding_kind kind)
{
    static const uint64_t shortages = FINDING_BIT(shared_core) | FINDING_BIT(idle_core) | FINDING_BIT(slow_node) |
                                      FINDING_BIT(paging) | FINDING_BIT(disk_wait) | FINDING_BIT(memory_growth);
    return kind < FINDING_KINDS && (shortages >> kind & 1) != 0;
}
