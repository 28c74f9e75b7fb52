/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/scaling_report.h"

#include "core/numbers.h"
#include "core/text.h"
#include "render/field.h"
#include "render/reports/page.h"
#include "render/terminal.h"
#include "render/terminal_text.h"
#include "render/text_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL_SIZE = 64, SENTENCE_SIZE = 1600, NAME_COLUMNS = 28, LAW_COLUMNS = 26, SIZES_SHOWN = 4 };

static struct value seconds(double time_s)
{
    /* llrint() of infinity is undefined. */
    if (!isfinite(time_s))
        return value_null();
    return value_time(llrint(time_s * 1e9));
}

/* The fields of a size, for all formats. */
#define SIZE_FIELD(name, expression)                                                                                   \
    static struct value get_##name(const void *context, const void *row)                                               \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        const struct scaling_size *size = row;                                                                         \
        return expression;                                                                                             \
    }
SIZE_FIELD(processes, value_count(size->processes))
SIZE_FIELD(threads, value_count(size->threads))
SIZE_FIELD(repeats, value_count(size->repeats))
SIZE_FIELD(time_s, seconds(size->time_s))
SIZE_FIELD(least_s, seconds(size->least_s))
SIZE_FIELD(most_s, seconds(size->most_s))
SIZE_FIELD(speedup, value_finite(size->speedup))
SIZE_FIELD(efficiency, value_finite(size->efficiency))
SIZE_FIELD(serial_fraction, value_finite(size->serial))
SIZE_FIELD(global_efficiency, value_finite(size->global))
SIZE_FIELD(parallel_efficiency, value_finite(size->parallel))
SIZE_FIELD(load_balance, value_finite(size->load_balance))
SIZE_FIELD(communication_efficiency, value_finite(size->communication))
SIZE_FIELD(serialisation, value_finite(size->serialisation))
SIZE_FIELD(transfer, value_finite(size->transfer))
SIZE_FIELD(hybrid_efficiency, value_finite(size->hybrid))
SIZE_FIELD(openmp_efficiency, value_finite(size->openmp))
SIZE_FIELD(computation_scalability, value_finite(size->computation))

static const struct field fields[] = {
    {"processes", "processes", get_processes},
    {"threads", "threads", get_threads},
    {"repeats", "runs", get_repeats},
    {"time_s", "time", get_time_s},
    {"least_s", NULL, get_least_s},
    {"most_s", NULL, get_most_s},
    {"speedup", "speed-up", get_speedup},
    {"efficiency", "efficiency", get_efficiency},
    {"serial_fraction", NULL, get_serial_fraction},
    {"global_efficiency", "global", get_global_efficiency},
    {"parallel_efficiency", "parallel", get_parallel_efficiency},
    {"load_balance", "load balance", get_load_balance},
    {"communication_efficiency", "communication", get_communication_efficiency},
    {"serialisation", "serialisation", get_serialisation},
    {"transfer", "transfer", get_transfer},
    {"computation_scalability", "computation", get_computation_scalability},
    {"hybrid_efficiency", "hybrid", get_hybrid_efficiency},
    {"openmp_efficiency", "OpenMP", get_openmp_efficiency},
};
enum { FIELDS = sizeof fields / sizeof *fields };

void scaling_write_csv(struct output *output, const struct scaling *scaling)
{
    csv_header(output, fields, FIELDS);
    for (size_t i = 0; i < scaling->size_count; i++)
        csv_row(output, fields, FIELDS, NULL, &scaling->sizes[i]);
}

static void json_rows(struct json *json, const struct scaling *scaling)
{
    char law[LAW_TEXT_SIZE];
    json_open(json, "rows", '[');
    for (size_t i = 0; i < scaling->row_count; i++) {
        const struct scaling_row *row = &scaling->rows[i];
        json_open(json, NULL, '{');
        json_value(json, "name", value_text(row->name));
        json_value(json, "kind", value_text(scaling_kind_name(row->kind)));
        struct value formula = value_null();
        if (row->law.found)
            formula = value_text(law_text(law, &row->law));
        json_value(json, "law", formula);
        json_open(json, "coefficients", '{');
        json_value(json, "constant_s", value_if(row->law.found, seconds(row->law.constant_s)));
        json_value(json, "factor_s", value_if(row->law.found, value_finite(row->law.factor_s)));
        json_value(json, "power", value_if(row->law.found, value_finite(row->law.power)));
        json_value(json, "logs", value_if(row->law.found, value_count((uint64_t)row->law.logs)));
        json_value(json, "error", value_if(row->law.found, value_finite(row->law.error)));
        json_close(json, '}');
        json_open(json, "times_s", '[');
        for (size_t s = 0; s < scaling->size_count; s++)
            json_value(json, NULL, seconds(row->times_s[s]));
        json_close(json, ']');
        json_open(json, "speedups", '[');
        for (size_t s = 0; s < scaling->size_count; s++)
            json_value(json, NULL, value_finite(row->speedups[s]));
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_forecasts(struct json *json, const struct scaling *scaling)
{
    json_open(json, "forecasts", '[');
    /* At most two sizes beyond the largest; 0 ends the list. */
    for (size_t i = 0; i < 2 && scaling->forecasts[i].n > 0; i++) {
        const struct scaling_forecast *forecast = &scaling->forecasts[i];
        json_open(json, NULL, '{');
        json_value(json, "n", value_count((uint64_t)forecast->n));
        json_value(json, "time_s", seconds(forecast->time.time_s));
        json_value(json, "low_s", seconds(forecast->time.low_s));
        json_value(json, "high_s", seconds(forecast->time.high_s));
        json_value(json, "efficiency", value_finite(forecast->efficiency));
        json_close(json, '}');
    }
    json_close(json, ']');
}

void scaling_write_json(struct output *output, const struct scaling *scaling)
{
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-scaling/1"));
    json_value(&json, "scaling", value_text(scaling->weak ? "weak" : "strong"));
    json_open(&json, "runs", '[');
    for (size_t i = 0; i < scaling->size_count; i++)
        json_row(&json, fields, FIELDS, NULL, &scaling->sizes[i]);
    json_close(&json, ']');
    json_rows(&json, scaling);
    json_value(&json, "amdahl_serial_fraction", value_finite(scaling->amdahl));
    json_forecasts(&json, scaling);
    json_value(&json, "half_efficiency_n", value_if(scaling->half_n > 0, value_count((uint64_t)scaling->half_n)));
    json_value(&json, "half_efficiency_measured", value_bool(scaling->half_measured));
    const char *limit = NULL;
    if (scaling->breaking < scaling->row_count)
        limit = scaling->rows[scaling->breaking].name;
    json_value(&json, "limited_by", value_text(limit));
    json_close(&json, '}');
    output_text(output, "\n");
}

/* Text */

static void cell_of(char cell[VALUE_TEXT_SIZE], struct value value)
{
    value_text_for_people(cell, value);
}

/* A part that a size does not have shows as "-". */
static char *time_cell(char cell[VALUE_TEXT_SIZE], double time_s)
{
    cell_of(cell, seconds(time_s));
    return cell;
}

static char *share_cell(char cell[VALUE_TEXT_SIZE], double share)
{
    if (isfinite(share))
        text_share(cell, share);
    else
        snprintf(cell, VALUE_TEXT_SIZE, "-");
    return cell;
}

/* The serial part that would explain the speed-up. None does where the run takes longer than the reference (more than
   all would be serial), or where it gains more than there are processes. */
static char *serial_cell(char cell[VALUE_TEXT_SIZE], double serial)
{
    if (serial > 1)
        snprintf(cell, VALUE_TEXT_SIZE, "slower");
    else if (serial < 0)
        snprintf(cell, VALUE_TEXT_SIZE, "none");
    else
        share_cell(cell, serial);
    return cell;
}

static void say_slower(struct output *output, const struct scaling *scaling)
{
    size_t slower = 0;
    for (size_t i = 0; i < scaling->size_count; i++)
        slower += scaling->sizes[i].serial > 1;
    if (slower > 0)
        output_print(output, "  slower: the run takes longer than with %.0f process%s; no serial part explains that\n",
                     scaling_n(&scaling->sizes[0]), scaling_n(&scaling->sizes[0]) > 1 ? "es" : "");
}

/* Counts, times, speed-up and efficiency of each size. */
static void text_sizes(struct output *output, const struct scaling *scaling)
{
    static const char *const titles[] = {"processes", "threads",  "runs",       "time",
                                         "spread",    "speed-up", "efficiency", "serial part"};
    /* The serial part of Amdahl's law has no meaning in weak scaling: the last column is left out. */
    size_t columns = sizeof titles / sizeof *titles;
    if (scaling->weak)
        columns--;
    struct text_table *table = text_table_columns(columns);
    for (size_t i = 0; i < columns; i++)
        text_table_cell(table, titles[i], false);
    for (size_t i = 0; i < scaling->size_count; i++) {
        const struct scaling_size *size = &scaling->sizes[i];
        char cell[VALUE_TEXT_SIZE];
        text_table_cell(table, text_thousands(cell, size->processes), false);
        text_table_cell(table, text_thousands(cell, size->threads), false);
        text_table_cell(table, text_thousands(cell, size->repeats), false);
        text_table_cell(table, time_cell(cell, size->time_s), false);
        /* A single run has no spread, which differs from a spread of 0. */
        double spread = NAN;
        if (size->repeats > 1)
            spread = (size->most_s - size->least_s) / size->time_s;
        text_table_cell(table, share_cell(cell, spread), false);
        snprintf(cell, sizeof cell, "%.3f", size->speedup);
        text_table_cell(table, isfinite(size->speedup) ? cell : "-", false);
        text_table_cell(table, share_cell(cell, size->efficiency), false);
        if (!scaling->weak)
            text_table_cell(table, serial_cell(cell, size->serial), false);
    }
    text_table_print(table, output, "  ");
    if (!scaling->weak)
        say_slower(output, scaling);
}

/* POP's table: a line a factor, a column a size. */
static void text_factors(struct output *output, const struct scaling *scaling)
{
    static const struct factor {
        const char *title;
        size_t at;
    } factors[] = {{"global efficiency", offsetof(struct scaling_size, global)},
                   {"  parallel efficiency", offsetof(struct scaling_size, parallel)},
                   {"    load balance", offsetof(struct scaling_size, load_balance)},
                   {"    communication", offsetof(struct scaling_size, communication)},
                   {"      serialisation", offsetof(struct scaling_size, serialisation)},
                   {"      transfer", offsetof(struct scaling_size, transfer)},
                   {"  computation scalability", offsetof(struct scaling_size, computation)},
                   {"hybrid = parallel x OpenMP", offsetof(struct scaling_size, hybrid)},
                   {"  OpenMP", offsetof(struct scaling_size, openmp)}};
    size_t shown = smaller(scaling->size_count, 2 * SIZES_SHOWN);
    /* The largest sizes matter most; a terminal has room for eight. */
    size_t first = scaling->size_count - shown;
    struct text_table *table = text_table_columns(shown + 1);
    char cell[VALUE_TEXT_SIZE];
    text_table_cell(table, "processes x threads", true);
    for (size_t i = first; i < scaling->size_count; i++) {
        snprintf(cell, sizeof cell, "%ux%u", scaling->sizes[i].processes, scaling->sizes[i].threads);
        text_table_cell(table, cell, false);
    }
    size_t count = sizeof factors / sizeof *factors;
    bool has_threads = false;
    for (size_t i = first; i < scaling->size_count; i++)
        has_threads |= isfinite(scaling->sizes[i].hybrid);
    /* The last two are of programs with parallel regions only. */
    for (size_t f = 0; f < (has_threads ? count : count - 2); f++) {
        text_table_cell(table, factors[f].title, true);
        for (size_t i = first; i < scaling->size_count; i++) {
            double share;
            memcpy(&share, (const char *)&scaling->sizes[i] + factors[f].at, sizeof share);
            text_table_cell(table, share_cell(cell, share), false);
            if (output->colour && isfinite(share))
                text_table_style(table, terminal_efficiency(share));
        }
    }
    heading_write(output, "Efficiencies (POP)");
    text_table_print(table, output, "  ");
}

/* The parts: times at the first, a middle and the last size, and the law. */
static void text_rows(struct output *output, const struct scaling *scaling, size_t rows)
{
    size_t last = scaling->size_count - 1, places[3] = {0, last / 2, last};
    /* With two sizes the middle one is the first or the last. */
    size_t columns = 2;
    if (last >= 2)
        columns = 3;
    places[columns - 1] = last;
    struct text_table *table = text_table_columns(columns + 3);
    char cell[VALUE_TEXT_SIZE], law[LAW_TEXT_SIZE];
    text_table_cell(table, "part", true);
    text_table_cell(table, "kind", true);
    for (size_t i = 0; i < columns; i++) {
        snprintf(cell, sizeof cell, "%.0f", scaling_n(&scaling->sizes[places[i]]));
        text_table_cell(table, cell, false);
    }
    text_table_cell(table, "law (s)", true);
    for (size_t r = 0; r < scaling->row_count && r < rows; r++) {
        const struct scaling_row *row = &scaling->rows[r];
        /* With a third time less room is left for the name. */
        text_for_terminal(cell, sizeof cell, row->name, NAME_COLUMNS - 8 * (columns - 2));
        text_table_cell(table, cell, true);
        text_table_cell(table, scaling_kind_name(row->kind), true);
        for (size_t i = 0; i < columns; i++)
            text_table_cell(table, time_cell(cell, row->times_s[places[i]]), false);
        const char *shown = "-";
        if (row->law.found)
            shown = law_text(law, &row->law);
        text_table_cell(table, shown, true);
    }
    heading_write(output, "Parts of the run: mean time of a process, and how it grows with p");
    text_table_print(table, output, "  ");
    text_rest_write(output, rows, scaling->row_count);
}

static void text_forecast(struct output *output, const struct scaling *scaling)
{
    char sentence[SENTENCE_SIZE], time[VALUE_TEXT_SIZE], low[VALUE_TEXT_SIZE], high[VALUE_TEXT_SIZE],
        share[VALUE_TEXT_SIZE];
    output_text(output, "\n");
    /* Two points lie on any curve with two coefficients. */
    if (scaling->too_few) {
        snprintf(sentence, sizeof sentence,
                 "A law needs at least %d different sizes; there are %zu, so nothing is extrapolated.", LAW_POINTS,
                 scaling->size_count);
        paragraph_write(output, "", "", sentence);
        return;
    }
    for (size_t i = 0; i < 2 && scaling->forecasts[i].n > 0; i++) {
        const struct scaling_forecast *forecast = &scaling->forecasts[i];
        snprintf(sentence, sizeof sentence,
                 "With %.0f processes the run would take %s (90 %% interval %s to %s), at an efficiency of %s.",
                 forecast->n, time_cell(time, forecast->time.time_s), time_cell(low, forecast->time.low_s),
                 time_cell(high, forecast->time.high_s), share_cell(share, forecast->efficiency));
        paragraph_write(output, "", "", sentence);
    }
}

/* A sentence of the answer, as text or as HTML. */
typedef void say_sentence(struct output *output, const char *sentence);

static void say_text(struct output *output, const char *sentence)
{
    paragraph_write(output, "", "", sentence);
}

/* The answer, before all tables. */
static void say_answer(struct output *output, const struct scaling *scaling, say_sentence *say)
{
    const struct scaling_size *last = &scaling->sizes[scaling->size_count - 1];
    char sentence[SENTENCE_SIZE], share[VALUE_TEXT_SIZE], time[VALUE_TEXT_SIZE], times[TEXT_NUMBER_SIZE];
    bool slower = last->speedup < 1;
    double ratio = last->speedup;
    if (slower)
        ratio = 1 / ratio;
    snprintf(sentence, sizeof sentence,
             "%s scaling: %s processes%s are %s times as %s as %.0f, at an efficiency of %s.",
             scaling->weak ? "Weak" : "Strong", text_number((uint64_t)scaling_n(last)).text,
             last->threads > 1 ? " or threads" : "", text_times(times, ratio), slower ? "slow" : "fast",
             scaling_n(&scaling->sizes[0]), share_cell(share, last->efficiency));
    say(output, sentence);
    /* More processes than cores take turns: what looks like a limit of the program is one of the machine. */
    if (scaling->cores > 0 && scaling_n(last) > scaling->cores) {
        snprintf(sentence, sizeof sentence, "The machine has %u cores: beyond %u processes and threads share them.",
                 scaling->cores, scaling->cores);
        say(output, sentence);
    }
    if (scaling->half_n > 0) {
        snprintf(sentence, sizeof sentence, "Efficiency %s below 50 %% at %.0f processes.",
                 scaling->half_measured ? "falls" : "will fall", scaling->half_n);
        say(output, sentence);
    }
    if (scaling->breaking < scaling->row_count) {
        const char *part = scaling->rows[scaling->breaking].name;
        if (scaling->rows[scaling->breaking].kind == SCALING_COMPUTING)
            part = "Computing";
        snprintf(sentence, sizeof sentence,
                 "%s limits it most: it takes %s longer at %.0f processes than with ideal scaling.", part,
                 time_cell(time, scaling->breaking_s), scaling_n(last));
        say(output, sentence);
    }
    if (scaling->amdahl >= 1 && scaling->sizes[scaling->size_count - 1].serial > 1 && !scaling->weak) {
        say(output, "The run takes longer with more processes: Amdahl's law, which only knows of serial work, cannot "
                    "explain it.");
    } else if (isfinite(scaling->amdahl) && !scaling->weak) {
        char bound[CELL_SIZE] = "no bound";
        if (scaling->amdahl > 0)
            snprintf(bound, sizeof bound, "a bound of %.3g", 1 / scaling->amdahl);
        snprintf(sentence, sizeof sentence, "By Amdahl's law %s of the work is serial, which sets %s on the speed-up.",
                 share_cell(share, scaling->amdahl), bound);
        say(output, sentence);
    }
}

void scaling_write_text(struct output *output, const struct scaling *scaling, size_t rows)
{
    terminal_style(output, TERMINAL_BOLD);
    say_answer(output, scaling, say_text);
    terminal_style(output, NULL);
    output_text(output, "\n");
    text_sizes(output, scaling);
    /* Times alone, from a table of another program, have no factors. */
    if (isfinite(scaling->sizes[0].parallel))
        text_factors(output, scaling);
    text_rows(output, scaling, rows);
    text_forecast(output, scaling);
}

/* HTML */

static void say_html(struct output *output, const char *sentence)
{
    page_element(output, "<p>", sentence, "</p>\n");
}

/* The sizes, and POP's factors of each. */
void scaling_write_html(struct output *output, const struct scaling *scaling)
{
    say_answer(output, scaling, say_html);
    page_table_begin(output, fields, FIELDS, NULL, &scaling->sizes[0]);
    for (size_t i = 0; i < scaling->size_count; i++)
        page_table_row(output, fields, FIELDS, NULL, &scaling->sizes[i]);
    page_table_end(output);
}
