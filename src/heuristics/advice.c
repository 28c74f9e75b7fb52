/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/advice.h"

#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/master.h"
#include "heuristics/traffic.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A master that is busy for this share of the run limits it. The rest of its time is what any process loses in a run of
   acceptable efficiency. */
static const double BUSY = 0.8;

/* POP's limits for acceptable (co-design.pop-coe.eu/metrics) and for balanced (rules of diagnosis, 7.2). */
static const double ACCEPTABLE = 0.8, BALANCED = 0.9;

/* Messages are uneven if one process has this many times the mean (rules of diagnosis, 7.2: communication imbalance).
 */
static const double UNEVEN = 1.5;

/* A process with this share of the blame is the only one to blame; the rest is noise of the others. */
static const double ALONE = 0.95;

struct setting {
    const struct finding_input *input;
    const struct structure *structure;
    const struct finding *finding;
};

/* The output of a condition: processes or a function, and a share. */
struct reason {
    char who[80];
    double share;
    char more[200]; /* a sentence after the reason; empty: none */
};

/* A master changes between receiving and sending with each message. Who does so less often than this share of them
   collects from all, or sends to all. */
static const double IN_ROUNDS = 0.6;

static bool serves_in_rounds(const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    return analysis && analysis->process_count == metrics->process_count && analysis->hub_messages > 0 &&
           (double)analysis->hub_turns < IN_ROUNDS * (double)analysis->hub_messages;
}

struct structure structure_of_run(const struct metrics *metrics)
{
    struct traffic traffic = traffic_of(metrics);
    struct structure structure = structure_of(&(struct structure_input){.pairs = traffic.pairs,
                                                                        .pair_count = traffic.count,
                                                                        .processes = (uint32_t)metrics->process_count,
                                                                        .message_time = -1,
                                                                        .message_bytes = -1});
    /* Too few processes for a template still have a structure without any messages: their advice is on collectives. */
    if (traffic.count == 0)
        structure.kind = STRUCTURE_COLLECTIVE;
    /* The matrix of a reduction by hand is that of a master. Only the order of its messages shows that it hands out no
       work: then advice about workers would be wrong. */
    bool hub = structure.kind == STRUCTURE_MASTER_WORKER && structure.best.centre < metrics->process_count;
    if (hub && serves_in_rounds(metrics) && master_of(metrics) != (int64_t)metrics->process[structure.best.centre].rank)
        structure.kind = structure.best.kind = STRUCTURE_STAR;
    traffic_clear(&traffic);
    return structure;
}

static bool anything(const struct setting *setting, struct reason *reason)
{
    (void)setting;
    (void)reason;
    return true;
}

/* The share of the run in which the row of the metrics does not wait. Time in MPI beyond waiting counts as busy: a
   master spends it serving its workers. */
static double busy_share(const struct analysis *analysis, size_t row)
{
    double waits = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        waits += (double)analysis->waits[kind].victims_ns[row];
    return analysis->duration > 0 ? 1 - waits / (double)analysis->duration : 0;
}

/* True if the master is the process waited for. */
static bool master(const struct setting *setting, struct reason *reason)
{
    const struct finding *finding = setting->finding;
    size_t row = setting->structure->best.centre;
    if (row >= setting->input->metrics->process_count || finding->causes.count != 1 ||
        finding->causes.rank[0] != setting->input->metrics->process[row].rank)
        return false;
    snprintf(reason->who, sizeof reason->who, "%" PRIu32, finding->causes.rank[0]);
    reason->share = busy_share(setting->input->analysis, row);
    return true;
}

/* What it does once, as reading input is, does not serve the workers. */
static bool master_is_busy(const struct setting *setting, struct reason *reason)
{
    bool once = setting->finding->kind == FINDING_compute_imbalance && finding_is_once(setting->input);
    return !once && master(setting, reason) && reason->share >= BUSY;
}

static bool master_has_time(const struct setting *setting, struct reason *reason)
{
    return master(setting, reason) && reason->share < BUSY;
}

/* This part of the saving is that of even workers, at least. */
static const double OF_WORKERS = 0.5;

/* The process with the most work is not the master, and it is the workers that differ, not they from the master. */
static bool workers_are_uneven(const struct setting *setting, struct reason *reason)
{
    const struct metrics *metrics = setting->input->metrics;
    size_t centre = setting->structure->best.centre, count = metrics->process_count;
    double most_s = 0, sum_s = 0;
    for (size_t i = 0; i < count; i++) {
        double compute_s = i == centre ? 0 : (double)metrics_compute_ns(metrics, i) / 1e9;
        most_s = fmax(compute_s, most_s);
        sum_s += compute_s;
    }
    double beyond_s = most_s - ratio_of(sum_s, (double)(count - (centre < count)));
    return !master(setting, reason) && beyond_s >= OF_WORKERS * setting->finding->saving_s;
}

/* The shares of all messages that the centre of a star sends and receives; below 0: there is no star. */
struct centre {
    double sends, receives;
    double messages; /* all */
};

static struct centre centre_of(const struct setting *setting, struct reason *reason)
{
    struct traffic traffic = traffic_of(setting->input->metrics);
    struct centre centre = {.sends = -1, .receives = -1};
    size_t row = setting->structure->best.centre;
    double sent = 0, received = 0;
    for (size_t i = 0; i < traffic.count; i++) {
        sent += traffic.pairs[i].from == row ? (double)traffic.pairs[i].messages : 0;
        received += traffic.pairs[i].to == row ? (double)traffic.pairs[i].messages : 0;
    }
    if (traffic.messages > 0 && row < setting->input->metrics->process_count) {
        snprintf(reason->who, sizeof reason->who, "%" PRIu32, setting->input->metrics->process[row].rank);
        centre.messages = (double)traffic.messages;
        centre.sends = sent / centre.messages;
        centre.receives = received / centre.messages;
    }
    traffic_clear(&traffic);
    return centre;
}

/* A master that sends each worker a message at most hands out no work while they compute. */
static bool shares_are_fixed(const struct setting *setting, struct reason *reason)
{
    struct centre centre = centre_of(setting, reason);
    double workers = (double)setting->input->metrics->process_count - 1;
    return centre.sends >= 0 && centre.sends * centre.messages <= workers && workers_are_uneven(setting, reason);
}

/* The pattern of the messages says nothing about calls that move none: barriers, collectives, files. */
static bool is_about_messages(const struct setting *setting)
{
    const struct defs *defs = setting->input->metrics->defs;
    if (setting->finding->kind != FINDING_transfer || !setting->finding->functions[0])
        return true;
    int32_t state = defs_find_state(defs, setting->finding->functions[0]);
    if (state < 0)
        return true;
    enum function_class class = defs->states[state].class;
    return class == CLASS_P2P || class == CLASS_WAIT || class == CLASS_PROBE;
}

/* A master also gets answers. */
static bool one_sends_to_all(const struct setting *setting, struct reason *reason)
{
    reason->share = centre_of(setting, reason).sends;
    return is_about_messages(setting) && reason->share >= ALONE;
}

static bool one_gets_from_all(const struct setting *setting, struct reason *reason)
{
    reason->share = centre_of(setting, reason).receives;
    return is_about_messages(setting) && reason->share >= ALONE;
}

/* Getting a task costs at least a tenth of computing it, and each worker gets so many. Messages of more bytes are slow
   for what they carry, which larger tasks may have more of. */
enum { TASK_COSTS = 10, MANY_TASKS = 10, SMALL_BYTES = 1024 };

/* Small messages that take longer on average are held up by something else: a lack of cores, or a broken clock. */
static const double MESSAGES_MOST_S = 1e-3;

/* A master of tiny tasks computes as long as its workers: then only the messages show it. -1: there is none. */
static int64_t master_by_messages(const struct setting *setting)
{
    const struct metrics *metrics = setting->input->metrics;
    const struct structure *structure = setting->structure;
    bool known = structure->kind == STRUCTURE_MASTER_WORKER && !structure->ambiguous &&
                 structure->best.centre < metrics->process_count;
    return known ? (int64_t)metrics->process[structure->best.centre].rank : master_of(metrics);
}

/* Tasks so many times as large at most, and with so many left for each worker that they still even out. */
enum { MERGED_MOST = 20, LEFT_LEAST = 10 };

/* What larger tasks would save: of all that workers spend on messages for tasks one part in `merged` remains, also of
   the queue at the master, which serves as many times fewer. The longest wait may be for the master's own start, and
   remains. No replay says so: a replay keeps the messages. */
static void say_merged(const struct setting *setting, const struct tasks *tasks, struct reason *reason)
{
    const struct analysis *analysis = setting->input->analysis;
    double merged = fmin(floor(tasks->count / tasks->workers / LEFT_LEAST), MERGED_MOST);
    double longest_s =
        (double)larger(analysis->waits[WAIT_LATE_SENDER].longest_ns, analysis->waits[WAIT_LATE_RECEIVER].longest_ns) /
        1e9;
    double spent_s = (tasks->moving_s + tasks->waiting_s) / tasks->workers - longest_s;
    double saved_s = spent_s * (1 - 1 / merged);
    char time[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
    if (merged < 2 || saved_s * 1e9 <= FINDING_NOISE * (double)analysis->duration)
        return;
    seconds_text(time, saved_s);
    snprintf(reason->more, sizeof reason->more, "Tasks %.0f times as large would save about %s, %s of the run.", merged,
             time, text_share(share, ratio_of(saved_s * 1e9, (double)analysis->duration)));
}

/* Tasks that a worker is done with before the messages for it, or those for all other workers at the master, take a
   small part of that time. A master that collects from all before it answers hands out no tasks. */
static bool tasks_are_small(const struct setting *setting, struct reason *reason)
{
    const struct metrics *metrics = setting->input->metrics;
    int64_t hub = master_by_messages(setting);
    if (hub < 0 || !is_about_messages(setting) || !finding_roots_known(setting->input->analysis))
        return false;
    struct tasks tasks = tasks_of(metrics, (uint32_t)hub);
    double spent_s = tasks.moving_s + tasks.waiting_s;
    if (fmax(tasks.moving_s, tasks.serving_s) >= MESSAGES_MOST_S * tasks.count)
        return false;
    if (tasks.count < MANY_TASKS * tasks.workers || serves_in_rounds(metrics) || tasks.bytes >= SMALL_BYTES ||
        tasks.computed_s >= fmax(TASK_COSTS * tasks.moving_s, tasks.workers * tasks.serving_s))
        return false;
    seconds_text(reason->who, ratio_of(tasks.computed_s, tasks.count));
    reason->share = ratio_of(spent_s, spent_s + tasks.computed_s);
    say_merged(setting, &tasks, reason);
    return true;
}

/* So few processes compute at the same time, on average, that they work one after the other: 1, and what the ends of
   two turns overlap by. */
static const double AT_A_TIME = 1.5;

/* How many compute at the same time, on average, on an ideal network. */
static double computing_at_once(const struct setting *setting)
{
    const struct analysis *analysis = setting->input->analysis;
    return analysis->load_balance * analysis->serialisation * (double)analysis->process_count;
}

/* One process at a time, and not one of them mostly. */
static bool works_in_turn(const struct setting *setting)
{
    double serialisation = setting->input->analysis->serialisation;
    return serialisation > 0 && serialisation < ACCEPTABLE && computing_at_once(setting) < AT_A_TIME;
}

/* N work items through P stages keep these busy N / (N + P - 1) of the time. */
static void pipeline(const struct setting *setting, struct reason *reason)
{
    struct traffic traffic = traffic_of(setting->input->metrics);
    double stages = (double)setting->structure->processes,
           pieces = ratio_of((double)traffic.messages, (double)traffic.count);
    char count[TEXT_NUMBER_SIZE];
    snprintf(reason->who, sizeof reason->who, "P = %.0f stages with N = %s pieces each", stages,
             text_thousands(count, text_whole(pieces)));
    reason->share = ratio_of(pieces, pieces + stages - 1);
    traffic_clear(&traffic);
}

/* A pipeline that does not reach this part of what its pieces allow has another problem: it may be filled again and
   again. */
static const double OF_PIPELINE = 0.6;

/* Whether it works as a pipeline, as far as is known. */
static bool keeps_filled(const struct setting *setting, double bound)
{
    return setting->input->analysis->serialisation <= 0 ||
           computing_at_once(setting) >= OF_PIPELINE * bound * (double)setting->structure->processes;
}

static bool pieces_are_few(const struct setting *setting, struct reason *reason)
{
    pipeline(setting, reason);
    return reason->share < ACCEPTABLE && keeps_filled(setting, reason->share);
}

static bool stages_are_even(const struct setting *setting)
{
    return setting->input->analysis->load_balance >= BALANCED;
}

/* The last stage has its first piece after P - 1 others, and the first stage is done as long before the last: with
   stages that take equally long that is all that is lost. What the calls take comes on top. */
static const double FILLING = 1.5;

static bool pipeline_only_fills(const struct setting *setting, struct reason *reason)
{
    const struct metrics *metrics = setting->input->metrics;
    double compute_s = 0, stages = (double)setting->structure->processes;
    pipeline(setting, reason);
    for (size_t i = 0; i < metrics->process_count; i++)
        compute_s += (double)metrics_compute_ns(metrics, i) / 1e9 / (double)metrics->process_count;
    /* A share of N / (N + P - 1) is one of (P - 1) / N pieces lost for each that is worked on. */
    double fill_s = stages > 0 ? compute_s * (1 / reason->share - 1) : 0;
    return reason->share >= ACCEPTABLE && stages_are_even(setting) && setting->finding->saving_s <= FILLING * fill_s;
}

static bool pieces_differ(const struct setting *setting, struct reason *reason)
{
    pipeline(setting, reason);
    bool many = reason->share >= ACCEPTABLE;
    reason->share = setting->input->analysis->load_balance;
    return many && stages_are_even(setting);
}

static bool pieces_are_many(const struct setting *setting, struct reason *reason)
{
    pipeline(setting, reason);
    /* Stages that take unequally long keep the others waiting. */
    double bound = reason->share * setting->input->analysis->load_balance;
    return reason->share >= ACCEPTABLE && keeps_filled(setting, bound);
}

/* Messages that carry so little say only whose turn it is: a number or two, such as an offset in a file. */
enum { TOKEN_BYTES = 16 };

static bool passes_token(const struct setting *setting, struct reason *reason)
{
    const struct analysis *analysis = setting->input->analysis;
    uint64_t bytes, messages = metrics_messages(setting->input->metrics, &bytes);
    bool token = messages > 0 && bytes <= TOKEN_BYTES * messages && metrics_sizes_known(setting->input->metrics);
    text_bytes(reason->who, messages > 0 ? bytes / messages : 0);
    reason->share = analysis->serialisation;
    return token && works_in_turn(setting);
}

/* Each waits for what the one before it hands on. */
static bool is_chain(const struct setting *setting, struct reason *reason)
{
    uint64_t bytes, messages = metrics_messages(setting->input->metrics, &bytes);
    if (metrics_sizes_known(setting->input->metrics))
        text_bytes(reason->who, messages > 0 ? bytes / messages : 0);
    else
        snprintf(reason->who, sizeof reason->who, "%s", "data");
    reason->share = setting->input->analysis->serialisation;
    return works_in_turn(setting);
}

/* Neighbours in a grid that compute one after the other though they have equal work. */
static bool is_sweep(const struct setting *setting, struct reason *reason)
{
    const struct analysis *analysis = setting->input->analysis;
    snprintf(reason->who, sizeof reason->who, "%s", "the critical path");
    reason->share = analysis->serialisation;
    return analysis->load_balance >= BALANCED && analysis->serialisation > 0 && analysis->serialisation < ACCEPTABLE;
}

static bool work_is_uneven(const struct setting *setting, struct reason *reason)
{
    const char *function = setting->finding->functions[0];
    if (!function)
        function = "MPI";
    snprintf(reason->who, sizeof reason->who, "%.*s", text_beginning(function, 60), function);
    reason->share = setting->input->analysis->load_balance;
    return reason->share > 0 && reason->share < BALANCED;
}

/* All others wait, for one. */
static bool one_works_alone(const struct setting *setting, struct reason *reason)
{
    const struct finding *finding = setting->finding;
    const struct analysis *analysis = setting->input->analysis;
    const struct wait_sums *sums = &analysis->waits[finding_wait(finding->kind)];
    size_t all = analysis->process_count, row = 0;
    /* Of two processes one always waits for one. */
    if (finding->causes.count != 1 || all < 3 || finding->victims.count + 1 < all)
        return false;
    while (row < all && setting->input->metrics->process[row].rank != finding->causes.rank[0])
        row++;
    snprintf(reason->who, sizeof reason->who, "%" PRIu32, finding->causes.rank[0]);
    /* How long all others wait for it, in the mean: that part of the run is serial. */
    reason->share = (double)sums->ns / (double)(all - 1) / (double)analysis->duration;
    /* A process that waits for messages itself does not work alone. */
    return row < all && (double)sums->causes_ns[row] >= ALONE * (double)sums->ns && busy_share(analysis, row) >= BUSY;
}

/* How long all others wait for the root of collectives that starts them: what each of them waits at least. */
static int64_t others_wait_for_root(const struct analysis *analysis, size_t root)
{
    const struct wait_sums *sums = &analysis->waits[WAIT_LATE_BROADCAST];
    int64_t least_ns = INT64_MAX;
    /* Of two processes one always waits for one. */
    if (analysis->process_count < 3 || (double)sums->causes_ns[root] < ALONE * (double)sums->ns)
        return 0;
    for (size_t i = 0; i < analysis->process_count; i++)
        if (i != root)
            least_ns = smaller(sums->victims_ns[i], least_ns);
    return least_ns;
}

/* Most of the saving from even work is where one process computes and no other. */
static bool one_computes_alone(const struct setting *setting, struct reason *reason)
{
    const struct analysis *analysis = setting->input->analysis;
    const struct finding *finding = setting->finding;
    size_t row = 0;
    if (finding->causes.count != 1)
        return false;
    while (row < analysis->process_count && setting->input->metrics->process[row].rank != finding->causes.rank[0])
        row++;
    if (row >= analysis->process_count)
        return false;
    int64_t alone_ns = row == (size_t)analysis->alone_process ? analysis->alone : 0;
    alone_ns = larger(alone_ns, others_wait_for_root(analysis, row));
    snprintf(reason->who, sizeof reason->who, "%" PRIu32, finding->causes.rank[0]);
    reason->share = (double)alone_ns / (double)analysis->duration;
    return (double)alone_ns / 1e9 > finding->saving_s / 2;
}

static bool one_does_all(const struct setting *setting, struct reason *reason)
{
    (void)reason;
    return setting->finding->victims.count == 1 && setting->input->analysis->process_count > 1;
}

/* The process with most work changes during the run, or has more and more work. */
static bool imbalance_moves(const struct setting *setting, struct reason *reason)
{
    const struct phase_metrics *phases = setting->input->metrics->phases;
    (void)reason;
    if (!phases)
        return false;
    enum iteration_class kind = phases->iterations.kind;
    return kind == ITERATION_GROWING || kind == ITERATION_FALLING || kind == ITERATION_ROTATING;
}

/* Computing is even, but some have far more messages than the mean. */
static bool messages_are_uneven(const struct setting *setting, struct reason *reason)
{
    const struct metrics *metrics = setting->input->metrics;
    double most = 0, all = 0;
    (void)reason;
    for (size_t i = 0; i < metrics->process_count; i++) {
        double messages = (double)metrics->process[i].messages_sent + (double)metrics->process[i].messages_received;
        most = larger(messages, most);
        all += messages;
    }
    return setting->input->analysis->load_balance > BALANCED && most * (double)metrics->process_count > UNEVEN * all;
}

enum { STRUCTURE_ANY = -1 };

static const struct advice {
    int structure;     /* enum structure_kind or STRUCTURE_ANY */
    uint64_t findings; /* a set of FINDING_BIT */
    bool (*holds)(const struct setting *setting, struct reason *reason);
    const char *why, *advice;
} advices[] = {
#define IS(name) | FINDING_BIT(name)
#define ADVICE(structure, findings, condition, why, advice) {STRUCTURE_##structure, 0 findings, condition, why, advice},
#include "heuristics/advice.def"
};

static const struct pattern_row {
    uint64_t findings; /* a set of FINDING_BIT */
    bool (*holds)(const struct setting *setting, struct reason *reason);
    const char *pattern, *best_practice;
} patterns[] = {
#define PATTERN(findings, condition, pattern, best_practice) {0 findings, condition, pattern, best_practice},
#include "heuristics/patterns.def"
#undef IS
};

static void say_why(struct finding *finding, const char *why, const struct reason *reason)
{
    char sentence[400], share[TEXT_NUMBER_SIZE];
    size_t used = strlen(finding->text);
    const char *second = strstr(why, "%s");
    /* The rows are literals of this program: none, or two, places for texts. */
    if (second)
        snprintf(sentence, sizeof sentence, "%.*s%s%.*s%s%s", (int)(second - why), why, reason->who,
                 (int)(strstr(second + 2, "%s") - second - 2), second + 2, text_share(share, reason->share),
                 strstr(second + 2, "%s") + 2);
    else
        snprintf(sentence, sizeof sentence, "%s", why);
    if (*why && used + strlen(sentence) + 2 < sizeof finding->text)
        used += (size_t)snprintf(finding->text + used, sizeof finding->text - used, " %s", sentence);
    if (*reason->more && used + strlen(reason->more) + 2 < sizeof finding->text)
        snprintf(finding->text + used, sizeof finding->text - used, " %s", reason->more);
}

void advice_fit(const struct finding_input *input, const struct structure *structure, struct finding *finding)
{
    struct setting setting = {input, structure, finding};
    struct reason reason = {0};
    /* The rows go from the special to the general: the first that fits is used. Where two structures explain the
       messages alike, no advice may rest on one of them. */
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++) {
        const struct advice *row = &advices[i];
        bool fits =
            row->structure == STRUCTURE_ANY || (row->structure == (int)structure->kind && !structure->ambiguous);
        if (!fits || !(row->findings >> finding->kind & 1) || !row->holds(&setting, &reason))
            continue;
        say_why(finding, row->why, &reason);
        snprintf(finding->advice, sizeof finding->advice, "%s", row->advice);
        break;
    }
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns && !finding->pattern; i++)
        if ((patterns[i].findings >> finding->kind & 1) && patterns[i].holds(&setting, &reason)) {
            finding->pattern = patterns[i].pattern;
            finding->best_practice = patterns[i].best_practice;
        }
}
