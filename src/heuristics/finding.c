/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/finding.h"

#include "core/memory.h"
#include "core/text.h"
#include "heuristics/advice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FINDER(id, function) bool function(const struct finding_input *input, struct finding *finding);
#include "heuristics/findings.def"

static const struct finder {
    const char *id;
    bool (*find)(const struct finding_input *input, struct finding *finding);
} finders[] = {
#define FINDER(id, function) {id, function},
#include "heuristics/findings.def"
};

enum { FINDERS = sizeof finders / sizeof *finders };

/* Less than this share of the run is noise. */
static const double NOISE = 0.01;

/* Who saves this part of what another does saves the same. */
static const double SAME = 0.9;

/* More messages against causality, and clocks that were bent by more of the median wait, leave too much open. */
static const double EARLY_PART = 0.001, BENT_PART = 0.1;

bool finding_id_known(const char *id)
{
    for (size_t i = 0; i < FINDERS; i++)
        if (strcmp(finders[i].id, id) == 0)
            return true;
    return false;
}

const char *finding_id_at(size_t index)
{
    return index < FINDERS ? finders[index].id : NULL;
}

static void finding_clear(struct finding *finding)
{
    free(finding->victims.rank);
    free(finding->causes.rank);
    *finding = (struct finding){0};
}

/* Place of the finding in the table: ids are pointers into it. */
static size_t place_of(const struct finding *finding)
{
    size_t place = 0;
    while (place < FINDERS && finders[place].id != finding->id)
        place++;
    return place;
}

/* Who follows from another does not stand before it. */
static int by_saving(const void *a, const void *b)
{
    const struct finding *left = a, *right = b;
    if (left->saving_s != right->saving_s)
        return left->saving_s > right->saving_s ? -1 : 1;
    size_t first = place_of(left), second = place_of(right);
    return (first > second) - (first < second);
}

/* What can follow from what. Waiting that even work would end follows from the imbalance: of the totals, or else of the
   iterations; but not what costs by itself. Who queues waits for one that is late because it serves others. */
static const struct root {
    const char *id;
    bool all; /* of all but these */
    const char *others;
} roots[] = {
    {"dynamic-imbalance", false, "compute-imbalance"},
    {"compute-imbalance", true, "small-messages transfer excessive-synchronisation late-start"},
    {"dynamic-imbalance", true, "small-messages transfer excessive-synchronisation late-start"},
    {"wrong-order", false, "late-sender late-receiver late-broadcast serialisation wait-at-nxn wait-at-barrier"},
    {"io", false, "transfer late-receiver late-sender contention serialisation wait-at-nxn wait-at-barrier"},
    {"excessive-synchronisation", false, "transfer"},
    {"small-messages", false, "transfer"},
    {"contention", false, "late-sender late-receiver wrong-order serialisation wait-at-nxn wait-at-barrier wait-at-io"},
};

static struct finding *finding_of(const struct findings *findings, const char *id)
{
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->finding[i].id, id) == 0)
            return &findings->finding[i];
    return NULL;
}

/* Waits that take processes out of step. */
static const char TURNS[] = "contention wrong-order late-sender late-receiver late-broadcast early-reduce early-scan "
                            "late-post late-complete lock-contention wait-at-nxn wait-at-barrier wait-at-fence";

/* That processes take turns and that they wait for each other is one problem. Where a few are waited for, the wait says
   more, and is the root: the turns save no more than it does. Where all wait for all, the turns are. */
static void join_turns(struct findings *findings, size_t processes)
{
    struct finding *turns = finding_of(findings, "serialisation");
    const struct finding *told = NULL;
    for (size_t i = 0; turns && i < findings->count; i++) {
        struct finding *finding = &findings->finding[i];
        if (!text_is_one_of(TURNS, finding->id) || finding->saving_s < SAME * turns->saving_s)
            continue;
        if (finding->causes.count * 2 > processes + 1)
            finding->root = finding->root ? finding->root : turns->id;
        else if (!told || finding->saving_s > told->saving_s)
            told = finding;
    }
    if (!told)
        return;
    turns->root = turns->root ? turns->root : told->id;
    if (told->saving_s < turns->saving_s) {
        turns->saving_s = told->saving_s;
        turns->share = told->share;
    }
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

static void name_roots(struct findings *findings)
{
    for (size_t r = 0; r < sizeof roots / sizeof *roots; r++) {
        const struct finding *root = finding_of(findings, roots[r].id);
        for (size_t i = 0; root && i < findings->count; i++) {
            struct finding *finding = &findings->finding[i];
            if (finding != root && !finding->root && root->root != finding->id &&
                text_is_one_of(roots[r].others, finding->id) != roots[r].all && root->saving_s >= finding->saving_s / 2)
                finding->root = root->id;
        }
    }
}

struct findings findings_of(const struct metrics *metrics, const struct heuristic_result *results)
{
    struct findings findings = {0};
    struct finding_input whole = {metrics, results, metrics->analysis}, *input = &whole;
    if (!metrics->analysis || metrics->analysis->process_count != metrics->process_count)
        return findings;
    size_t capacity = 0;
    struct structure structure = structure_of_run(metrics);
    const struct analysis *analysis = input->analysis;
    int64_t clock_ns = analysis->clock_rest > analysis->clock_error ? analysis->clock_rest : analysis->clock_error;
    double duration = (double)analysis->duration / 1e9, clock = (double)clock_ns / 1e9;
    findings.clock_limits = clock > NOISE * duration;
    findings.floor_s = findings.clock_limits ? clock : NOISE * duration;
    for (size_t i = 0; i < FINDERS; i++) {
        struct finding finding = {.id = finders[i].id};
        bool found = finders[i].find(input, &finding);
        if (found)
            advice_fit(input, &structure, &finding);
        finding.share = duration > 0 ? finding.saving_s / duration : 0;
        if (found && finding.saving_s > findings.floor_s) {
            ARRAY_PUSH(findings.finding, findings.count, capacity, finding);
            continue;
        }
        findings.below_clock += found && finding.saving_s > NOISE * duration;
        finding_clear(&finding);
    }
    finding_caveat(input, findings.caveat);
    if (finding_roots_known(analysis)) {
        name_roots(&findings);
        join_turns(&findings, metrics->process_count);
    }
    if (findings.count > 0)
        qsort(findings.finding, findings.count, sizeof *findings.finding, by_saving);
    return findings;
}

void findings_clear(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        finding_clear(&findings->finding[i]);
    free(findings->finding);
    *findings = (struct findings){0};
}

double finding_noise(const struct analysis *analysis)
{
    double processes = (double)analysis->process_count;
    return processes > 1 ? NOISE * sqrt(2 * log(processes)) * (double)analysis->duration : 0;
}

struct part {
    int64_t ns;
    uint32_t rank;
};

static int by_time(const void *a, const void *b)
{
    const struct part *left = a, *right = b;
    if (left->ns != right->ns)
        return left->ns > right->ns ? -1 : 1;
    return left->rank < right->rank ? -1 : 1;
}

static int by_rank(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* Who holds nearly as much as another is not told apart from it. */
static bool is_alike(const struct part *part, const struct part *other)
{
    return part->ns > 0 && (double)part->ns >= 0.9 * (double)other->ns;
}

/* Until `part` of the sum is held, of those who hold `least` of the largest. */
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
    for (size_t i = 0; i < count && (taken < part * all || (i > 0 && is_alike(&parts[i], &parts[last]))); i++) {
        if ((double)parts[i].ns < least * (double)parts[0].ns)
            break;
        last = taken < part * all ? i : last;
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
        snprintf(buffer, WHO_SIZE, ranks->count == 1 ? "process %s" : "processes %s",
                 ranks_text(text, ranks->rank, ranks->count));
    return buffer;
}

char *site_text(char buffer[SITE_TEXT_SIZE], const struct site_def *site)
{
    const char *slash = strrchr(site->file, '/'), *name = slash && slash[1] ? slash + 1 : site->file;
    if (!*name)
        snprintf(buffer, SITE_TEXT_SIZE, "%.*s", text_beginning(site->function ? site->function : "?", 100),
                 site->function ? site->function : "?");
    else if (site->line > 0)
        snprintf(buffer, SITE_TEXT_SIZE, "%.*s:%" PRId32, text_beginning(name, 100), name, site->line);
    else
        snprintf(buffer, SITE_TEXT_SIZE, "%.*s", text_beginning(name, 100), name);
    return buffer;
}

void finding_takes_waits(struct finding *finding, const struct analysis *analysis)
{
    analysis_waiting_course(analysis, finding->course_ns);
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
