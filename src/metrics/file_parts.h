/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_FILE_PARTS_H
#define SIGHT_METRICS_FILE_PARTS_H

#include "core/xml_sax.h"
#include "metrics/metrics.h"

/* Shared by the sources that read metrics files: the elements and attributes, and the parsing of values. */

/* X(name): the attributes that are read; the file has others, computed from these, for other readers. */
#define FILE_ATTRIBUTES(X)                                                                                             \
    X(advice)                                                                                                          \
    X(after)                                                                                                           \
    X(amount)                                                                                                          \
    X(axis)                                                                                                            \
    X(before_s)                                                                                                        \
    X(begin_s)                                                                                                         \
    X(by_world)                                                                                                        \
    X(bytes)                                                                                                           \
    X(bytes_received)                                                                                                  \
    X(bytes_sent)                                                                                                      \
    X(calls)                                                                                                           \
    X(cause_s)                                                                                                         \
    X(caused_s)                                                                                                        \
    X(colour)                                                                                                          \
    X(communicating_s)                                                                                                 \
    X(communication_s)                                                                                                 \
    X(communicator)                                                                                                    \
    X(complete)                                                                                                        \
    X(compute_s)                                                                                                       \
    X(computing_s)                                                                                                     \
    X(concentration)                                                                                                   \
    X(cost_s)                                                                                                          \
    X(count)                                                                                                           \
    X(counter)                                                                                                         \
    X(cut)                                                                                                             \
    X(cycle)                                                                                                           \
    X(damage)                                                                                                          \
    X(damages)                                                                                                         \
    X(depth)                                                                                                           \
    X(died_s)                                                                                                          \
    X(end_s)                                                                                                           \
    X(entries)                                                                                                         \
    X(entropy)                                                                                                         \
    X(events)                                                                                                          \
    X(exclusive_s)                                                                                                     \
    X(falls)                                                                                                           \
    X(file)                                                                                                            \
    X(first)                                                                                                           \
    X(format)                                                                                                          \
    X(from)                                                                                                            \
    X(from_s)                                                                                                          \
    X(function)                                                                                                        \
    X(group)                                                                                                           \
    X(growth)                                                                                                          \
    X(heaviest)                                                                                                        \
    X(hypothesis)                                                                                                      \
    X(iteration)                                                                                                       \
    X(iteration_share)                                                                                                 \
    X(kind)                                                                                                            \
    X(least)                                                                                                           \
    X(least_calls)                                                                                                     \
    X(least_time_s)                                                                                                    \
    X(line)                                                                                                            \
    X(longest_s)                                                                                                       \
    X(loop)                                                                                                            \
    X(loops)                                                                                                           \
    X(loss_s)                                                                                                          \
    X(mad_s)                                                                                                           \
    X(matched)                                                                                                         \
    X(max_s)                                                                                                           \
    X(mean_s)                                                                                                          \
    X(median_s)                                                                                                        \
    X(message_ends)                                                                                                    \
    X(messages)                                                                                                        \
    X(messages_received)                                                                                               \
    X(parallel_mpi_s)                                                                                                  \
    X(parallel_s)                                                                                                      \
    X(partner)                                                                                                         \
    X(regions)                                                                                                         \
    X(short_s)                                                                                                         \
    X(short_waiting_s)                                                                                                 \
    X(messages_sent)                                                                                                   \
    X(min_s)                                                                                                           \
    X(mixed_share)                                                                                                     \
    X(mode)                                                                                                            \
    X(more_false)                                                                                                      \
    X(more_true)                                                                                                       \
    X(more_unknown)                                                                                                    \
    X(most)                                                                                                            \
    X(most_s)                                                                                                          \
    X(mpi_s)                                                                                                           \
    X(name)                                                                                                            \
    X(open)                                                                                                            \
    X(open_s)                                                                                                          \
    X(parent)                                                                                                          \
    X(per_group)                                                                                                       \
    X(period)                                                                                                          \
    X(persistence)                                                                                                     \
    X(phase)                                                                                                           \
    X(processes)                                                                                                       \
    X(rank)                                                                                                            \
    X(rank_share)                                                                                                      \
    X(also_explains)                                                                                                   \
    X(readings)                                                                                                        \
    X(reason)                                                                                                          \
    X(recoverable_s)                                                                                                   \
    X(rest)                                                                                                            \
    X(rhythm_s)                                                                                                        \
    X(role)                                                                                                            \
    X(roles)                                                                                                           \
    X(rows)                                                                                                            \
    X(saving_s)                                                                                                        \
    X(remains_s)                                                                                                       \
    X(shift_s)                                                                                                         \
    X(similarity)                                                                                                      \
    X(since_s)                                                                                                         \
    X(slow)                                                                                                            \
    X(source)                                                                                                          \
    X(state)                                                                                                           \
    X(static_s)                                                                                                        \
    X(stray)                                                                                                           \
    X(tag)                                                                                                             \
    X(tests)                                                                                                           \
    X(text)                                                                                                            \
    X(thread)                                                                                                          \
    X(threshold)                                                                                                       \
    X(time_back)                                                                                                       \
    X(time_s)                                                                                                          \
    X(times_s)                                                                                                         \
    X(title)                                                                                                           \
    X(to)                                                                                                              \
    X(to_bytes)                                                                                                        \
    X(to_s)                                                                                                            \
    X(total_bytes)                                                                                                     \
    X(trend)                                                                                                           \
    X(trend_fit)                                                                                                       \
    X(unit)                                                                                                            \
    X(used_bytes)                                                                                                      \
    X(value)                                                                                                           \
    X(values)                                                                                                          \
    X(version)                                                                                                         \
    X(waited_s)                                                                                                        \
    X(waiting_s)                                                                                                       \
    X(warm_up)

enum file_attribute {
#define ATTRIBUTE_MEMBER(name) ATTRIBUTE_##name,
    FILE_ATTRIBUTES(ATTRIBUTE_MEMBER)
#undef ATTRIBUTE_MEMBER
        ATTRIBUTE_COUNT
};
_Static_assert((int)ATTRIBUTE_COUNT <= (int)XML_SAX_ATTRIBUTES, "the parser has a value for each");

/* X(name): the elements; read_##name handles each. */
#define FILE_ELEMENTS(X)                                                                                               \
    X(property)                                                                                                        \
    X(state)                                                                                                           \
    X(counter)                                                                                                         \
    X(process)                                                                                                         \
    X(function)                                                                                                        \
    X(sent)                                                                                                            \
    X(received)                                                                                                        \
    X(mark)                                                                                                            \
    X(thread)                                                                                                          \
    X(resource)                                                                                                        \
    X(counted)                                                                                                         \
    X(communicator)                                                                                                    \
    X(tag)                                                                                                             \
    X(size)                                                                                                            \
    X(hang)                                                                                                            \
    X(pending)                                                                                                         \
    X(analysis)                                                                                                        \
    X(number)                                                                                                          \
    X(wait)                                                                                                            \
    X(waiter)                                                                                                          \
    X(waited)                                                                                                          \
    X(during)                                                                                                          \
    X(site)                                                                                                            \
    X(among)                                                                                                           \
    X(synchronising)                                                                                                   \
    X(concurrency)                                                                                                     \
    X(busy)                                                                                                            \
    X(own)                                                                                                             \
    X(path)                                                                                                            \
    X(impact)                                                                                                          \
    X(excess)                                                                                                          \
    X(delay)                                                                                                           \
    X(clock)                                                                                                           \
    X(polling)                                                                                                         \
    X(late)                                                                                                            \
    X(call_site)                                                                                                       \
    X(phases)                                                                                                          \
    X(loop)                                                                                                            \
    X(phase)                                                                                                           \
    X(spent)                                                                                                           \
    X(share)                                                                                                           \
    X(iterations)                                                                                                      \
    X(iteration)                                                                                                       \
    X(slow)                                                                                                            \
    X(computing)                                                                                                       \
    X(search)                                                                                                          \
    X(test)

struct metrics_file {
    struct xml_sax sax;
    struct error *err; /* a fault that ended reading */
    bool failed;
    struct metrics *metrics;
    struct damage damage;          /* of this file */
    struct xml_line text;          /* scratch */
    struct process_row *row;       /* of the current process; NULL: none */
    struct process_resources *got; /* what the current process got of the machine; NULL: nothing yet */
    size_t resource_capacity, counter_capacity, counted_capacity;
    size_t process_capacity, function_capacity, sent_capacity, received_capacity, mark_capacity, thread_capacity;
    size_t communicator_capacity, tag_capacity, size_capacity;
    struct map marks, sites; /* hash of name -> index; of a site's file, line and function */
    struct wait_sums *wait;  /* the current one; NULL: none */
    size_t wait_site_capacity, wait_comm_capacity, call_site_capacity, pending_capacity;
    struct part_sums *part; /* the current one; NULL: none */
    size_t phase_capacity, loop_capacity, iteration_capacity;
};

/* Reports damage at the current place. */
void file_damage(struct metrics_file *file, const char *format, ...) PRINTF_LIKE(2, 3);

/* Reports an attribute with an invalid value. */
void file_attribute_damage(struct metrics_file *file, enum file_attribute attribute);
extern const char *const file_attribute_names[ATTRIBUTE_COUNT];

/* Values of attributes. An invalid value is damage, and 0. */
uint64_t file_count(struct metrics_file *file, enum file_attribute attribute, uint64_t max);
int64_t file_number(struct metrics_file *file, enum file_attribute attribute); /* absent: EVENT_UNKNOWN */
int64_t file_time(struct metrics_file *file, enum file_attribute attribute);   /* seconds, as ns */
double file_ratio(struct metrics_file *file, enum file_attribute attribute);
const char *file_text(struct metrics_file *file, enum file_attribute attribute); /* borrowed until the next call */

/* Index of the state of this name, among the definitions, added with the colour (NULL: none) if needed. */
uint32_t file_state_named(struct metrics_file *file, const char *name, const char *colour);

/* Row of the process with this rank; SIZE_MAX and damage if there is none so far. */
size_t file_process(struct metrics_file *file, enum file_attribute attribute);

/* Elements of the analysis: analysis_file.c. */
void read_analysis(struct metrics_file *file);
void read_number(struct metrics_file *file);
void read_wait(struct metrics_file *file);
void read_waiter(struct metrics_file *file);
void read_during(struct metrics_file *file);
void read_synchronising(struct metrics_file *file);
void read_concurrency(struct metrics_file *file);
void read_busy(struct metrics_file *file);
void read_own(struct metrics_file *file);
void read_waited(struct metrics_file *file);
void read_path(struct metrics_file *file);
void read_delay(struct metrics_file *file);
void read_impact(struct metrics_file *file);
void read_excess(struct metrics_file *file);
void read_clock(struct metrics_file *file);
void read_polling(struct metrics_file *file);
void read_late(struct metrics_file *file);
void read_call_site(struct metrics_file *file);

/* Elements of why the run hung: hang_file.c. */
void read_hang(struct metrics_file *file);
void read_pending(struct metrics_file *file);

/* Elements of the places of waits: wait_file.c. */
void read_site(struct metrics_file *file);
void read_among(struct metrics_file *file);

/* Index of the site that the current element names, among the definitions, added if needed. */
uint32_t file_site(struct metrics_file *file);

/* Elements of counters: counter_file.c. */
void read_counter(struct metrics_file *file);
void read_counted(struct metrics_file *file);

/* Elements of phases and iterations: phase_file.c. */
void read_phases(struct metrics_file *file);
void read_loop(struct metrics_file *file);
void read_phase(struct metrics_file *file);
void read_spent(struct metrics_file *file);
void read_share(struct metrics_file *file);
void read_iterations(struct metrics_file *file);
void read_iteration(struct metrics_file *file);
void read_slow(struct metrics_file *file);
void read_computing(struct metrics_file *file);

/* Elements of the search: search_file.c. */
void read_search(struct metrics_file *file);
void read_test(struct metrics_file *file);

/* At the end of the file: removes phases that are incomplete. */
void phases_finish(struct metrics_file *file);

#endif
