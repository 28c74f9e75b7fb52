/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/metrics_fields.h"

#include "core/numbers.h"
#include "metrics/metrics.h"

GETTER(trace_format, struct metrics, value_text(metrics->format))
GETTER(trace_processes, struct metrics, value_count(metrics->processes))
GETTER(trace_events, struct metrics, value_count(metrics->events))
/* Without processes there is no first event; 0 would look like a time. */
GETTER(trace_begin, struct metrics, value_if(metrics->process_count, value_time(metrics->begin_ns)))
GETTER(trace_end, struct metrics, value_if(metrics->process_count, value_time(metrics->end_ns)))
GETTER(trace_duration, struct metrics, value_time(time_since(metrics->begin_ns, metrics->end_ns)))
GETTER(trace_complete, struct metrics, value_bool(metrics->end.complete))

const struct field fields_of_trace[] = {
    {"format", NULL, trace_format},     {"processes", NULL, trace_processes}, {"events", NULL, trace_events},
    {"begin_s", NULL, trace_begin},     {"end_s", NULL, trace_end},           {"duration_s", NULL, trace_duration},
    {"complete", NULL, trace_complete},
};

GETTER(process_rank, struct process_row, value_count(row->rank))
GETTER(process_begin, struct process_row, value_time(row->begin_ns))
GETTER(process_end, struct process_row, value_time(row->end_ns))
GETTER(process_communication, struct process_row, value_time(row->communication_ns))
GETTER(process_compute, struct process_row, value_time(process_compute_ns(row)))
GETTER(process_total, struct process_row, value_time(process_total_ns(row)))
GETTER(process_index, struct process_row, value_ratio(process_communication_index(metrics, row)))
GETTER(process_events, struct process_row, value_count(row->events))
GETTER(process_messages_sent, struct process_row, value_count(row->messages_sent))
GETTER(process_bytes_sent, struct process_row, value_bytes(row->bytes_sent))
GETTER(process_messages_received, struct process_row, value_count(row->messages_received))
GETTER(process_bytes_received, struct process_row, value_bytes(row->bytes_received))

const struct field fields_of_process[] = {
    {"rank", "process", process_rank},
    {"begin_s", NULL, process_begin},
    {"end_s", NULL, process_end},
    {"communication_s", "in MPI", process_communication},
    {"compute_s", "compute", process_compute},
    {"total_s", "total", process_total},
    {"communication_index", NULL, process_index},
    {"events", "events", process_events},
    {"messages_sent", "sent", process_messages_sent},
    {"bytes_sent", "bytes", process_bytes_sent},
    {"messages_received", "received", process_messages_received},
    {"bytes_received", "bytes", process_bytes_received},
};

static const struct state_def *row_state(const struct metrics *metrics, const struct function_row *row)
{
    return &metrics->defs->states[row->state];
}

GETTER(function_name, struct function_row, value_text(row_state(metrics, row)->name))
GETTER(function_class, struct function_row, value_text(function_class_name(row_state(metrics, row)->class)))
GETTER(function_count, struct function_row, value_count(row->count))
GETTER(function_time, struct function_row, value_time(row->time_ns))
GETTER(function_exclusive, struct function_row, value_time(row->exclusive_ns))
GETTER(function_min, struct function_row, value_if(row->count, value_time(row->min_ns)))
GETTER(function_max, struct function_row, value_if(row->count, value_time(row->max_ns)))
GETTER(function_open, struct function_row, value_count(row->open))
GETTER(function_open_time, struct function_row, value_time(row->open_ns))
GETTER(function_stray, struct function_row, value_count(row->stray))

const struct field fields_of_function[] = {
    {"name", "function", function_name},
    {"class", "class", function_class},
    {"count", "calls", function_count},
    {"time_s", "time", function_time},
    {"exclusive_s", "exclusive", function_exclusive},
    {"min_s", "shortest", function_min},
    {"max_s", "longest", function_max},
    {"open", NULL, function_open},
    {"open_s", NULL, function_open_time},
    {"stray", NULL, function_stray},
};

/* The columns of text where calls never returned: all that there is room for in 80 columns. */
const struct field fields_of_open_function[] = {
    {"name", "function", function_name},        {"count", "calls", function_count},
    {"time_s", "time", function_time},          {"open", "open", function_open},
    {"open_s", "open for", function_open_time}, {"exclusive_s", "exclusive", function_exclusive},
    {"max_s", "longest", function_max},
};

GETTER(partner_rank, struct partner_row, value_if(row->partner != EVENT_UNKNOWN, value_integer(row->partner)))
GETTER(partner_messages, struct partner_row, value_count(row->messages))
GETTER(partner_bytes, struct partner_row, value_bytes(row->bytes))

const struct field fields_of_sent[] = {
    {"to", "to", partner_rank}, {"messages", "messages", partner_messages}, {"bytes", "bytes", partner_bytes}};
const struct field fields_of_received[] = {
    {"from", "from", partner_rank}, {"messages", "messages", partner_messages}, {"bytes", "bytes", partner_bytes}};

GETTER(mark_name, struct mark_row, value_text(metrics->defs->marks[row->mark].name))
GETTER(mark_count, struct mark_row, value_count(row->count))

const struct field fields_of_mark[] = {{"name", "event", mark_name}, {"count", "count", mark_count}};

GETTER(thread_number, struct thread_row, value_count(row->thread))
GETTER(thread_begin, struct thread_row, value_time(row->begin_ns))
GETTER(thread_end, struct thread_row, value_time(row->end_ns))
GETTER(thread_communication, struct thread_row, value_time(row->communication_ns))
/* What a thread does not spend in MPI it computes; processes subtract polling besides. */
GETTER(thread_compute, struct thread_row,
       value_time(time_since(row->communication_ns, time_since(row->begin_ns, row->end_ns))))
GETTER(thread_total, struct thread_row, value_time(time_since(row->begin_ns, row->end_ns)))

GETTER(thread_regions, struct thread_row, value_count(row->regions))
GETTER(thread_parallel, struct thread_row, value_time(row->parallel_ns))
GETTER(thread_waiting, struct thread_row, value_time(row->waiting_ns))
GETTER(thread_short, struct thread_row, value_time(row->short_ns))
GETTER(thread_short_waiting, struct thread_row, value_time(row->short_waiting_ns))
GETTER(thread_parallel_mpi, struct thread_row, value_time(row->parallel_mpi_ns))

const struct field fields_of_thread[] = {
    {"thread", "thread", thread_number},
    {"begin_s", NULL, thread_begin},
    {"end_s", NULL, thread_end},
    {"communication_s", "in MPI", thread_communication},
    {"compute_s", "compute", thread_compute},
    {"total_s", "total", thread_total},
    {"regions", "regions", thread_regions},
    {"parallel_s", "in regions", thread_parallel},
    {"waiting_s", "waiting there", thread_waiting},
    {"short_s", NULL, thread_short},
    {"short_waiting_s", NULL, thread_short_waiting},
    {"parallel_mpi_s", NULL, thread_parallel_mpi},
};

/* The rest of the tags has no tag, and a size or communicator may be unknown. */
GETTER(message_key, struct message_row,
       row->is_rest || row->key == EVENT_UNKNOWN ? value_null() : value_integer(row->key))
GETTER(message_rest, struct message_row, value_bool(row->is_rest))
GETTER(message_sent, struct message_row, value_count(row->sent))
GETTER(message_bytes_sent, struct message_row, value_bytes(row->bytes_sent))
GETTER(message_received, struct message_row, value_count(row->received))
GETTER(message_bytes_received, struct message_row, value_bytes(row->bytes_received))
/* A size class holds the sizes of k bits: 2^(k-1) to 2^k - 1. */
GETTER(size_from, struct message_row, value_bytes(row->key > 0 ? UINT64_C(1) << (row->key - 1) : 0))
/* 2^k - 1 without 2^k, which for the largest class would be beyond 64 bits. */
GETTER(size_to, struct message_row, value_bytes(row->key > 0 ? ((UINT64_C(1) << (row->key - 1)) - 1) * 2 + 1 : 0))

#define MESSAGE_FIELDS                                                                                                 \
    {"messages_sent", "sent", message_sent}, {"bytes_sent", "bytes", message_bytes_sent},                              \
        {"messages_received", "received", message_received},                                                           \
    {                                                                                                                  \
        "bytes_received", "bytes", message_bytes_received                                                              \
    }

const struct field fields_of_communicator[] = {{"communicator", "communicator", message_key}, MESSAGE_FIELDS};
const struct field fields_of_tag[] = {{"tag", "tag", message_key}, {"rest", NULL, message_rest}, MESSAGE_FIELDS};
const struct field fields_of_size[] = {{"from_bytes", "from", size_from}, {"to_bytes", "to", size_to}, MESSAGE_FIELDS};
