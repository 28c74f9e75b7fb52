/* SPDX-License-Identifier: BSD-3-Clause */
/* The finding that messages between two processes or hosts, or of one, take much longer than comparable others. */
#include "heuristics/finding.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/efficiency.h"
#include "heuristics/host_rows.h"

#include <stdio.h>

/* As analysis->slow_link and slow_link_way count them. */
enum { BETWEEN_PROCESSES = 1, OF_PROCESS, BETWEEN_HOSTS, OF_HOST };
enum { BOTH_WAYS, AWAY, BACK };

/* An end of a link: "process 3", "host n01". */
enum { END_SIZE = 80 };

static void end_text(char text[END_SIZE], const struct host_rows *hosts, bool is_host, size_t row)
{
    const char *name = hosts->name[hosts->host[row]];
    if (is_host && name)
        snprintf(text, END_SIZE, "host %.*s", text_beginning(name, 60), name);
    else if (is_host)
        snprintf(text, END_SIZE, "the host of process %u", hosts->metrics->process[row].rank);
    else
        snprintf(text, END_SIZE, "process %u", hosts->metrics->process[row].rank);
}

/* "process 3 and process 5", "process 5 to process 3" */
static void pair_text(char text[2 * END_SIZE + 10], const struct analysis *analysis, const struct host_rows *hosts,
                      uint64_t one, uint64_t other)
{
    char ends[2][END_SIZE];
    bool of_hosts = analysis->slow_link == BETWEEN_HOSTS, back = analysis->slow_link_way == BACK;
    end_text(ends[back], hosts, of_hosts, (size_t)one);
    end_text(ends[!back], hosts, of_hosts, (size_t)other);
    snprintf(text, 2 * END_SIZE + 10, "%s %s %s", ends[0], analysis->slow_link_way == BOTH_WAYS ? "and" : "to",
             ends[1]);
}

/* "between process 3 and process 5", "from process 3 to process 5, and from process 6 to process 7", "to and from
   process 3", "to process 3" */
enum { WAY_SIZE = 4 * END_SIZE + 50 };

static void way_text(char text[WAY_SIZE], const struct analysis *analysis, const struct host_rows *hosts)
{
    char pair[2 * END_SIZE + 10], next[2 * END_SIZE + 10];
    const char *way = analysis->slow_link_way == BOTH_WAYS ? "between" : "from";
    if (analysis->slow_link == OF_PROCESS || analysis->slow_link == OF_HOST) {
        end_text(pair, hosts, analysis->slow_link == OF_HOST, (size_t)analysis->slow_link_one);
        snprintf(text, WAY_SIZE, "%s %s",
                 analysis->slow_link_way == BOTH_WAYS ? "to and from"
                 : analysis->slow_link_way == AWAY    ? "from"
                                                      : "to",
                 pair);
        return;
    }
    pair_text(pair, analysis, hosts, analysis->slow_link_one, analysis->slow_link_other);
    snprintf(text, WAY_SIZE, "%s %s", way, pair);
    if (analysis->slow_links < 2)
        return;
    pair_text(next, analysis, hosts, analysis->slow_link_next_one, analysis->slow_link_next_other);
    text_append(text, WAY_SIZE, ", and %s %s,", way, next);
}

/* "12", "3.4" */
static char *times_text(char text[TEXT_NUMBER_SIZE], double times)
{
    snprintf(text, TEXT_NUMBER_SIZE, times < 9.95 ? "%.1f" : "%.0f", times);
    return text;
}

static void say(const struct analysis *analysis, const struct host_rows *hosts, struct finding *finding)
{
    char way[WAY_SIZE], times[TEXT_NUMBER_SIZE], count[TEXT_NUMBER_SIZE], bytes[TEXT_NUMBER_SIZE],
        slow[TEXT_NUMBER_SIZE], usual[TEXT_NUMBER_SIZE], lost[TEXT_NUMBER_SIZE];
    char size[TEXT_NUMBER_SIZE + 20] = "", from[TEXT_NUMBER_SIZE];
    way_text(way, analysis, hosts);
    if (analysis->slow_link_from > 0)
        snprintf(size, sizeof size, " of %s or more", text_bytes(from, analysis->slow_link_from));
    times_text(times, ratio_of((double)analysis->slow_link_time, (double)analysis->slow_link_usual));
    snprintf(finding->title, sizeof finding->title, "%s %s take %s times as long as others",
             *size ? "large messages" : "messages", way, times);
    snprintf(finding->text, sizeof finding->text,
             "Once sender and receiver are both there, the %s messages%s (%s) %s take %s (median); messages of similar "
             "size elsewhere take %s. That makes calls %s longer, summed over all processes.",
             text_thousands(count, analysis->slow_link_messages), size, text_bytes(bytes, analysis->slow_link_bytes),
             way, seconds_text(slow, (double)analysis->slow_link_time / 1e9),
             seconds_text(usual, (double)analysis->slow_link_usual / 1e9), seconds_text(lost, finding->waiting_s));
}

/* What to look at, by what is known of where the processes are. */
static const char *advice_of(const struct analysis *analysis, const struct host_rows *hosts)
{
    size_t one = (size_t)analysis->slow_link_one, other = (size_t)analysis->slow_link_other;
    bool known = hosts->name[hosts->host[one]] && hosts->name[hosts->host[other]];
    if (analysis->slow_link != BETWEEN_PROCESSES)
        return "test the network there, apart from the program (a bad cable, port or adapter, a slow route, other "
               "traffic); run on other hosts";
    if (analysis->slow_links > 1)
        return "see where the processes of each pair run: put both on one host if they are on two; if all are, test "
               "the "
               "network between these (a bad cable or port, a slow route, other traffic)";
    if (!known)
        return "see where the two processes run: put them on one host if they are on two; if all are, test the network "
               "between these (a bad cable or port, a slow route, other traffic)";
    if (hosts->host[one] == hosts->host[other])
        return "both run on one host: see to which cores they are bound, and whether their MPI library uses shared "
               "memory for them";
    return "test the network between the hosts of the two, apart from the program (a bad cable or port, a slow route, "
           "other traffic); or put both on one host";
}

/* The processes at the ends, where these are processes. */
static void name_ends(const struct finding_input *input, struct finding *finding)
{
    const struct analysis *analysis = input->analysis;
    size_t count = input->metrics->process_count;
    if (analysis->slow_link == BETWEEN_HOSTS || analysis->slow_link == OF_HOST)
        return;
    int64_t *ends = memory_new(count * sizeof *ends);
    ends[analysis->slow_link_one] = ends[analysis->slow_link_other] = 1;
    if (analysis->slow_links > 1)
        ends[analysis->slow_link_next_one] = ends[analysis->slow_link_next_other] = 1;
    finding->causes = ranks_to_blame(input->metrics, ends);
    free(ends);
}

bool find_slow_link(const struct finding_input *input, struct finding *finding)
{
    const struct analysis *analysis = input->analysis;
    uint64_t count = input->metrics->process_count;
    /* Rows and kinds beyond are a metrics file's. */
    if (analysis->slow_link < BETWEEN_PROCESSES || analysis->slow_link > OF_HOST || analysis->slow_link_one >= count ||
        analysis->slow_link_other >= count || analysis->slow_link_next_one >= count ||
        analysis->slow_link_next_other >= count)
        return false;
    struct host_rows hosts = host_rows_of(input->metrics);
    finding->waiting_s = (double)analysis->slow_link_lost / 1e9;
    finding->saving_s = (double)analysis->slow_link_saving / 1e9;
    finding->to_s = (double)analysis->duration / 1e9;
    name_ends(input, finding);
    say(analysis, &hosts, finding);
    snprintf(finding->advice, sizeof finding->advice, "%s", advice_of(analysis, &hosts));
    finding_evidence(finding, "slow_transfer_s", (double)analysis->slow_link_time / 1e9, true);
    finding_evidence(finding, "usual_transfer_s", (double)analysis->slow_link_usual / 1e9, true);
    finding_evidence(finding, "slow_messages", (double)analysis->slow_link_messages, false);
    finding_evidence(finding, "slow_bytes", (double)analysis->slow_link_bytes, false);
    host_rows_clear(&hosts);
    return true;
}
