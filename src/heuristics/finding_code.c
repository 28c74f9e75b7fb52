/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/finding_code.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "profile/profile_callers.h"
#include "profile/profile_excess.h"

#include <ctype.h>
#include <string.h>

/* Places that matter: this part of the saving, as far as that is not waiting for a core. With less, another place
 * explains the imbalance better. */
static const double PART = 0.1;

/* A line is named if it has this part of the excess of its function: in an inlined or unrolled loop the samples spread
   over a few lines, and none of them is the place. */
static const double LINE_PART = 0.3;

struct finding_coder {
    const struct metrics *metrics;
    struct profile_rows functions, lines;
    uint32_t *ranks; /* of all processes, ascending */
};

struct finding_coder *finding_coder_new(const struct metrics *metrics)
{
    if (!metrics->profile || metrics->profile->samples == 0)
        return NULL;
    struct finding_coder *coder = memory_new(sizeof *coder);
    coder->metrics = metrics;
    coder->functions = profile_rows_of(metrics->profile, PROFILE_BY_OWN_FUNCTION);
    coder->lines = profile_rows_of(metrics->profile, PROFILE_BY_OWN_LINE);
    coder->ranks = memory_new((metrics->process_count + 1) * sizeof *coder->ranks);
    for (size_t i = 0; i < metrics->process_count; i++)
        coder->ranks[i] = metrics->process[i].rank;
    return coder;
}

void finding_coder_free(struct finding_coder *coder)
{
    if (!coder)
        return;
    profile_rows_clear(&coder->functions);
    profile_rows_clear(&coder->lines);
    free(coder->ranks);
    free(coder);
}

/* The line of the function with most of its excess; the function's own where no line has much of it. */
static int32_t line_of(const struct finding_coder *coder, const struct profile_groups *groups,
                       const struct profile_row *function, int64_t excess_ns)
{
    enum { LINES_MOST = 64 };
    struct profile_excess lines[LINES_MOST];
    size_t count = profile_excess_find(coder->metrics->profile, &coder->lines, groups, lines, LINES_MOST);
    for (size_t i = 0; i < count; i++) {
        const struct profile_row *line = &coder->lines.row[lines[i].row];
        if (strcmp(line->name, function->name) != 0 || strcmp(line->file, function->file) != 0)
            continue;
        /* The lines come with the largest excess first: the others of this function have less. */
        if ((double)lines[i].ns >= LINE_PART * (double)excess_ns)
            return line->line;
        break;
    }
    return function->line;
}

/* Processes to blame, and how much more time each of them spends in a function on average. */
struct doers {
    struct ranks ranks; /* rank owned */
    double excess_s;
};

/* One that has less than this part of the mean excess is to blame for something else. */
static const double DOES = 0.5;

static struct doers doers_of(const struct profile_row *function, const struct ranks *causes, int64_t excess_ns)
{
    struct doers doers = {.ranks.rank = memory_new((causes->count + 1) * sizeof *doers.ranks.rank)};
    double sum_ns = 0, more_ns = 0;
    for (size_t i = 0; i < function->process_count; i++)
        if (is_among(function->processes[i].rank, causes->rank, causes->count))
            sum_ns += (double)function->processes[i].self_ns;
    double others_ns = sum_ns / (double)causes->count - (double)excess_ns;
    for (size_t i = 0; i < function->process_count; i++) {
        const struct profile_share *share = &function->processes[i];
        double own_ns = (double)share->self_ns - others_ns;
        if (!is_among(share->rank, causes->rank, causes->count) || own_ns < DOES * (double)excess_ns)
            continue;
        doers.ranks.rank[doers.ranks.count++] = share->rank;
        more_ns += own_ns;
    }
    doers.excess_s = ratio_of(more_ns, (double)doers.ranks.count) / 1e9;
    return doers;
}

/* Its extension module, which calls the interpreter for pickling: "[MPI.cpython-311-x86_64-linux-gnu.so]". */
static bool is_mpi4py(const char *called)
{
    return strncmp(called, "[MPI.", 5) == 0;
}

static void say(struct finding *finding, const struct doers *doers, size_t processes)
{
    char who[WHO_SIZE], time[TEXT_NUMBER_SIZE], site[SITE_TEXT_SIZE];
    const struct finding_code *code = &finding->code[0];
    struct site_def place = {.file = (char *)code->file, .line = code->line};
    size_t size = sizeof finding->text;
    who_text(who, &doers->ranks, processes);
    *who = (char)toupper((unsigned char)*who);
    text_append(finding->text, size, " %s compute%s %s more%s than the others in %.*s", who,
                text_plural(doers->ranks.count, "s", ""), seconds_text(time, doers->excess_s),
                text_plural(doers->ranks.count, "", " each"), text_beginning(code->name, 60), code->name);
    if (*code->file)
        text_append(finding->text, size, " (%s)", site_text(site, &place));
    if (code->called)
        text_append(finding->text, size, " and %.*s, which it calls", text_beginning(code->called, 60), code->called);
    if (code->caller)
        text_append(finding->text, size, ", called from %.*s", text_beginning(code->caller, 60), code->caller);
    text_append(finding->text, size, ".");
    if (code->called && is_mpi4py(code->called))
        text_append(finding->text, size,
                    " Outside MPI, mpi4py mostly turns objects into bytes and back (pickle): its methods with capitals "
                    "(Send, Recv, Bcast) move NumPy arrays without that.");
}

/* Of the time in which these processes could go on, the share in which they had a core: samples are of that, savings of
   all of it. 1 where it is not known. */
static double core_share(const struct metrics *metrics, const struct ranks *ranks)
{
    double cpu_ns = 0, ready_ns = 0;
    for (size_t i = 0; i < ranks->count; i++) {
        const struct process_resources *process = resources_of(metrics->resources, ranks->rank[i]);
        int64_t own_ns = process ? resources_used(process, RESOURCE_CPU) : -1;
        int64_t delay_ns = process ? resources_used(process, RESOURCE_DELAY) : -1;
        if (own_ns <= 0 || delay_ns < 0)
            return 1;
        cpu_ns += (double)own_ns;
        ready_ns += (double)own_ns + (double)delay_ns;
    }
    return ready_ns > 0 ? cpu_ns / ready_ns : 1;
}

void finding_code_fit(const struct finding_coder *coder, struct finding *finding)
{
    struct profile_excess found[FINDING_CODE];
    /* A lack of cores is not in the code of the program. */
    if (!coder || finding->kind == FINDING_oversubscription || finding_is_shortage(finding->kind))
        return;
    struct profile_groups groups = {.culprits = finding->causes.rank,
                                    .culprit_count = finding->causes.count,
                                    .all = coder->ranks,
                                    .count = coder->metrics->process_count};
    double least_s = PART * finding->saving_s * (finding->by_cpu ? 1 : core_share(coder->metrics, &finding->causes));
    struct doers doers = {0};
    size_t count = profile_excess_find(coder->metrics->profile, &coder->functions, &groups, found, FINDING_CODE);
    for (size_t i = 0; i < count; i++) {
        const struct profile_row *function = &coder->functions.row[found[i].row];
        if ((double)found[i].ns / 1e9 < least_s)
            continue;
        if (finding->code_count == 0)
            doers = doers_of(function, &finding->causes, found[i].ns);
        finding->code[finding->code_count++] = (struct finding_code){
            .name = function->name,
            .file = function->file,
            .line = line_of(coder, &groups, function, found[i].ns),
            .called = profile_called(coder->metrics->profile, &coder->functions, found[i].row, finding->causes.rank,
                                     finding->causes.count),
            .caller = found[i].caller == UINT32_MAX ? NULL : coder->functions.row[found[i].caller].name,
            .excess_s = (double)found[i].ns / 1e9,
            .chance = found[i].chance};
    }
    if (finding->code_count > 0)
        say(finding, &doers, coder->metrics->process_count);
    free(doers.ranks.rank);
}
