/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings from wait states: which processes wait for which. */
#include "heuristics/finding.h"

#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/efficiency.h"
#include "heuristics/master.h"
#include "heuristics/wait_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The victims are the processes with this part of the waiting. */
static const double VICTIMS_PART = 0.95;

/* A process that causes this part of all waiting, directly or through others (the costs of the delay analysis), is its
   root. */
static const double ROOT_PART = 0.5;

/* The functions with most of the waiting, the longest first. There are few places: choosing the largest of the rest for
   each is cheaper than sorting all states. */
static void find_functions(const struct analysis *analysis, const struct metrics *metrics, const int64_t *states_ns,
                           struct finding *finding)
{
    for (size_t place = 0; place < FINDING_FUNCTIONS; place++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < analysis->state_count; i++) {
            bool taken = false;
            /* The finding keeps names, borrowed from the definitions: the same address is the same function. */
            for (size_t k = 0; k < place; k++)
                taken |= finding->functions[k] == metrics->defs->states[i].name;
            if (!taken && states_ns[i] > 0 && (best == SIZE_MAX || states_ns[i] > states_ns[best]))
                best = i;
        }
        if (best == SIZE_MAX)
            return;
        finding->functions[place] = metrics->defs->states[best].name;
    }
}

/* The places with most of the waiting come first in the sums. */
static void find_sites(const struct metrics *metrics, const struct wait_sums *sums, struct finding *finding)
{
    for (size_t i = 0; i < FINDING_SITES && i < sums->site_count; i++)
        finding->sites[i] = &metrics->defs->sites[sums->sites[i].index];
}

static void fill_evidence(const struct wait_sums *sums, struct finding *finding)
{
    finding_evidence(finding, "waits", (double)sums->count, false);
    finding_evidence(finding, "calls", (double)sums->calls, false);
    finding_evidence(finding, "waiting_s", (double)sums->ns / 1e9, true);
    finding_evidence(finding, "longest_s", (double)sums->longest_ns / 1e9, true);
}

/* The share of the blame on the causes that are named. */
static double blame(const struct metrics *metrics, const struct wait_sums *sums, const struct ranks *causes)
{
    /* Both lists are in the order of ranks: one pass finds the named ones. */
    double named = 0;
    size_t at = 0;
    for (size_t i = 0; i < metrics->process_count && at < causes->count; i++)
        if (metrics->process[i].rank == causes->rank[at]) {
            named += (double)sums->causes_ns[i];
            at++;
        }
    return ratio_of(named, (double)sums->ns);
}

/* True if there are too many causes for their names to be useful: more than half of all processes, rounded up. */
static bool is_spread(const struct analysis *analysis, const struct ranks *causes)
{
    return causes->count > 1 && causes->count > (analysis->process_count + 1) / 2;
}

/* Waiting for changing processes is only reported above the noise: with noise in computing, some process is always the
   last, each time another. One or two processes that are always late are no noise, however little it is. */
enum { NOISE_CAUSES = 2 };

/* A process that is late once, among many times, by less than a scheduler may keep it from its core, is late by chance.
   All victims wait as long at that one time at most. */
enum { MANY_TIMES = 4, SCHEDULER_NS = 100 * 1000 * 1000 };
static const double ONCE = 2;

static bool is_once(const struct finding *finding, const struct wait_sums *sums)
{
    double victims = (double)finding->victims.count;
    return sums->longest_ns < SCHEDULER_NS && (double)sums->calls >= MANY_TIMES * victims &&
           (double)sums->ns < ONCE * victims * (double)sums->longest_ns;
}

static bool is_noise(const struct analysis *analysis, const struct finding *finding, const struct wait_sums *sums)
{
    bool by_chance = finding->causes.count > NOISE_CAUSES || is_once(finding, sums);
    return by_chance && finding->saving_s * 1e9 < finding_noise(analysis);
}

static void say_waits(const struct finding_input *input, const struct wait_words *words, const struct wait_sums *sums,
                      struct finding *finding)
{
    const struct analysis *analysis = input->analysis;
    char victims[WHO_SIZE], causes[WHO_SIZE], time[TEXT_NUMBER_SIZE], longest[TEXT_NUMBER_SIZE],
        count[TEXT_NUMBER_SIZE], calls[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
    who_text(victims, &finding->victims, analysis->process_count);
    who_text(causes, &finding->causes, analysis->process_count);
    /* With too many causes the sentence does not name them. */
    bool spread = is_spread(analysis, &finding->causes);
    if (spread && finding->victims.count == 1)
        snprintf(finding->title, sizeof finding->title, "%s: %s waits for the other processes", words->title, victims);
    else if (spread)
        snprintf(finding->title, sizeof finding->title, "%s: %s wait for each other", words->title, victims);
    else
        snprintf(finding->title, sizeof finding->title, "%s: waiting for %s", words->title, causes);
    char place[SITE_WHERE_SIZE + 1] = "", site[SITE_WHERE_SIZE];
    if (finding->sites[0])
        snprintf(place, sizeof place, " %s", site_where(site, finding->sites[0]));
    const char *function = finding->functions[0] ? finding->functions[0] : "MPI";
    victims[0] = (char)toupper((unsigned char)victims[0]);
    int used = snprintf(
        finding->text, sizeof finding->text, "%s %s %s%s in %.*s%s waiting %s (%s of %s calls, the longest wait %s).",
        victims, text_plural(finding->victims.count, "spends", "together spend"),
        seconds_text(time, (double)sums->ns / 1e9), finding->functions[1] ? ", mostly" : "",
        text_beginning(function, 60), function, place, words->instead, text_thousands(count, sums->count),
        text_thousands(calls, sums->calls), seconds_text(longest, (double)sums->longest_ns / 1e9));
    causes[0] = (char)toupper((unsigned char)causes[0]);
    if (!spread && used > 0 && (size_t)used < sizeof finding->text)
        snprintf(finding->text + used, sizeof finding->text - (size_t)used, " %s %s %s for %s of that time.", causes,
                 text_plural(finding->causes.count, "is", "are"), words->cause,
                 text_share(share, blame(input->metrics, sums, &finding->causes)));
}

/* Of two processes that cause about as much neither is the root. */
static const double STANDS_OUT = 1.5;

/* If one process is the root of most waiting, report the largest kind of wait. */
static void say_root(const struct finding_input *input, const struct wait_sums *sums, struct finding *finding)
{
    const struct analysis *analysis = input->analysis;
    double all_ns = 0, next_ns = 0;
    size_t root = 0;
    /* Said once, in the finding of the largest kind: the root is that of all waiting. */
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++) {
        all_ns += (double)analysis->waits[kind].ns;
        if (analysis->waits[kind].ns > sums->ns)
            return;
    }
    for (size_t i = 1; i < analysis->process_count; i++)
        if (analysis->delay_ns[i] > analysis->delay_ns[root])
            root = i;
    for (size_t i = 0; i < analysis->process_count; i++)
        if (i != root)
            next_ns = larger((double)analysis->delay_ns[i], next_ns);
    size_t used = strlen(finding->text);
    if (analysis->process_count == 0 || !finding_roots_known(analysis) ||
        (double)analysis->delay_ns[root] < ROOT_PART * all_ns ||
        (double)analysis->delay_ns[root] < STANDS_OUT * next_ns)
        return;
    char share[TEXT_NUMBER_SIZE];
    snprintf(
        finding->text + used, sizeof finding->text - used,
        " The root cause is process %s: %s of all waiting is caused, directly or through other processes, by what it "
        "does for longer than they do.",
        text_number(input->metrics->process[root].rank).text,
        text_share(share, (double)analysis->delay_ns[root] / all_ns));
}

static bool fill_waits(const struct finding_input *input, const struct wait_words *words, const struct wait_sums *sums,
                       struct finding *finding)
{
    const struct analysis *analysis = input->analysis;
    /* What costs no time is no finding, whatever the number of calls. */
    if (sums->ns <= 0)
        return false;
    finding->waiting_s = (double)sums->ns / 1e9;
    finding->saving_s = (double)sums->saving_ns / 1e9;
    finding->from_s = (double)sums->from_ns / 1e9;
    finding->to_s = (double)sums->to_ns / 1e9;
    memcpy(finding->course_ns, sums->course_ns, sizeof finding->course_ns);
    finding->victims = ranks_with_most(input->metrics, sums->victims_ns, VICTIMS_PART);
    finding->causes = ranks_to_blame(input->metrics, sums->causes_ns);
    /* Checked as soon as the causes are known: texts of a finding that is dropped need not be made. */
    if (is_noise(analysis, finding, sums))
        return false;
    find_functions(analysis, input->metrics, sums->states_ns, finding);
    find_sites(input->metrics, sums, finding);
    fill_evidence(sums, finding);
    say_waits(input, words, sums, finding);
    say_root(input, sums, finding);
    /* A master that all wait for needs other advice than a process with too much work: it serves others meanwhile. */
    int64_t master = master_of(input->metrics);
    bool by_master = words->master_advice && finding->causes.count == 1 && master == (int64_t)finding->causes.rank[0];
    snprintf(finding->advice, sizeof finding->advice, "%s", by_master ? words->master_advice : words->advice);
    return true;
}

bool find_waits(const struct finding_input *input, const struct wait_words *words, struct finding *finding)
{
    return fill_waits(input, words, &input->analysis->waits[words->kind], finding);
}

/* True if who waits is recorded to receive or probe with this wildcard, for half of the time at least. */
static bool takes(const struct finding_input *input, const struct wait_sums *sums, const char *wildcard)
{
    const struct metrics *metrics = input->metrics;
    double ns = 0;
    for (size_t i = 0; i < metrics->process_count; i++)
        if (property_says(&metrics->defs->properties, PROPERTY_WILDCARDS, wildcard, metrics->process[i].rank))
            ns += (double)sums->victims_ns[i];
    return sums->ns > 0 && ns >= (double)sums->ns / 2;
}

/* To take messages from any source is no advice for who does so: then they come out of turn by their tags, or one is
   taken from any source and the next from the same one. */
static void fit_order_advice(const struct finding_input *input, const struct wait_sums *sums, struct finding *finding)
{
    if (takes(input, sums, "MPI_ANY_SOURCE"))
        snprintf(finding->advice, sizeof finding->advice, "%s",
                 takes(input, sums, "MPI_ANY_TAG")
                     ? "put what belongs together into one message, and send first what is received first; or post an "
                       "MPI_Irecv for each and take them as they complete (MPI_Waitany)"
                     : "put what belongs together into one message, rather than to take one from any source and then "
                       "wait for the next from the same; take any tag as well (MPI_ANY_TAG) where any message will do; "
                       "and send first what is received first");
}

/* Selects which part of the waiting for senders is a finding of its own. */
static void say_wrong_order(const struct finding_input *input, const struct wait_sums *all, struct finding *finding)
{
    const struct analysis *analysis = input->analysis;
    double wrong_ns =
        (double)analysis->waits[WAIT_WRONG_ORDER_SAME].ns + (double)analysis->waits[WAIT_WRONG_ORDER_OTHER].ns;
    size_t used = strlen(finding->text);
    char share[TEXT_NUMBER_SIZE];
    if (wrong_ns <= 0 || all->ns <= 0)
        return;
    finding_evidence(finding, "wrong_order_s", wrong_ns / 1e9, true);
    /* Next to nothing of it would be a distraction here; it is in the evidence. */
    if (wrong_ns >= 0.1 * (double)all->ns)
        snprintf(finding->text + used, sizeof finding->text - used,
                 " In %s of this waiting another message was there already (wrong order).",
                 text_share(share, wrong_ns / (double)all->ns));
    if (wrong_ns >= 0.5 * (double)all->ns)
        fit_order_advice(input, all, finding);
}

bool find_late_sender(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {WAIT_LATE_SENDER,
                                            "late senders",
                                            "for messages that have not been sent yet",
                                            "late to send",
                                            "send earlier, as soon as the data are ready; or receive later: post "
                                            "MPI_Irecv, do work that does not need the message, then call MPI_Wait",
                                            "let workers ask for the next piece before they return the last one "
                                            "(MPI_Irecv), or hand out several pieces at once"};
    struct wait_sums *all = wait_sums_for_senders(input->analysis);
    bool found = fill_waits(input, &words, all, finding);
    say_wrong_order(input, all, finding);
    wait_sums_free(all);
    return found;
}

/* Of any sender: one problem. The numbers of the two are added up, except for the replay's saving, which covers both.
 */
bool find_wrong_order(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {
        WAIT_WRONG_ORDER_OTHER,
        "messages received in the wrong order",
        "for one message while others are already there",
        "waited for out of turn",
        "receive messages in the order in which they arrive: MPI_ANY_SOURCE or MPI_ANY_TAG where any message will do, "
        "or MPI_Irecv for all and then MPI_Waitany; and send first what is received first",
        "let the master take results in the order in which they arrive (MPI_ANY_SOURCE), not worker by worker"};
    const struct wait_sums *same = &input->analysis->waits[WAIT_WRONG_ORDER_SAME],
                           *other = &input->analysis->waits[WAIT_WRONG_ORDER_OTHER];
    struct wait_sums *both = NULL;
    /* With one kind alone its own numbers stand, its saving included. */
    if (same->ns != 0 && other->ns != 0)
        both = wait_sums_merged(input->analysis, same, other);
    const struct wait_sums *sums = both ? both : other->ns == 0 ? same : other;
    bool found = fill_waits(input, &words, sums, finding);
    if (found)
        fit_order_advice(input, sums, finding);
    wait_sums_free(both);
    return found;
}

bool find_contention(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {
        WAIT_NONE,
        "contention",
        "while the same process serves others first",
        "the bottleneck",
        "spread the targets: let process i start with partner i + 1 and go round (MPI_Sendrecv), so that they do not "
        "all meet at one process; or use a collective (MPI_Alltoallv, MPI_Gather, MPI_Bcast), or receive messages as "
        "they arrive (MPI_Irecv for all, then MPI_Waitany)",
        "use several masters, or let workers continue while they queue: ask for the next piece before they return the "
        "last one (MPI_Isend, MPI_Irecv)"};
    if (!fill_waits(input, &words, &input->analysis->contention, finding))
        return false;
    /* A queue has its own words: those in it do not wait for each other. */
    char victims[WHO_SIZE], causes[WHO_SIZE] = "one process after another";
    who_text(victims, &finding->victims, input->analysis->process_count);
    if (!is_spread(input->analysis, &finding->causes))
        who_text(causes, &finding->causes, input->analysis->process_count);
    snprintf(finding->title, sizeof finding->title, "contention: %s queue for %s", victims, causes);
    return true;
}

bool find_late_receiver(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {WAIT_LATE_RECEIVER,
                                            "late receivers",
                                            "for receives that have not been posted yet",
                                            "late to receive",
                                            "send with MPI_Isend and continue computing, or post the receives earlier "
                                            "(MPI_Irecv); synchronous sends (MPI_Ssend) always wait",
                                            "let the master post its receives in advance (MPI_Irecv for each worker, "
                                            "then MPI_Waitany), so that workers need not wait to return results"};
    return find_waits(input, &words, finding);
}

bool find_late_broadcast(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {
        WAIT_LATE_BROADCAST,
        "late broadcast",
        "for the root, which has not arrived yet",
        "the late root",
        "let the root arrive first: move its work after the broadcast, or use MPI_Ibcast",
        NULL};
    return find_waits(input, &words, finding);
}

bool find_early_reduce(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {
        WAIT_EARLY_REDUCE,
        "early reduce",
        "as the root, for the other processes' data",
        "the last to arrive",
        "let the root compute before it collects the data, or use MPI_Ireduce or MPI_Igather",
        NULL};
    return find_waits(input, &words, finding);
}

bool find_early_scan(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {WAIT_EARLY_SCAN,
                                            "waiting at prefix reductions",
                                            "for processes of lower ranks",
                                            "the last of the lower ranks to arrive",
                                            "give the lower ranks less work before MPI_Scan, or use MPI_Iscan and do "
                                            "work that does not need its result in the meantime",
                                            NULL};
    return find_waits(input, &words, finding);
}

/* True if most of the waiting is in neighbourhood collectives. */
static bool waits_for_neighbours(const struct finding_input *input)
{
    const struct wait_sums *sums = &input->analysis->waits[WAIT_AT_NXN];
    double ns = 0;
    /* MPI_Neighbor_alltoall and MPI_Ineighbor_alltoall alike. */
    for (size_t i = 0; i < input->metrics->defs->state_count; i++)
        if (strstr(input->metrics->defs->states[i].name, "eighbor_"))
            ns += (double)sums->cause_states_ns[i];
    return ns > 0.5 * (double)sums->ns;
}

/* True if most of the waiting is in calls that complete non-blocking collectives. */
static bool waits_in_completions(const struct finding_input *input)
{
    const struct wait_sums *sums = &input->analysis->waits[WAIT_AT_NXN];
    double ns = 0;
    for (size_t i = 0; i < input->metrics->defs->state_count; i++)
        if (input->metrics->defs->states[i].class == CLASS_WAIT)
            ns += (double)sums->states_ns[i];
    return ns > 0.5 * (double)sums->ns;
}

bool find_wait_at_nxn(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words neighbours = {
        WAIT_AT_NXN,
        "waiting for neighbours",
        "for the last of their neighbours to arrive",
        "the last of its neighbours to arrive",
        "balance the work before the exchange, or overlap it with work that does not need it (MPI_Ineighbor_alltoall)",
        NULL};
    static const struct wait_words words = {
        WAIT_AT_NXN,
        "waiting at collectives",
        "for the last process to arrive",
        "the last to arrive",
        "balance the work before the collective, or make it non-blocking and compute in the meantime (MPI_Iallreduce)",
        NULL};
    static const struct wait_words posted = {
        WAIT_AT_NXN,
        "waiting at collectives",
        "for the last process to start a collective, or to complete it",
        "the last to do so",
        "balance the work before the collective, and between its start and its completion; where MPI does nothing "
        "while processes compute, call MPI_Test now and then, or give it a thread for progress (with MPICH "
        "MPIR_CVAR_ASYNC_PROGRESS=1)",
        NULL};
    if (waits_for_neighbours(input))
        return find_waits(input, &neighbours, finding);
    return find_waits(input, waits_in_completions(input) ? &posted : &words, finding);
}

bool find_wait_at_barrier(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {WAIT_AT_BARRIER,
                                            "waiting at barriers",
                                            "for the last process to arrive",
                                            "the last to arrive",
                                            "remove barriers that are not needed (messages and collectives already "
                                            "order the processes), and balance the work before the rest",
                                            NULL};
    return find_waits(input, &words, finding);
}

bool find_wait_at_io(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {
        WAIT_AT_IO,
        "waiting at collective I/O",
        "in file operations for the last process to arrive",
        "the last to arrive",
        "balance the work before all processes open, read or write a file together, or let each process write when it "
        "is ready (MPI_File_write_at, MPI_File_iwrite_at_all)",
        NULL};
    return find_waits(input, &words, finding);
}

/* From this share of all processes' time on that is the headline. */
static const double IO_SHARE = 0.2;

/* The share of the critical path in calls on files. */
static double path_in_files(const struct finding_input *input)
{
    const struct analysis *analysis = input->analysis;
    double ns = 0;
    for (size_t i = 0; i < analysis->state_count; i++)
        if (input->metrics->defs->states[i].class == CLASS_IO)
            ns += (double)analysis->path_states_ns[i];
    return ratio_of(ns, (double)analysis->path);
}

/* Opening and closing files takes no long time once: where a process does either more often than this, most of it could
   be left out. */
static const double OPENED_ONCE = 2;

static void advise_io(const struct finding_input *input, struct finding *finding)
{
    const char *most = finding->functions[0] ? finding->functions[0] : "",
               *way = strstr(most, "read") ? "read" : "write";
    bool opens = strcmp(most, "MPI_File_open") == 0 || strcmp(most, "MPI_File_close") == 0;
    if (opens && finding_calls(input->metrics, CLASS_IO, most) > OPENED_ONCE * (double)input->analysis->process_count)
        snprintf(finding->advice, sizeof finding->advice,
                 "open files once, before the work begins, and keep them open; or open fewer of them");
    else if (input->analysis->handed_over > 0)
        snprintf(
            finding->advice, sizeof finding->advice,
            "let each process write or read its own data, all together (MPI_File_write_all or MPI_File_read_all with "
            "a file view); or share the I/O among several processes, or do it while computing (MPI_File_iwrite)");
    else if (strstr(most, "_all") || strstr(most, "_ordered"))
        snprintf(finding->advice, sizeof finding->advice,
                 "%s more data with each call, less often, or while computing (MPI_File_i%s_all); see whether hints of "
                 "MPI_File_open help (cb_nodes, cb_buffer_size, striping_factor)",
                 way, way);
    else
        snprintf(finding->advice, sizeof finding->advice,
                 "%s collectively and in large pieces (MPI_File_%s_all with a file view), less often, or while "
                 "computing (MPI_File_i%s); where one process does all I/O, share it among several",
                 way, way, way);
}

/* What one process does for others has costs beside the calls on files. */
static void say_handed_over(const struct analysis *analysis, struct finding *finding)
{
    char count[TEXT_NUMBER_SIZE];
    if (analysis->handed_over == 0)
        return;
    finding_evidence(finding, "handed_over", (double)analysis->handed_over, false);
    text_append(finding->text, sizeof finding->text,
                " The saving also counts %s %s that only %s data between %s and the others.",
                text_thousands(count, analysis->handed_over),
                text_plural(analysis->handed_over, "message or collective", "messages or collectives"),
                text_plural(analysis->handed_over, "moves", "move"),
                text_plural(finding->victims.count, "this process", "these processes"));
}

/* A process that hangs waits for none that does file I/O. */
static bool one_never_returned(const struct metrics *metrics)
{
    for (size_t i = 0; i < metrics->process_count; i++)
        if (process_never_returned(metrics, &metrics->process[i]))
            return true;
    return false;
}

bool find_io(const struct finding_input *input, struct finding *finding)
{
    const struct analysis *analysis = input->analysis;
    const struct wait_sums *sums = &analysis->waits[WAIT_IO];
    double all_s = (double)analysis->duration / 1e9 * (double)analysis->process_count;
    double path = path_in_files(input);
    /* One process that writes while all others wait has a small share of all time: it shows on the critical path. */
    bool of_all = (double)sums->ns / 1e9 > IO_SHARE * all_s;
    if (sums->saving_ns <= 0 || (double)sums->saving_ns < FINDING_COSTS * (double)working_duration_ns(input->metrics))
        return false;
    finding->waiting_s = (double)sums->ns / 1e9;
    finding->saving_s = (double)sums->saving_ns / 1e9;
    finding->from_s = (double)sums->from_ns / 1e9;
    finding->to_s = (double)sums->to_ns / 1e9;
    memcpy(finding->course_ns, sums->course_ns, sizeof finding->course_ns);
    finding->victims = ranks_with_most(input->metrics, sums->victims_ns, VICTIMS_PART);
    find_functions(analysis, input->metrics, sums->states_ns, finding);
    find_sites(input->metrics, sums, finding);
    fill_evidence(sums, finding);
    char who[WHO_SIZE], time[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE], count[TEXT_NUMBER_SIZE];
    who_text(who, &finding->victims, analysis->process_count);
    if (of_all)
        snprintf(finding->title, sizeof finding->title, "file I/O takes %s of all processes' time",
                 text_share(share, finding->waiting_s / all_s));
    else
        /* Those that do the I/O are what the others wait for. */
        finding->causes = ranks_to_blame(input->metrics, sums->victims_ns);
    if (!of_all && finding->victims.count == analysis->process_count)
        snprintf(finding->title, sizeof finding->title, "all processes do file I/O, %s of the critical path",
                 text_share(share, path));
    else if (!of_all && one_never_returned(input->metrics))
        snprintf(finding->title, sizeof finding->title, "%s %s file I/O, %s of the critical path", who,
                 text_plural(finding->victims.count, "does", "do"), text_share(share, path));
    else if (!of_all)
        snprintf(finding->title, sizeof finding->title, "all processes wait while %s %s file I/O, %s of the run", who,
                 text_plural(finding->victims.count, "does", "do"), text_share(share, path));
    who[0] = (char)toupper((unsigned char)who[0]);
    snprintf(finding->text, sizeof finding->text, "%s %s %s in %s calls on files, most of it in %s.", who,
             text_plural(finding->victims.count, "spends", "together spend"), seconds_text(time, finding->waiting_s),
             text_thousands(count, sums->count), finding->functions[0] ? finding->functions[0] : "MPI");
    say_handed_over(analysis, finding);
    advise_io(input, finding);
    return true;
}
