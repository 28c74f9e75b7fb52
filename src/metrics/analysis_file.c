/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what metrics files contain of the analysis: waits, their causes, the critical path, the course of the run. */
#include "core/memory.h"
#include "metrics/file_parts.h"

#include <string.h>

/* All processes and states come first in the file: the arrays have their sizes. */
void read_analysis(struct metrics_file *file)
{
    struct metrics *metrics = file->metrics;
    /* A second element adds to the same analysis. */
    if (!metrics->analysis)
        metrics->analysis = analysis_new(metrics->process_count, metrics->own_defs->state_count);
}

#define file_number_TIME file_time
#define file_number_COUNT(file, attribute) file_count(file, attribute, UINT64_MAX)
#define file_number_RATIO file_ratio

void read_number(struct metrics_file *file)
{
    struct analysis *analysis = file->metrics->analysis;
    char *name = memory_copy_string(file_text(file, ATTRIBUTE_name));
#define TAKE_NUMBER(member, type)                                                                                      \
    if (analysis && strcmp(name, #member) == 0)                                                                        \
        analysis->member = file_number_##type(file, ATTRIBUTE_value);
    ANALYSIS_NUMBERS(TAKE_NUMBER)
#undef TAKE_NUMBER
    free(name);
}

void read_wait(struct metrics_file *file)
{
    struct analysis *analysis = file->metrics->analysis;
    const char *name = file_text(file, ATTRIBUTE_kind);
    enum wait_kind kind = wait_kind_find(name);
    file->wait = NULL;
    if (analysis && kind != WAIT_NONE)
        file->wait = &analysis->waits[kind];
    if (analysis && strcmp(name, WAIT_CONTENTION) == 0)
        file->wait = &analysis->contention;
    if (analysis && strcmp(name, WAIT_UNEVEN) == 0)
        file->wait = &analysis->uneven;
    file->wait_site_capacity = file->wait_comm_capacity = 0;
    if (!file->wait)
        return;
    /* Only the last element of a kind counts, as a sum of both would be the waits of no run. */
    free(file->wait->sites); /* a kind that occurs twice */
    free(file->wait->comms);
    memset(file->wait->course_ns, 0, sizeof file->wait->course_ns);
    file->wait->sites = file->wait->comms = NULL;
    file->wait->site_count = file->wait->comm_count = 0;
    file->wait->count = file_count(file, ATTRIBUTE_count, UINT64_MAX);
    file->wait->calls = file_count(file, ATTRIBUTE_calls, UINT64_MAX);
    file->wait->ns = file_time(file, ATTRIBUTE_time_s);
    file->wait->longest_ns = file_time(file, ATTRIBUTE_longest_s);
    file->wait->from_ns = file_time(file, ATTRIBUTE_from_s);
    file->wait->to_ns = file_time(file, ATTRIBUTE_to_s);
    /* Missing is "not computed" (-1, see sums_new), which is not the same as 0. */
    if (xml_sax_has(&file->sax, ATTRIBUTE_saving_s))
        file->wait->saving_ns = file_time(file, ATTRIBUTE_saving_s);
    if (xml_sax_has(&file->sax, ATTRIBUTE_remains_s))
        file->wait->remains_ns = file_time(file, ATTRIBUTE_remains_s);
}

/* Row of the current process in the analysis, which covers only processes before it in the file. */
static size_t file_row(struct metrics_file *file)
{
    size_t row = file_process(file, ATTRIBUTE_rank);
    if (!file->metrics->analysis || row >= file->metrics->analysis->process_count)
        return SIZE_MAX;
    return row;
}

void read_waiter(struct metrics_file *file)
{
    size_t row = file_row(file);
    if (!file->wait || row == SIZE_MAX)
        return;
    file->wait->victims_ns[row] = file_time(file, ATTRIBUTE_waited_s);
    file->wait->causes_ns[row] = file_time(file, ATTRIBUTE_caused_s);
}

/* Times of bins from `first` on, with blanks between them. */
static void read_course(struct metrics_file *file, int64_t *course_ns)
{
    uint64_t bin = file_count(file, ATTRIBUTE_first, COURSE_BINS - 1);
    struct xml_value rest = file->sax.values[ATTRIBUTE_times_s];
    if (!xml_sax_has(&file->sax, ATTRIBUTE_times_s))
        return;
    for (; rest.length > 0 && bin < COURSE_BINS; bin++) {
        const char *blank = memchr(rest.at, ' ', rest.length);
        struct xml_value time = rest;
        if (blank)
            time.length = (size_t)(blank - rest.at);
        if (!xml_get_seconds(time, &course_ns[bin])) {
            file_attribute_damage(file, ATTRIBUTE_times_s);
            course_ns[bin] = 0;
            return;
        }
        size_t used = time.length + (blank != NULL);
        rest = (struct xml_value){rest.at + used, rest.length - used};
    }
}

void read_during(struct metrics_file *file)
{
    if (file->wait)
        read_course(file, file->wait->course_ns);
}

/* State of the current name; SIZE_MAX if no state before the analysis has it. */
static size_t file_state(struct metrics_file *file)
{
    int32_t state = defs_find_state(file->metrics->own_defs, file_text(file, ATTRIBUTE_name));
    bool known = file->metrics->analysis && state >= 0 && (size_t)state < file->metrics->analysis->state_count;
    return known ? (size_t)state : SIZE_MAX;
}

void read_synchronising(struct metrics_file *file)
{
    if (file->metrics->analysis)
        read_course(file, file->metrics->analysis->synchronising_course_ns);
}

/* How long so many processes compute at once, and computing over the run. */
void read_concurrency(struct metrics_file *file)
{
    const struct analysis *analysis = file->metrics->analysis;
    uint64_t processes = file_count(file, ATTRIBUTE_processes, UINT32_MAX);
    if (analysis && processes > 0 && processes <= analysis->process_count)
        analysis->concurrency_ns[processes - 1] = file_time(file, ATTRIBUTE_time_s);
}

void read_busy(struct metrics_file *file)
{
    if (file->metrics->analysis)
        read_course(file, file->metrics->analysis->computing_course_ns);
}

void read_own(struct metrics_file *file)
{
    if (!file->metrics->analysis)
        return;
    size_t state = file_state(file);
    if (state != SIZE_MAX)
        read_course(file, analysis_own_course(file->metrics->analysis, state));
}

void read_waited(struct metrics_file *file)
{
    size_t state = file_state(file);
    if (!file->wait || state == SIZE_MAX)
        return;
    file->wait->states_ns[state] = file_time(file, ATTRIBUTE_time_s);
    file->wait->cause_states_ns[state] = file_time(file, ATTRIBUTE_cause_s);
}

/* The critical path on a process, or in a function. */
void read_path(struct metrics_file *file)
{
    struct analysis *analysis = file->metrics->analysis;
    if (!analysis)
        return;
    if (xml_sax_has(&file->sax, ATTRIBUTE_name)) {
        size_t state = file_state(file);
        if (state == SIZE_MAX)
            return;
        analysis->path_states_ns[state] = file_time(file, ATTRIBUTE_time_s);
        analysis->path_before_ns[state] = file_time(file, ATTRIBUTE_before_s);
        return;
    }
    size_t row = file_row(file);
    if (row == SIZE_MAX)
        return;
    analysis->path_compute_ns[row] = file_time(file, ATTRIBUTE_compute_s);
    analysis->path_mpi_ns[row] = file_time(file, ATTRIBUTE_mpi_s);
}

/* Times of processes, and of functions: of calls of them, and of computing before them. */
static void read_costs(struct metrics_file *file, int64_t *processes_ns, int64_t *states_ns, int64_t *before_ns)
{
    if (!xml_sax_has(&file->sax, ATTRIBUTE_name)) {
        size_t row = file_row(file);
        if (row != SIZE_MAX)
            processes_ns[row] = file_time(file, ATTRIBUTE_cost_s);
        return;
    }
    size_t state = file_state(file);
    if (state == SIZE_MAX)
        return;
    states_ns[state] = file_time(file, ATTRIBUTE_cost_s);
    before_ns[state] = file_time(file, ATTRIBUTE_before_s);
}

/* Delay caused by a process, or by calls of a function and computing before them. */
void read_delay(struct metrics_file *file)
{
    struct analysis *analysis = file->metrics->analysis;
    if (analysis)
        read_costs(file, analysis->delay_ns, analysis->delay_states_ns, analysis->delay_before_ns);
}

/* Waiting caused by the same on the critical path. */
void read_impact(struct metrics_file *file)
{
    struct analysis *analysis = file->metrics->analysis;
    if (analysis)
        read_costs(file, analysis->impact_ns, analysis->impact_states_ns, analysis->impact_before_ns);
}

/* How much more of a function the critical path has. */
void read_excess(struct metrics_file *file)
{
    struct analysis *analysis = file->metrics->analysis;
    size_t state = file_state(file);
    /* Here and below: a state is found only where there is an analysis. */
    if (state == SIZE_MAX)
        return;
    analysis->excess_states_ns[state] = file_time(file, ATTRIBUTE_time_s);
    analysis->excess_before_ns[state] = file_time(file, ATTRIBUTE_before_s);
}

/* How far the clock correction moves events of a process. */
void read_clock(struct metrics_file *file)
{
    size_t row = file->metrics->analysis ? file_row(file) : SIZE_MAX;
    if (row != SIZE_MAX)
        file->metrics->analysis->clock_shift_ns[row] = file_time(file, ATTRIBUTE_shift_s);
}

/* How long a process naps between looks for a message. */
void read_polling(struct metrics_file *file)
{
    size_t row = file->metrics->analysis ? file_row(file) : SIZE_MAX;
    if (row != SIZE_MAX)
        file->metrics->analysis->polled_ns[row] = file_time(file, ATTRIBUTE_time_s);
}

/* How long a process keeps others waiting. */
void read_late(struct metrics_file *file)
{
    size_t row = file->metrics->analysis ? file_row(file) : SIZE_MAX;
    if (row != SIZE_MAX)
        file->metrics->analysis->waited_for_ns[row] = file_time(file, ATTRIBUTE_time_s);
}

/* Calls from a place in the source. */
void read_call_site(struct metrics_file *file)
{
    struct analysis *analysis = file->metrics->analysis;
    size_t state = file_state(file);
    if (state == SIZE_MAX)
        return;
    uint32_t site = 0;
    if (xml_sax_has(&file->sax, ATTRIBUTE_file))
        site = file_site(file) + 1;
    ARRAY_PUSH(analysis->call_sites, analysis->call_site_count, file->call_site_capacity,
               (struct call_site){.state = (uint32_t)state,
                                  .site = site,
                                  .locations = (uint32_t)file_count(file, ATTRIBUTE_processes, UINT32_MAX),
                                  .calls = file_count(file, ATTRIBUTE_calls, UINT64_MAX),
                                  .bytes = file_count(file, ATTRIBUTE_bytes, UINT64_MAX),
                                  .ns = file_time(file, ATTRIBUTE_time_s),
                                  .waiting_ns = file_time(file, ATTRIBUTE_waited_s),
                                  .longest_ns = file_time(file, ATTRIBUTE_longest_s)});
}
