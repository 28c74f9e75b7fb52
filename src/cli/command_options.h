/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_COMMAND_OPTIONS_H
#define SIGHT_CLI_COMMAND_OPTIONS_H

#include "cli/option_types.h"

/* What each command was asked for: `struct NAME_options` of cmd_NAME, which the command's rows of options.def fill in.
   What several commands take is a struct of its own that theirs contain. All zero: nothing was given. */

/* Of all commands: the first member of each one's struct. */
struct common_options {
    struct number_option jobs;
    struct bytes_option max_unpacked;
    bool quiet, verbose, help;
    struct choice color, progress;
    char **inputs; /* arguments that are not options; points into argv */
    size_t input_count;
    char *
        *passed; /* of COMMAND_PASSES: options before "--" that are not sight's, with their values; points into argv */
    size_t passed_count;
    struct team *team; /* processes that help; NULL: none */
};

/* Where the result goes. */
struct target_options {
    const char *path; /* NULL: standard output */
    bool force;       /* replace what is there */
};

/* How a trace is read. Most commands take some of these. */
struct trace_options {
    bool fix_clocks;
    struct bytes_option memory; /* begins as the command does (main.c) */
    struct moment_option from, to;
    struct list_option processes;
};

/* What the recorder of `sight run` and `sight record` is given. */
struct recorder_options {
    const char *only, *skip, *buffer, *max_size, *counters;
    struct number_option max_events, samples;
    struct choice clock;
    bool no_source, no_metadata, no_samples, keep;
    bool diagnose; /* in place of a trace: its metrics, and the diagnosis */
};

/* When they end the program. */
struct watch_options {
    struct time_option timeout, on_hang;
    bool kill;
};

struct run_options {
    struct common_options common;
    struct target_options target;
    struct recorder_options recorder;
    struct watch_options watch;
    struct number_option number;
    const char *launcher_args;
};

struct record_options {
    struct common_options common;
    struct target_options target;
    struct recorder_options recorder;
    struct watch_options watch;
    struct number_option measure_overhead;
    bool link, list_counters;
};

struct status_options {
    struct common_options common;
    struct target_options target;
    struct choice format;
};

struct top_options {
    struct common_options common;
    struct choice format;
};

struct diagnose_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
    const char *fail_on;
};

struct explain_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
};

struct what_if_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
    bool ideal, balance, causal;
    const char *speed_up, *free;
    struct time_option latency;
    struct bytes_option bandwidth, eager;
    struct number_option buses;
};

struct metrics_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
    const char *table, *sort, *definitions;
    bool all, sites;
};

struct heuristics_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
    const char *fail_on, *definitions;
};

struct chart_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format, by, colors, theme;
    struct number_option width, height, dpi;
    const char *definitions;
};

struct timeline_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
    struct number_option width;
    bool all;
};

struct report_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format, by, colors;
};

struct view_options {
    struct common_options common;
    struct trace_options trace;
    struct number_option port;
    const char *listen;
    bool no_browser, allow_remote;
};

struct compare_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
    const char *fail_on;
    bool no_findings, all;
};

struct scaling_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
    bool all, weak;
    struct list_option processes, threads; /* to run with */
    struct number_option repeat;
    const char *config;
};

struct profile_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
    struct choice table;
    const char *phase;
    struct list_option iteration;
    bool all;
};

struct counters_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format, by;
    const char *formulas;
    struct number_option parts;
    struct moment_option at;
    bool all;
};

struct source_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
    bool all;
};

struct history_options {
    struct common_options common;
    struct target_options target;
    struct choice format;
    bool all;
};

struct phases_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
    struct choice table;
    bool all;
    struct share_option bottleneck;
};

struct convert_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
    bool no_waits;
};

struct info_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
};

struct formats_options {
    struct common_options common;
    struct choice format;
};

struct search_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
    const char *hypotheses;
    struct share_option threshold;
    bool all;
};

struct query_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
    const char *definitions;
};

struct resources_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
};

struct events_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
};

struct sql_options {
    struct common_options common;
    struct target_options target;
    struct trace_options trace;
    struct choice format;
    struct number_option width;
    const char *save;
    struct time_option max_time;
    struct bytes_option max_memory;
};

struct completion_options {
    struct common_options common;
};

struct merge_options {
    struct common_options common;
    struct target_options target;
    bool diagnose;
};

#endif
