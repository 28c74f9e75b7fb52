/* SPDX-License-Identifier: BSD-3-Clause */
/* The finding that the calls themselves, excluding waiting, make the run long: POP's transfer efficiency. */
#include "heuristics/finding.h"

#include "core/memory.h"
#include "core/mpi_function.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/efficiency.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* POP's limit of acceptable efficiency. */
static const double ACCEPTABLE = 0.8;

/* At most one process in this many is named, if it has this many times the mean of the bytes: more are the program's
   pattern, not an outlier. */
enum { FEW = 4 };
static const double UNEVEN = 1.5;

/* The first rows look for messages. */
enum { POLLING = 2 };

/* The cost of calls of a kind, and what helps. The first row that fits is used. */
static const struct remedy {
    enum function_class class;
    const char *name;   /* the name's begin; "": any of the class */
    const char *doing;  /* "MPI_Test …" */
    const char *advice; /* what to change */
} remedies[] = {
    {CLASS_WAIT, "MPI_Test", "polls repeatedly for a message",
     "do more work between two tests; where there is no work, wait (MPI_Wait, MPI_Waitany, MPI_Waitsome)"},
    {CLASS_PROBE, "MPI_Iprobe", "polls repeatedly for a message",
     "do more work between two probes; where there is no work, wait for the message (MPI_Probe, MPI_Recv)"},
    {CLASS_WAIT, "", "waits for transfers in progress",
     "compute between start and completion, so that the transfer overlaps; send less, or less often"},
    {CLASS_PROBE, "", "takes long though the message has arrived",
     "receive directly (MPI_Recv, MPI_Mrecv) where the sender is known"},
    {CLASS_P2P, "", "moves data without overlapping computation",
     "start transfers with MPI_Isend and MPI_Irecv before computing and complete them after it; send less, or fewer "
     "and larger messages; use no more processes than cores"},
    {CLASS_SYNC, "", "takes long though all processes have arrived", "remove barriers that nothing depends on"},
    {CLASS_COLLECTIVE, "", "moves data without overlapping computation",
     "call it less often or with less data; start it early (the non-blocking form) and compute in the meantime"},
    {CLASS_IO, "", "reads or writes without overlapping computation",
     "let all processes write collectively in large pieces (MPI_File_write_at_all), less often, or while computing "
     "(MPI_File_iwrite_at)"},
    {CLASS_RMA, "MPI_Win_fence", "completes accesses to windows",
     "access windows with fewer, larger calls, and fence less often; where each process accesses few others, use "
     "MPI_Win_post, MPI_Win_start, MPI_Win_complete and MPI_Win_wait; use no more processes than cores"},
    {CLASS_RMA, "MPI_Win_wait", "completes what others access in the window",
     "access the window with fewer, larger calls; compute between MPI_Win_post and MPI_Win_wait; use no more processes "
     "than cores"},
    {CLASS_RMA, "", "moves data, or waits until its target calls MPI",
     "combine accesses to the same process, and complete them together (MPI_Win_flush_all) after computing; where a "
     "target computes for long without a call of MPI, let it call one now and then (MPI_Iprobe)"},
    {CLASS_SETUP, "", "creates communicators, windows or processes",
     "create them once, before the work begins, and reuse them"},
    {CLASS_LOCAL, "", "takes long by itself", "call it less often"},
};

/* If no process creates something more often than this, creating it once would not help. */
enum { MADE_FOR_ONCE = 2 };
static const struct remedy made_once = {CLASS_SETUP, "", "makes communicators, windows or processes, once",
                                        "it is done once, so that a longer run has less of it; make fewer or smaller "
                                        "communicators where some are not needed"};

/* Collectives that hand out or collect data, where no process calls them more often than that: there is no second call
   to save, and seldom anything to compute in the meantime. */
static const struct remedy done_once[] = {
    {CLASS_COLLECTIVE, "MPI_Bcast", "moves data without overlapping computation",
     "let each process read or make the data itself, where that is faster than getting them from one process; else "
     "send "
     "less"},
    {CLASS_COLLECTIVE, "MPI_Scatter", "moves data without overlapping computation",
     "let each process read or make its own part of the data, instead of getting it from one process; else send less"},
    {CLASS_COLLECTIVE, "MPI_Gather", "moves data without overlapping computation",
     "let each process keep its part of the data, or write it itself (MPI_File_write_at_all), instead of collecting "
     "all "
     "of them in one process; else send less"},
};

/* For collectives of a few bytes: neither their data nor the network explain what they take. */
static const struct remedy few_bytes = {CLASS_COLLECTIVE, "", "takes long for the few bytes that it moves",
                                        "call it less often, or combine several calls into one; start it early (the "
                                        "non-blocking form) and compute in the meantime"};

/* For looks with pauses between them that take longer than the looks: what is lost is a part of the last pause. */
static const struct remedy naps = {CLASS_WAIT, "", "still pauses between two looks when the message has come",
                                   "pause for a shorter time between two looks, or let MPI wait for the message "
                                   "(MPI_Wait, MPI_Probe, MPI_Recv)"};

double finding_calls(const struct metrics *metrics, enum function_class class, const char *name)
{
    double calls = 0;
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t f = 0; f < metrics->process[i].function_count; f++) {
            const struct function_row *row = &metrics->process[i].functions[f];
            const struct state_def *state = &metrics->defs->states[row->state];
            if (state->class == class && (!name || strcmp(state->name, name) == 0))
                calls += (double)row->count;
        }
    return calls;
}

/* So many of the collectives are of a few bytes that the one in question is, too. */
static const double NEARLY_ALL = 0.9;

static bool moves_few_bytes(const struct finding_input *input, const struct state_def *state)
{
    double few = (double)input->analysis->synchronisations - finding_calls(input->metrics, CLASS_SYNC, NULL);
    return state->class == CLASS_COLLECTIVE &&
           few >= NEARLY_ALL * finding_calls(input->metrics, CLASS_COLLECTIVE, NULL);
}

/* What an operation of the program's own computes is in the calls that reduce with it. */
static void say_operations(const struct finding_input *input, const struct state_def *state, struct finding *finding)
{
    char advice[sizeof finding->advice];
    if ((!strstr(state->name, "educe") && !strstr(state->name, "scan") && !strstr(state->name, "Scan")) ||
        finding_calls(input->metrics, CLASS_LOCAL, "MPI_Op_create") <= 0)
        return;
    text_append(finding->text, sizeof finding->text,
                " The program has reduction operations of its own (MPI_Op_create): where a call reduces with one, what "
                "that computes is part of the call.");
    memcpy(advice, finding->advice, sizeof advice);
    snprintf(finding->advice, sizeof finding->advice, "%s", "see how long the program's own operation computes; else ");
    text_append(finding->advice, sizeof finding->advice, "%s", advice);
}

/* The row for a collective that is called once; NULL: none. */
static const struct remedy *remedy_of_once(const struct state_def *state)
{
    const char *name = strncmp(state->name, "PMPI_", 5) == 0 ? state->name + 1 : state->name;
    for (size_t i = 0; i < sizeof done_once / sizeof *done_once; i++)
        if (done_once[i].class == state->class && strncmp(name, done_once[i].name, strlen(done_once[i].name)) == 0)
            return &done_once[i];
    return NULL;
}

static const struct remedy *remedy_of(const struct state_def *state)
{
    size_t count = sizeof remedies / sizeof *remedies;
    for (size_t i = 0; i < count; i++)
        if (remedies[i].class == state->class && strncmp(state->name, remedies[i].name, strlen(remedies[i].name)) == 0)
            return &remedies[i];
    return &remedies[count - 1];
}

struct own_time {
    double all_s;                 /* of all processes, without waits */
    double longest_s, shortest_s; /* calls, whatever they do */
    double most_s;                /* of the process with most, likewise */
    uint64_t calls, most_calls;   /* of all, and of the process with most */
    double calls_s;               /* of all processes, with waits */
    double pauses_s;              /* between looks for a message, where these are looks */
    int64_t *processes_ns;        /* time in the calls, by row */
};

static void add_pauses(const struct metrics *metrics, struct own_time *own)
{
    for (size_t i = 0; i < metrics->process_count; i++) {
        int64_t polled_ns = own->processes_ns[i] > 0 ? metrics_polled_ns(metrics, i) : 0;
        own->pauses_s += (double)polled_ns / 1e9;
        time_add(&own->processes_ns[i], polled_ns);
    }
    own->calls_s = own->all_s;
    own->all_s += own->pauses_s;
}

static struct own_time own_time_of(const struct finding_input *input, uint32_t state)
{
    const struct metrics *metrics = input->metrics;
    struct own_time own = {.shortest_s = -1,
                           .processes_ns = memory_new(metrics->process_count * sizeof *own.processes_ns)};
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t f = 0; f < metrics->process[i].function_count; f++) {
            const struct function_row *row = &metrics->process[i].functions[f];
            if (row->state != state)
                continue;
            own.calls += row->count;
            own.most_calls = larger(row->count, own.most_calls);
            own.processes_ns[i] += row->time_ns;
            own.all_s += (double)row->time_ns / 1e9;
            own.longest_s = larger((double)row->max_ns / 1e9, own.longest_s);
            if (row->count > 0 && (own.shortest_s < 0 || (double)row->min_ns / 1e9 < own.shortest_s))
                own.shortest_s = (double)row->min_ns / 1e9;
        }
    if (remedy_of(&metrics->defs->states[state]) < &remedies[POLLING])
        add_pauses(metrics, &own);
    for (size_t i = 0; i < metrics->process_count; i++)
        own.most_s = larger((double)own.processes_ns[i] / 1e9, own.most_s);
    /* Waits are measured with corrected clocks, calls without: the difference may fall below 0. */
    for (int kind = WAIT_NONE + 1; kind < WAIT_CAUSED_COUNT; kind++)
        own.all_s -= (double)input->analysis->waits[kind].states_ns[state] / 1e9;
    own.all_s = larger(own.all_s, 0);
    return own;
}

/* A call that gives the root something may return only when the root has come, as a large send does, or at once: which
   of them does is not recorded. Where the root is not known, no wait for it is. */
static bool hides_waits(const struct finding_input *input, const struct state_def *state)
{
    const char *name = strncmp(state->name, "PMPI_", 5) == 0 ? state->name + 1 : state->name;
    const struct mpi_function *function = mpi_function_find(name);
    bool to_root = strncmp(name, "MPI_Gather", 10) == 0 || strncmp(name, "MPI_Reduce", 10) == 0;
    return function && function->rooted && (to_root || input->analysis->rootless > 0);
}

/* MPI libraries move data of windows, and answer locks, when the target calls MPI. Whether a call waited for that is
   not recorded. In a fence all processes are in MPI, and MPI_Win_wait is the target's. */
static bool needs_target(const struct finding_input *input, const struct state_def *state)
{
    (void)input;
    return state->class == CLASS_RMA && strcmp(state->name, "MPI_Win_fence") != 0 &&
           strcmp(state->name, "MPI_Win_wait") != 0;
}

/* The function with most time of its own among those that do. */
static uint32_t longest_that(bool (*does)(const struct finding_input *input, const struct state_def *state),
                             const struct finding_input *input, double *own_s)
{
    const struct defs *defs = input->metrics->defs;
    uint32_t most = UINT32_MAX;
    *own_s = 0;
    for (uint32_t i = 0; i < defs->state_count; i++) {
        if (!does(input, &defs->states[i]))
            continue;
        struct own_time own = own_time_of(input, i);
        free(own.processes_ns);
        if (own.all_s <= *own_s)
            continue;
        *own_s = own.all_s;
        most = i;
    }
    return most;
}

uint32_t finding_hides_waits(const struct finding_input *input, double *own_s)
{
    return longest_that(hides_waits, input, own_s);
}

uint32_t finding_needs_target(const struct finding_input *input, double *own_s)
{
    return longest_that(needs_target, input, own_s);
}

static uint64_t bytes_of(const struct process_row *process)
{
    uint64_t bytes = process->bytes_sent;
    bytes_add(&bytes, process->bytes_received);
    return bytes;
}

/* Processes that have far more than the mean of the bytes of all messages; none if they are even. */
static struct ranks with_most_bytes(const struct metrics *metrics)
{
    size_t count = metrics->process_count;
    int64_t *excess = memory_new(count * sizeof *excess), most = 0;
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++)
        bytes_add(&all, bytes_of(&metrics->process[i]));
    for (size_t i = 0; i < count; i++) {
        uint64_t mean = all / count, mine = bytes_of(&metrics->process[i]);
        /* Numbers beyond int64 are a metrics file's, not a run's. */
        if (mine > mean && mine <= INT64_MAX)
            excess[i] = (int64_t)(mine - mean);
        most = larger(excess[i], most);
    }
    struct ranks ranks = {0};
    if (count > 0 && (double)most > (UNEVEN - 1) * (double)all / (double)count)
        ranks = ranks_to_blame(metrics, excess);
    free(excess);
    return ranks;
}

static bool are_few(const struct ranks *ranks, const struct metrics *metrics)
{
    return ranks->count > 0 && ranks->count * FEW <= metrics->process_count;
}

/* Time in MPI beyond waiting for others. */
static double own_ns(const struct finding_input *input, size_t row)
{
    double ns = (double)input->metrics->process[row].communication_ns;
    for (int kind = WAIT_NONE + 1; kind < WAIT_CAUSED_COUNT; kind++)
        ns -= (double)input->analysis->waits[kind].victims_ns[row];
    return larger(ns, 0);
}

/* True if all of these spend more in MPI than others: every run has a critical path, so it alone proves nothing. */
static bool have_more(const struct finding_input *input, const struct ranks *ranks)
{
    const struct metrics *metrics = input->metrics;
    double mean = 0, least = INFINITY;
    size_t at = 0;
    for (size_t i = 0; i < metrics->process_count; i++) {
        double own = own_ns(input, i);
        mean += own / (double)metrics->process_count;
        if (at < ranks->count && metrics->process[i].rank == ranks->rank[at]) {
            least = smaller(own, least);
            at++;
        }
    }
    return least >= UNEVEN * mean;
}

/* A saving of this many times what any process spends in MPI beyond waiting is of calls one after the other. */
static const double IN_TURN = 2;

bool finding_transfers_in_turn(const struct finding_input *input, const struct finding *finding)
{
    double most_ns = 0;
    for (size_t i = 0; i < input->metrics->process_count; i++)
        most_ns = fmax(own_ns(input, i), most_ns);
    return finding->saving_s * 1e9 > IN_TURN * most_ns;
}

static void say_causes(const struct finding_input *input, const char *begin, struct finding *finding)
{
    char who[WHO_SIZE];
    size_t used = strlen(finding->text);
    snprintf(finding->text + used, sizeof finding->text - used, " %s %s.", begin,
             who_text(who, &finding->causes, input->metrics->process_count));
}

/* Calls of the function by some processes: waiting for others may be among their time. */
struct calls_there {
    double least_s, most_s, calls;
};

static void add_calls(const struct finding_input *input, uint32_t state, size_t row, struct calls_there *there)
{
    const struct process_row *process = &input->metrics->process[row];
    double waits_s = ((double)process->communication_ns - own_ns(input, row)) / 1e9;
    for (size_t f = 0; f < process->function_count; f++) {
        const struct function_row *function = &process->functions[f];
        if (function->state != state)
            continue;
        there->least_s += fmax((double)function->time_ns / 1e9 - waits_s, 0);
        there->most_s += (double)function->time_ns / 1e9;
        there->calls += (double)function->count;
    }
}

/* Calls of a collective take so many times as long for a process as for others: its network may be slow, too. */
static const double SLOW_THERE = 3;

/* The named processes stay in a collective far longer than the others, whatever anybody waits for. */
static void say_slow_there(const struct finding_input *input, uint32_t state, struct finding *finding)
{
    const struct metrics *metrics = input->metrics;
    struct calls_there there = {0}, elsewhere = {0};
    char each[TEXT_NUMBER_SIZE], other[TEXT_NUMBER_SIZE], advice[sizeof finding->advice];
    for (size_t i = 0; i < metrics->process_count; i++)
        add_calls(input, state, i,
                  is_among(metrics->process[i].rank, finding->causes.rank, finding->causes.count) ? &there
                                                                                                  : &elsewhere);
    double each_s = ratio_of(there.least_s, there.calls), other_s = ratio_of(elsewhere.most_s, elsewhere.calls);
    if (elsewhere.calls <= 0 || each_s < SLOW_THERE * other_s)
        return;
    text_append(finding->text, sizeof finding->text, " There each call takes at least %s on average, elsewhere %s.",
                seconds_text(each, each_s), seconds_text(other, other_s));
    memcpy(advice, finding->advice, sizeof advice);
    snprintf(finding->advice, sizeof finding->advice, "%s",
             "see what is different there: more data, or a slow network");
    text_append(finding->advice, sizeof finding->advice, "; else %s", advice);
}

/* The few processes that move most bytes, or whose calls are most of the critical path's time in MPI. */
static void name_causes(const struct finding_input *input, uint32_t state, struct finding *finding)
{
    enum function_class class = input->metrics->defs->states[state].class;
    /* Bytes are counted of messages only: of collectives all processes have alike, or the root has. */
    if (class == CLASS_P2P || class == CLASS_WAIT) {
        finding->causes = with_most_bytes(input->metrics);
        if (are_few(&finding->causes, input->metrics)) {
            say_causes(input, "Far more bytes than average pass through", finding);
            return;
        }
        free(finding->causes.rank);
    }
    finding->causes = ranks_to_blame(input->metrics, input->analysis->path_mpi_ns);
    if (!are_few(&finding->causes, input->metrics) || !have_more(input, &finding->causes)) {
        finding->causes.count = 0;
        return;
    }
    say_causes(input, "Most of the MPI time on the critical path is on", finding);
    if (class == CLASS_COLLECTIVE && !hides_waits(input, &input->metrics->defs->states[state]))
        say_slow_there(input, state, finding);
}

/* A transfer ends at both ends at once: where more is saved than the path spends in calls of this function, it is in
   those at the other end. Most of that is in the one that the path spends most in. */
static void say_other_ends(const struct finding_input *input, uint32_t index, struct finding *finding)
{
    const struct analysis *analysis = input->analysis;
    const struct state_def *states = input->metrics->defs->states;
    uint32_t other = UINT32_MAX;
    for (uint32_t i = 0; i < analysis->state_count; i++)
        if (i != index && (states[i].class == CLASS_P2P || states[i].class == CLASS_WAIT) &&
            analysis->path_states_ns[i] > (other == UINT32_MAX ? 0 : analysis->path_states_ns[other]))
            other = i;
    bool moves = states[index].class == CLASS_P2P || states[index].class == CLASS_WAIT;
    if (moves && other != UINT32_MAX && analysis->own_saving > analysis->path_states_ns[index])
        text_append(finding->text, sizeof finding->text,
                    " The saving counts the other end of each message as well (%.*s).",
                    text_beginning(states[other].name, 60), states[other].name);
}

/* One call is what takes long, rather than all of them, if it is at least this part of what a process spends in them.
 */
static const double DOMINATES = 0.5;

static void say_each(const struct own_time *own, char *text, size_t size)
{
    char each[TEXT_NUMBER_SIZE], longest[TEXT_NUMBER_SIZE];
    seconds_text(each, ratio_of(own->all_s, (double)own->calls));
    if (own->most_calls > 1 && own->longest_s >= DOMINATES * own->most_s)
        snprintf(text, size, "%s on average and %s for the longest, waiting included", each,
                 seconds_text(longest, own->longest_s));
    else
        snprintf(text, size, "%s each", each);
}

static void say(const struct finding_input *input, uint32_t index, const struct own_time *own, double efficiency,
                struct finding *finding)
{
    const struct state_def *state = &input->metrics->defs->states[index];
    const struct remedy *remedy = remedy_of(state);
    if (state->class == CLASS_SETUP && own->most_calls <= MADE_FOR_ONCE)
        remedy = &made_once;
    const struct remedy *once = own->most_calls <= MADE_FOR_ONCE ? remedy_of_once(state) : NULL;
    if (once)
        remedy = once;
    if (own->pauses_s > own->calls_s)
        remedy = &naps;
    if (moves_few_bytes(input, state))
        remedy = &few_bytes;
    double path = ratio_of((double)input->analysis->path_states_ns[index], (double)input->analysis->path);
    char share[TEXT_NUMBER_SIZE], calls[TEXT_NUMBER_SIZE], time[TEXT_NUMBER_SIZE], each[4 * TEXT_NUMBER_SIZE],
        ideal[TEXT_NUMBER_SIZE], transfer[TEXT_NUMBER_SIZE];
    bool hidden = hides_waits(input, state);
    say_each(own, each, sizeof each);
    snprintf(finding->title, sizeof finding->title, "%s%.*s takes %s of the critical path",
             hidden ? "" : "excluding waiting, ", text_beginning(state->name, 60), state->name,
             text_share(share, path));
    snprintf(finding->text, sizeof finding->text,
             "%s, %s call%s of %.*s%s take%s %s in total, %s: it %s. On an ideal network the run would take %s; "
             "excluding "
             "the start and end of MPI, that is a transfer efficiency of %s.",
             hidden ? "Including waiting for a root that is late, which the trace does not tell apart"
                    : "Excluding waiting",
             text_thousands(calls, own->calls), text_plural(own->calls, "", "s"), text_beginning(state->name, 60),
             state->name, remedy == &naps ? ", with the pauses between them," : "",
             remedy == &naps ? "" : text_plural(own->calls, "s", ""), seconds_text(time, own->all_s), each,
             hidden ? "waits, or moves data without overlapping computation" : remedy->doing,
             seconds_text(ideal, (double)input->analysis->ideal / 1e9), text_share(transfer, efficiency));
    finding_say_sites(input, finding_counts_state, index, finding);
    say_other_ends(input, index, finding);
    snprintf(finding->advice, sizeof finding->advice, "%s%s",
             hidden ? "look whether the root comes later than the others, and let it come earlier; else " : "",
             remedy->advice);
    say_operations(input, state, finding);
}

bool find_transfer(const struct finding_input *input, struct finding *finding)
{
    const struct analysis *analysis = input->analysis;
    const struct defs *defs = input->metrics->defs;
    uint32_t state = analysis_longest_own(analysis, defs);
    double duration = (double)analysis->duration / 1e9, working = (double)working_duration_ns(input->metrics) / 1e9;
    double efficiency = analysis->transfer;
    finding->saving_s = (double)analysis->own_saving / 1e9;
    if (state == UINT32_MAX || efficiency >= ACCEPTABLE || finding->saving_s < FINDING_COSTS * working)
        return false;
    struct own_time own = own_time_of(input, state);
    finding->waiting_s = own.all_s;
    finding->victims = ranks_with_most(input->metrics, own.processes_ns, 0.95);
    free(own.processes_ns);
    finding->functions[0] = defs->states[state].name;
    finding->to_s = duration;
    finding_takes_calls(finding, analysis, state);
    say(input, state, &own, efficiency, finding);
    name_causes(input, state, finding);
    finding_evidence(finding, "transfer_efficiency", analysis->transfer, false);
    finding_evidence(finding, "ideal_s", (double)analysis->ideal / 1e9, true);
    finding_evidence(finding, "calls", (double)own.calls, false);
    finding_evidence(finding, "longest_s", own.longest_s, true);
    finding_evidence(finding, "shortest_s", own.shortest_s, true);
    return true;
}
