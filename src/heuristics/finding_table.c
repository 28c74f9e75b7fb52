/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of finders, and the relations between their findings. */
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/advice.h"
#include "heuristics/efficiency.h"
#include "heuristics/finding.h"
#include "heuristics/finding_code.h"

#include <stdlib.h>
#include <string.h>

static bool (*const finders[])(const struct finding_input *input, struct finding *finding) = {
#define FINDER(name, ...) find_##name,
#include "heuristics/findings.def"
};

/* A finding with this part of another's saving saves the same: replays of two fixes for one problem differ that much.
 */
static const double SAME = 0.9;

static void finding_clear(struct finding *finding)
{
    free(finding->victims.rank);
    free(finding->causes.rank);
    *finding = (struct finding){0};
}

/* Which findings can cause which. Waiting that even work would end is caused by the imbalance: of the totals, or else
   of the iterations; but not findings with a cost of their own. A process in a queue waits for one that is late because
   it serves others. */
#define BIT FINDING_BIT
#define SHORTAGES                                                                                                      \
    (BIT(shared_core) | BIT(idle_core) | BIT(slow_node) | BIT(paging) | BIT(disk_wait) | BIT(memory_growth))
#define THREADS (BIT(uneven_threads) | BIT(serial_threads) | BIT(short_regions))
#define STARTS (BIT(late_start) | BIT(spawn))
static const struct root {
    enum finding_kind root;
    uint64_t others;
} roots[] = {
    {FINDING_slow_link, BIT(transfer) | BIT(late_sender) | BIT(late_receiver) | BIT(wrong_order) | BIT(contention) |
                            BIT(serialisation) | BIT(late_broadcast) | BIT(early_reduce) | BIT(early_scan) |
                            BIT(wait_at_nxn) | BIT(wait_at_barrier) | BIT(excessive_synchronisation)},
    {FINDING_dynamic_imbalance, BIT(compute_imbalance)},
    {FINDING_compute_imbalance, ~(BIT(small_messages) | BIT(transfer) | BIT(excessive_synchronisation) | STARTS |
                                  BIT(oversubscription) | BIT(slow_link) | SHORTAGES | THREADS)},
    {FINDING_dynamic_imbalance, ~(BIT(small_messages) | BIT(transfer) | BIT(excessive_synchronisation) | STARTS |
                                  BIT(oversubscription) | BIT(slow_link) | SHORTAGES | THREADS)},
    {FINDING_late_broadcast, BIT(wait_at_barrier) | BIT(wait_at_nxn)},
    {FINDING_late_receiver, BIT(wait_at_barrier) | BIT(wait_at_nxn) | BIT(transfer)},
    {FINDING_wrong_order, BIT(late_sender) | BIT(late_receiver) | BIT(late_broadcast) | BIT(serialisation) |
                              BIT(wait_at_nxn) | BIT(wait_at_barrier)},
    {FINDING_io, BIT(transfer) | BIT(late_receiver) | BIT(late_sender) | BIT(contention) | BIT(serialisation) |
                     BIT(wait_at_nxn) | BIT(wait_at_barrier)},
    {FINDING_excessive_synchronisation, BIT(transfer)},
    {FINDING_small_messages, BIT(transfer) | BIT(late_sender) | BIT(serialisation)},
    {FINDING_contention, BIT(late_sender) | BIT(late_receiver) | BIT(wrong_order) | BIT(serialisation) |
                             BIT(wait_at_nxn) | BIT(wait_at_barrier) | BIT(wait_at_io)},
};

static struct finding *finding_of(const struct findings *findings, enum finding_kind kind)
{
    for (size_t i = 0; i < findings->count; i++)
        if (findings->finding[i].kind == kind)
            return &findings->finding[i];
    return NULL;
}

/* A finding that follows from another comes after it, whatever it saves. */
static void find_places(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *finding = &findings->finding[i];
        const struct finding *root = finding;
        finding->place_s = finding->saving_s;
        /* No circle: there are as many steps as findings at most. */
        while (root->root && finding->depth < findings->count) {
            root = finding_of(findings, finding_find(root->root));
            finding->place_s = smaller(finding->place_s, root->saving_s);
            finding->depth++;
        }
    }
}

/* The largest saving first, for people who stop reading after one. Equal savings keep the order of findings.def, so
   that output does not depend on qsort. */
static int by_place(const void *a, const void *b)
{
    const struct finding *left = a, *right = b;
    if (left->place_s != right->place_s)
        return order_by(right->place_s, left->place_s);
    if (left->depth != right->depth)
        return order_by(left->depth, right->depth);
    return (left->kind > right->kind) - (left->kind < right->kind);
}

/* Waits that desynchronise processes. */
static const uint64_t TURNS = BIT(contention) | BIT(wrong_order) | BIT(late_sender) | BIT(late_receiver) |
                              BIT(late_broadcast) | BIT(early_reduce) | BIT(early_scan) | BIT(late_post) |
                              BIT(late_complete) | BIT(lock_contention) | BIT(late_target) | BIT(wait_at_nxn) |
                              BIT(wait_at_barrier) | BIT(wait_at_fence);
#undef BIT
#undef THREADS
#undef STARTS

/* The first root stays: the machine comes before the program. */
static void finding_follows(struct finding *finding, const struct finding *root)
{
    if (!finding->root)
        finding->root = root->id;
}

/* Taking turns and waiting for each other are one problem. If a few processes are waited for, the wait is more specific
   and is the root: the turns save no more than it does. If all wait for all, the turns are the root. */
static void join_turns(struct findings *findings, size_t processes)
{
    struct finding *turns = finding_of(findings, FINDING_serialisation);
    const struct finding *largest = NULL;
    for (size_t i = 0; turns && i < findings->count; i++) {
        struct finding *finding = &findings->finding[i];
        if (!(TURNS >> finding->kind & 1) || finding->saving_s < SAME * turns->saving_s)
            continue;
        if (finding->causes.count * 2 > processes + 1)
            finding_follows(finding, turns);
        else if (!largest || finding->saving_s > largest->saving_s)
            largest = finding;
    }
    if (!largest)
        return;
    finding_follows(turns, largest);
    if (largest->saving_s < turns->saving_s) {
        turns->saving_s = largest->saving_s;
        turns->share = largest->share;
    }
}

/* A wait is not caused by uneven work if even work leaves this much of its saving. */
static const double REMAINS = 0.5;

static bool remains_when_even(const struct analysis *analysis, const struct finding *finding)
{
    enum wait_kind wait = finding_wait(finding->kind);
    int64_t remains_ns = wait != WAIT_NONE ? analysis->waits[wait].remains_ns : 0;
    /* Two kinds of waits, but one replay. */
    if (finding->kind == FINDING_wrong_order)
        remains_ns = larger(analysis->waits[WAIT_WRONG_ORDER_SAME].remains_ns,
                            analysis->waits[WAIT_WRONG_ORDER_OTHER].remains_ns);
    return (double)remains_ns / 1e9 > REMAINS * finding->saving_s;
}

/* True if the waits of the finding end with the root. Of waits for a late root or receiver that is known only where
   work is uneven as well. */
static bool is_gone_without(enum finding_kind root, const struct finding_input *input, const struct finding *finding)
{
    const struct analysis *analysis = input->analysis;
    enum wait_kind wait = finding_wait(finding->kind);
    /* Senders that wait for receivers, which send first, hand their transfers on: none overlaps another. */
    if (root == FINDING_late_receiver && finding->kind == FINDING_transfer)
        return finding_transfers_in_turn(input, finding);
    switch (root) {
    case FINDING_late_broadcast:
    case FINDING_late_receiver:
        if (wait == WAIT_NONE || analysis->waits[wait].remains_ns < 0)
            return false;
        return !remains_when_even(analysis, finding);
    case FINDING_compute_imbalance:
    case FINDING_dynamic_imbalance:
        return !remains_when_even(analysis, finding);
    default:
        return true;
    }
}

static bool is_part_of(const struct ranks *part, const struct ranks *ranks)
{
    for (size_t i = 0; i < part->count; i++)
        if (!is_among(part->rank[i], ranks->rank, ranks->count))
            return false;
    return part->count > 0;
}

/* A root saves at least this part of what it causes. An order can be changed alone: even work that saves less is not
   the better advice. */
static double part_of_root(enum finding_kind kind)
{
    return kind == FINDING_wrong_order ? 0.75 : 0.5;
}

static void name_roots(const struct finding_input *input, struct findings *findings)
{
    const struct finding *machine = finding_of(findings, FINDING_oversubscription);
    for (size_t r = 0; r < sizeof roots / sizeof *roots; r++) {
        const struct finding *root = finding_of(findings, roots[r].root);
        for (size_t i = 0; root && i < findings->count; i++) {
            struct finding *finding = &findings->finding[i];
            /* What the machine may cause, and a root that it cannot cause does cause, follows from that. */
            bool open = !finding->root || (machine && finding->root == machine->id && !root->root);
            /* Neither a circle, nor a root that saves far less than what it is said to cause. */
            if (finding != root && open && root->root != finding->id && (roots[r].others >> finding->kind & 1) &&
                root->saving_s >= part_of_root(finding->kind) * finding->saving_s &&
                is_gone_without(roots[r].root, input, finding))
                finding->root = root->id;
        }
    }
}

static bool is_uneven(enum finding_kind kind)
{
    return kind == FINDING_compute_imbalance || kind == FINDING_dynamic_imbalance;
}

/* All wait for a few that come last because they have waited for something else, at the same time of the run: if that
   is late by itself, it does not matter what work is uneven somewhere else. */
static void name_late(const struct finding_input *input, const struct finding *late, struct findings *findings)
{
    static const enum finding_kind of_all[] = {FINDING_wait_at_barrier, FINDING_wait_at_nxn};
    /* Of turns in which all wait for all, late messages are a consequence: see join_turns. */
    bool own = late && !late->root && late->causes.count * 2 <= input->metrics->process_count;
    for (size_t i = 0; own && i < sizeof of_all / sizeof *of_all; i++) {
        struct finding *finding = finding_of(findings, of_all[i]);
        if (!finding || (finding->root && !is_uneven(finding_find(finding->root))))
            continue;
        if (finding->causes.count * 2 <= input->metrics->process_count &&
            is_part_of(&finding->causes, &late->victims) && late->saving_s >= finding->saving_s / 2 &&
            late->from_s < finding->to_s && finding->from_s < late->to_s)
            finding->root = late->id;
    }
}

/* From this part on the lack of cores explains a finding. */
static const double EXPLAINED = 0.5;

/* Lack of cores costs at least as much as it explains of anything that it causes: late starts it does not. Where clocks
   leave roots unknown, what the machine causes is still known: that takes no clock error. */
static void name_machine(const struct finding_input *input, struct findings *findings)
{
    const struct finding *machine = finding_of(findings, FINDING_oversubscription);
    for (size_t i = 0; machine && i < findings->count; i++) {
        struct finding *finding = &findings->finding[i];
        /* A late start and serial code are the program's, and what says which resource is short has its own measure. */
        bool own = finding->kind == FINDING_late_start || finding->kind == FINDING_spawn ||
                   finding->kind == FINDING_serial_threads || finding_is_shortage(finding->kind) || finding->by_cpu;
        if (finding != machine && !own && finding_machine_part(input, finding) >= EXPLAINED)
            finding->root = machine->id;
    }
}

/* Work is uneven because of a node, pages or disks that cost at least half of what it costs. */
static void name_shortage(struct findings *findings)
{
    static const enum finding_kind roots_of_work[] = {FINDING_slow_node, FINDING_paging, FINDING_disk_wait};
    static const enum finding_kind uneven[] = {FINDING_compute_imbalance, FINDING_dynamic_imbalance};
    const struct finding *most = NULL;
    for (size_t i = 0; i < sizeof roots_of_work / sizeof *roots_of_work; i++) {
        const struct finding *finding = finding_of(findings, roots_of_work[i]);
        if (finding && (!most || finding->saving_s > most->saving_s))
            most = finding;
    }
    for (size_t i = 0; most && i < sizeof uneven / sizeof *uneven; i++) {
        struct finding *finding = finding_of(findings, uneven[i]);
        if (finding && !finding->root && most->saving_s >= finding->saving_s / 2)
            finding->root = most->id;
    }
}

static void raise_machine(const struct finding_input *input, struct findings *findings)
{
    struct finding *machine = finding_of(findings, FINDING_oversubscription);
    double duration = (double)input->analysis->duration / 1e9, own_s = machine ? machine->saving_s : 0;
    for (size_t i = 0; machine && i < findings->count; i++) {
        const struct finding *finding = &findings->finding[i];
        if (finding->root == machine->id)
            machine->saving_s = larger(machine->saving_s, finding_machine_part(input, finding) * finding->saving_s);
        /* What says why cores are short comes after what says that they are. */
        if (finding->kind == FINDING_shared_core || finding->kind == FINDING_idle_core)
            machine->saving_s = larger(machine->saving_s, finding->saving_s);
    }
    /* The text has what processes lose while they compute, which may be far less. */
    if (machine && machine->saving_s > own_s)
        text_append(machine->text, sizeof machine->text,
                    " The saving is that of what follows: calls that are held up, and processes that wait for these.");
    if (machine && duration > 0)
        machine->share = machine->saving_s / duration;
}

/* A machine that runs other work as well costs every program a little: less than this share of the run is neither worth
   a finding, nor are waits that follow from it. The caveat says that cores are shared. */
static const double MACHINE_SHARE = 0.05;

/* Directly or through others: there is no circle, so that there are as many steps as findings at most. */
static bool comes_from(const struct findings *findings, const struct finding *finding, const struct finding *root)
{
    for (size_t step = 0; finding && step <= findings->count; step++) {
        if (finding == root)
            return true;
        finding = finding->root ? finding_of(findings, finding_find(finding->root)) : NULL;
    }
    return false;
}

/* Can a core that comes late make all of it? Small messages and barriers cost their time on any machine. */
static bool is_made_by_machines(enum finding_kind kind)
{
    static const uint64_t made = FINDING_BIT(oversubscription) | FINDING_BIT(compute_imbalance) |
                                 FINDING_BIT(dynamic_imbalance) | FINDING_BIT(transfer) | FINDING_BIT(wrong_order) |
                                 FINDING_BIT(contention) | FINDING_BIT(serialisation) | FINDING_BIT(uneven_threads) |
                                 FINDING_BIT(slow_link);
    return (made >> kind & 1) != 0 || finding_wait(kind) != WAIT_NONE;
}

static void drop_small_machine(struct findings *findings, double working_s)
{
    const struct finding *machine = finding_of(findings, FINDING_oversubscription);
    size_t kept = 0;
    if (!machine || machine->saving_s >= MACHINE_SHARE * working_s)
        return;
    bool *gone = memory_new(findings->count * sizeof *gone);
    for (size_t i = 0; i < findings->count; i++)
        gone[i] =
            is_made_by_machines(findings->finding[i].kind) && comes_from(findings, &findings->finding[i], machine);
    for (size_t i = 0; i < findings->count; i++)
        if (gone[i])
            finding_clear(&findings->finding[i]);
        else
            findings->finding[kept++] = findings->finding[i];
    findings->count = kept;
    for (size_t i = 0; i < kept; i++) {
        struct finding *finding = &findings->finding[i];
        if (finding->root && !finding_of(findings, finding_find(finding->root)))
            finding->root = NULL;
    }
    free(gone);
}

/* From this share on the run between MPI_Init and MPI_Finalize is the run. */
static const double WITHOUT_START = 0.99;

/* What findings are made with. */
struct finding_maker {
    struct finding_input input;
    struct structure structure;
    struct finding_coder *coder;
    double duration_s, working_s;
    size_t capacity;
};

/* Findings that save less than this part of what is lost do not explain it. */
static const double EXPLAINS = 0.1;

/* Without those that save no time, or hardly any of what is lost. */
static size_t count_losses(const struct finding_maker *maker, const struct findings *findings)
{
    double lost_s = (1 - efficiency_of(maker->input.metrics).parallel) * maker->working_s;
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++)
        count += !findings->finding[i].risk && findings->finding[i].saving_s >= EXPLAINS * lost_s;
    return count;
}

static void find_one(struct finding_maker *maker, enum finding_kind kind, struct findings *findings)
{
    const struct metrics *metrics = maker->input.metrics;
    struct finding finding = {.kind = kind, .id = finding_id(kind)};
    /* The last finder reports lost time only if no other has found any. */
    maker->input.found = count_losses(maker, findings);
    /* What was short only the kernel's counters know. */
    bool known = metrics->resources || !finding_is_shortage(kind);
    bool found = known && finders[kind](&maker->input, &finding);
    if (found)
        advice_fit(&maker->input, &maker->structure, &finding);
    finding.share = ratio_of(finding.saving_s, maker->duration_s);
    if (found && (finding.unresolved || finding.risk || finding.saving_s > findings->floor_s)) {
        finding_code_fit(maker->coder, &finding);
        finding_idle_fit(metrics, &finding);
        ARRAY_PUSH(findings->finding, findings->count, maker->capacity, finding);
        return;
    }
    findings->below_clock += found && finding.saving_s > FINDING_NOISE * maker->working_s;
    finding_clear(&finding);
}

int64_t findings_detail_from_ns(const struct metrics *metrics)
{
    /* A run of one process is shown with its heuristics, and the locators among them name who causes delays. */
    if (metrics->process_count < 2)
        return 0;
    /* 1 ns less: findings compare seconds, which are rounded. */
    int64_t floor_ns = (int64_t)(FINDING_NOISE * (double)working_duration_ns(metrics)) - 1;
    return larger(floor_ns, INT64_C(0));
}

struct findings findings_of(const struct metrics *metrics, const struct heuristic_result *results)
{
    struct findings findings = {0};
    const struct analysis *analysis = metrics->analysis;
    /* The analysis is of the whole run: metrics of some processes, or merged ones, have none that fits. */
    if (!analysis || analysis->process_count != metrics->process_count)
        return findings;
    struct finding_maker maker = {.input = {metrics, results, analysis, 0},
                                  .structure = structure_of_run(metrics),
                                  .coder = finding_coder_new(metrics),
                                  .duration_s = (double)analysis->duration / 1e9,
                                  .working_s = (double)working_duration_ns(metrics) / 1e9};
    double clock_s = (double)larger(analysis->clock_rest, analysis->clock_error) / 1e9;
    /* A saving below the clock error could be the error itself: the larger of it and the noise is the floor. */
    findings.clock_limits = clock_s > FINDING_NOISE * maker.working_s;
    findings.floor_s = larger(clock_s, FINDING_NOISE * maker.working_s);
    findings.chance_s = finding_noise(analysis) / 1e9;
    findings.without_start = maker.working_s < WITHOUT_START * maker.duration_s;
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++)
        find_one(&maker, kind, &findings);
    finding_caveat(&maker.input, findings.caveat);
    /* In this order: roots compare savings, and turns take over the saving of their root. */
    name_machine(&maker.input, &findings);
    name_shortage(&findings);
    if (finding_roots_known(analysis)) {
        name_roots(&maker.input, &findings);
        name_late(&maker.input, finding_of(&findings, FINDING_late_sender), &findings);
        name_late(&maker.input, finding_of(&findings, FINDING_late_target), &findings);
    }
    raise_machine(&maker.input, &findings);
    drop_small_machine(&findings, maker.working_s);
    /* Nothing is left, but much may be lost all the same. */
    if (count_losses(&maker, &findings) == 0)
        find_one(&maker, FINDING_lost_time, &findings);
    finding_coder_free(maker.coder);
    if (finding_roots_known(analysis))
        join_turns(&findings, metrics->process_count);
    find_places(&findings);
    if (findings.count == 0)
        finding_caveat_idle(metrics, findings.caveat);
    else
        qsort(findings.finding, findings.count, sizeof *findings.finding, by_place);
    return findings;
}

void findings_clear(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        finding_clear(&findings->finding[i]);
    free(findings->finding);
    *findings = (struct findings){0};
}
