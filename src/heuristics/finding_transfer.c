/* SPDX-License-Identifier: BSD-3-Clause */
/* The finding that calls themselves, not waits in them, make the run long: POP's transfer efficiency. */
#include "heuristics/finding.h"

#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FINDER(id, function) bool function(const struct finding_input *input, struct finding *finding);
#include "heuristics/findings.def"

/* POP's limit of what is acceptable; and what is told if the limit is not met. */
static const double ACCEPTABLE = 0.8, LEAST_SHARE = 0.05;

/* Of so many processes one is named; who has so many times the mean of the bytes. */
enum { FEW = 4 };
static const double UNEVEN = 1.5;

/* Bytes a second that any network has; how many times longer than explained calls must last to be no transfers. */
static const double SLOW_NETWORK = 1e8, UNEXPLAINED = 10;

/* What calls of a kind cost, and what helps. The first row that fits. */
static const struct remedy {
    enum function_class class;
    const char *name;   /* begins so; "": any of the class */
    const char *doing;  /* "MPI_Test …" */
    const char *advice; /* what to change */
} remedies[] = {
    {CLASS_WAIT, "MPI_Test", "asks again and again whether a message is there",
     "compute more between two tests; where there is nothing to compute, wait (MPI_Wait, MPI_Waitany, MPI_Waitsome)"},
    {CLASS_PROBE, "MPI_Iprobe", "asks again and again whether a message is there",
     "compute more between two probes; where there is nothing to compute, wait for the message (MPI_Probe, MPI_Recv)"},
    {CLASS_WAIT, "", "waits for transfers that are under way",
     "compute between start and completion, so that the transfer goes on meanwhile; send less, or less often"},
    {CLASS_PROBE, "", "takes long though the message is there",
     "receive at once (MPI_Recv, MPI_Mrecv) where the sender is known"},
    {CLASS_P2P, "", "moves data while nothing is computed",
     "start with MPI_Isend and MPI_Irecv before the computing and complete after it; send less, or fewer and larger "
     "messages; use no more processes than cores"},
    {CLASS_SYNC, "", "takes long though everybody is there", "leave out barriers that nothing depends on"},
    {CLASS_COLLECTIVE, "", "moves data while nothing is computed",
     "call it less often or with less data; start it early (the non-blocking form) and compute meanwhile"},
    {CLASS_IO, "", "reads or writes while nothing is computed",
     "let all processes write together in large pieces (MPI_File_write_at_all), less often, or while computing "
     "(MPI_File_iwrite_at)"},
    {CLASS_RMA, "", "moves data while nothing is computed",
     "combine accesses to the same process, and complete them together (MPI_Win_flush_all) after computing"},
    {CLASS_SETUP, "", "makes communicators, windows or processes",
     "make them once, before the work begins, and keep them"},
    {CLASS_LOCAL, "", "takes long in itself", "call it less often"},
};

static const struct remedy *remedy_of(const struct state_def *state)
{
    size_t count = sizeof remedies / sizeof *remedies;
    for (size_t i = 0; i < count; i++)
        if (remedies[i].class == state->class && strncmp(state->name, remedies[i].name, strlen(remedies[i].name)) == 0)
            return &remedies[i];
    return &remedies[count - 1];
}

/* What starts and ends MPI has its share of the critical path, and none in this finding. */
static double duration_without_startup(const struct finding_input *input)
{
    const struct analysis *analysis = input->analysis;
    double ns = (double)analysis->duration;
    for (size_t i = 0; i < analysis->state_count; i++)
        if (mpi_function_starts_or_ends(input->metrics->defs->states[i].name))
            ns -= (double)analysis->path_states_ns[i];
    return ns / 1e9;
}

struct own_time {
    double all_s;                 /* of all processes, without waits */
    double longest_s, shortest_s; /* calls, whatever they do */
    uint64_t calls;
    int64_t *processes_ns; /* time in the calls, by row */
};

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
            own.processes_ns[i] += row->time_ns;
            own.all_s += (double)row->time_ns / 1e9;
            own.longest_s = (double)row->max_ns / 1e9 > own.longest_s ? (double)row->max_ns / 1e9 : own.longest_s;
            if (row->count > 0 && (own.shortest_s < 0 || (double)row->min_ns / 1e9 < own.shortest_s))
                own.shortest_s = (double)row->min_ns / 1e9;
        }
    for (int kind = WAIT_NONE + 1; kind < WAIT_CAUSED_COUNT; kind++)
        own.all_s -= (double)input->analysis->waits[kind].states_ns[state] / 1e9;
    own.all_s = own.all_s > 0 ? own.all_s : 0;
    return own;
}

/* How many times as long calls of the kind last as their data explain, at worst: ten times the shortest call and
   SLOW_NETWORK. 0 where the trace does not tell. */
static double unexplained(const struct finding_input *input, const struct state_def *state, const struct own_time *own)
{
    uint64_t bytes = 0, messages = metrics_messages(input->metrics, &bytes);
    bool known = state->class == CLASS_SYNC || (state->class == CLASS_P2P && messages > 0);
    if (!known || own->calls == 0 || own->shortest_s < 0)
        return 0;
    double each = state->class == CLASS_SYNC ? 0 : (double)bytes / (double)messages;
    double explained = 10 * own->shortest_s + each / SLOW_NETWORK;
    return explained > 0 ? own->all_s / (double)own->calls / explained : 0;
}

/* Processes that have far more than the mean of the bytes of all messages; none where they are even. */
static struct ranks with_most_bytes(const struct metrics *metrics)
{
    size_t count = metrics->process_count;
    int64_t *excess = memory_new(count * sizeof *excess), most = 0;
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++)
        all += metrics->process[i].bytes_sent + metrics->process[i].bytes_received;
    for (size_t i = 0; i < count; i++) {
        uint64_t mean = all / count, mine = metrics->process[i].bytes_sent + metrics->process[i].bytes_received;
        excess[i] = mine > mean && mine <= INT64_MAX ? (int64_t)(mine - mean) : 0;
        most = excess[i] > most ? excess[i] : most;
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
    return ns > 0 ? ns : 0;
}

/* True if all of these do more in MPI than others: the critical path is somewhere in any run. */
static bool have_more(const struct finding_input *input, const struct ranks *ranks)
{
    const struct metrics *metrics = input->metrics;
    double mean = 0, least = INFINITY;
    size_t at = 0;
    for (size_t i = 0; i < metrics->process_count; i++) {
        double own = own_ns(input, i);
        mean += own / (double)metrics->process_count;
        if (at < ranks->count && metrics->process[i].rank == ranks->rank[at]) {
            least = own < least ? own : least;
            at++;
        }
    }
    return least >= UNEVEN * mean;
}

static void say_causes(const struct finding_input *input, const char *begin, struct finding *finding)
{
    char who[WHO_SIZE];
    size_t used = strlen(finding->text);
    snprintf(finding->text + used, sizeof finding->text - used, " %s %s.", begin,
             who_text(who, &finding->causes, input->metrics->process_count));
}

/* A few processes that move most, or whose calls are most of what the run's critical path is in MPI. */
static void name_causes(const struct finding_input *input, enum function_class class, struct finding *finding)
{
    if (class == CLASS_P2P || class == CLASS_WAIT) {
        finding->causes = with_most_bytes(input->metrics);
        if (are_few(&finding->causes, input->metrics)) {
            say_causes(input, "Far more bytes than through the others go through", finding);
            return;
        }
        free(finding->causes.rank);
    }
    finding->causes = ranks_to_blame(input->metrics, input->analysis->path_mpi_ns);
    if (are_few(&finding->causes, input->metrics) && have_more(input, &finding->causes))
        say_causes(input, "Most of what the critical path has in MPI is in", finding);
    else
        finding->causes.count = 0;
}

static void say(const struct finding_input *input, uint32_t index, const struct own_time *own, double efficiency,
                struct finding *finding)
{
    const struct state_def *state = &input->metrics->defs->states[index];
    const struct remedy *remedy = remedy_of(state);
    double path = (double)input->analysis->path > 0
                      ? (double)input->analysis->path_states_ns[index] / (double)input->analysis->path
                      : 0;
    char share[TEXT_NUMBER_SIZE], calls[TEXT_NUMBER_SIZE], time[TEXT_NUMBER_SIZE], each[TEXT_NUMBER_SIZE],
        ideal[TEXT_NUMBER_SIZE], transfer[TEXT_NUMBER_SIZE];
    snprintf(finding->title, sizeof finding->title, "%.*s itself, waits aside, takes %s of the critical path",
             text_beginning(state->name, 60), state->name, text_share(share, path));
    snprintf(finding->text, sizeof finding->text,
             "%s calls of %.*s take %s together beyond all waiting for others, %s each: it %s. On a network that costs "
             "nothing the run would last %s; what starts and ends MPI aside, that is a transfer efficiency of %s.",
             text_thousands(calls, own->calls), text_beginning(state->name, 60), state->name,
             seconds_text(time, own->all_s), seconds_text(each, own->calls ? own->all_s / (double)own->calls : 0),
             remedy->doing, seconds_text(ideal, (double)input->analysis->ideal / 1e9),
             text_share(transfer, efficiency));
    snprintf(finding->advice, sizeof finding->advice, "%s", remedy->advice);
}

bool find_transfer(const struct finding_input *input, struct finding *finding)
{
    const struct analysis *analysis = input->analysis;
    const struct defs *defs = input->metrics->defs;
    uint32_t state = analysis_longest_own(analysis, defs);
    double duration = (double)analysis->duration / 1e9, rest = duration_without_startup(input);
    double efficiency = rest > 0 ? (double)analysis->ideal / 1e9 / rest : 1;
    finding->saving_s = (double)analysis->own_saving / 1e9;
    if (state == UINT32_MAX || efficiency >= ACCEPTABLE || finding->saving_s < LEAST_SHARE * duration)
        return false;
    struct own_time own = own_time_of(input, state);
    if (unexplained(input, &defs->states[state], &own) > UNEXPLAINED) {
        free(own.processes_ns);
        return false;
    }
    finding->waiting_s = own.all_s;
    finding->victims = ranks_with_most(input->metrics, own.processes_ns, 0.95);
    free(own.processes_ns);
    finding->functions[0] = defs->states[state].name;
    finding->to_s = duration;
    finding_takes_calls(finding, analysis, state);
    say(input, state, &own, efficiency, finding);
    name_causes(input, defs->states[state].class, finding);
    finding_evidence(finding, "transfer_efficiency", analysis->transfer, false);
    finding_evidence(finding, "ideal_s", (double)analysis->ideal / 1e9, true);
    finding_evidence(finding, "calls", (double)own.calls, false);
    finding_evidence(finding, "longest_s", own.longest_s, true);
    finding_evidence(finding, "shortest_s", own.shortest_s, true);
    return true;
}

void finding_caveat(const struct finding_input *input, char caveat[FINDING_CAVEAT_SIZE])
{
    const struct defs *defs = input->metrics->defs;
    uint32_t index = analysis_longest_own(input->analysis, defs);
    caveat[0] = '\0';
    if (index == UINT32_MAX || input->analysis->own_saving < (int64_t)(LEAST_SHARE * (double)input->analysis->duration))
        return;
    const struct state_def *state = &defs->states[index];
    struct own_time own = own_time_of(input, index);
    double times = unexplained(input, state, &own);
    char each[TEXT_NUMBER_SIZE], count[TEXT_NUMBER_SIZE];
    if (times > UNEXPLAINED)
        snprintf(caveat, FINDING_CAVEAT_SIZE,
                 "The processes seem to share cores: %.*s lasts %s, waits aside, %s times what its data explain. Run "
                 "no more "
                 "processes than there are cores.",
                 text_beginning(state->name, 60), state->name, seconds_text(each, own.all_s / (double)own.calls),
                 text_thousands(count, times < 1e15 ? (uint64_t)times : UINT64_C(1000000000000000)));
    free(own.processes_ns);
}
