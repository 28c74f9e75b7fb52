/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/clock_report.h"
#include "core/numbers.h"
#include "render/text_table.h"

#define GETTER(name, row_type, expression)                                                                             \
    static struct value name(const void *context, const void *row_pointer)                                             \
    {                                                                                                                  \
        const row_type *row = row_pointer;                                                                             \
        (void)context;                                                                                                 \
        return expression;                                                                                             \
    }
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

GETTER(recorded_early, struct clocks, value_count(row->recorded.early))
GETTER(recorded_worst, struct clocks, value_time(row->recorded.worst_ns))
GETTER(recorded_torn, struct clocks, value_count(row->recorded.torn))
GETTER(recorded_worst_instance, struct clocks, value_time(row->recorded.worst_instance_ns))
GETTER(aligned_early, struct clocks, value_count(row->aligned.early))
GETTER(aligned_worst, struct clocks, value_time(row->aligned.worst_ns))
GETTER(aligned_torn, struct clocks, value_count(row->aligned.torn))
GETTER(aligned_worst_instance, struct clocks, value_time(row->aligned.worst_instance_ns))
GETTER(events_moved, struct clocks, value_count(row->moved))

static struct value largest_bent(const void *context, const void *row)
{
    const struct clocks *clocks = row;
    int64_t most = 0;
    (void)context;
    /* The largest, as one process that was shifted a lot would be hidden in a mean. */
    for (size_t i = 0; i < clocks->count; i++)
        most = larger(clocks->rows[i].bent_ns, most);
    return value_time(most);
}

static const struct field error_fields[] = {
    {"recorded_early", "messages that arrive before they were sent, as recorded", recorded_early},
    {"recorded_error_s", "by up to", recorded_worst},
    {"recorded_torn", "collectives left before all had entered, as recorded", recorded_torn},
    {"recorded_torn_s", "by up to", recorded_worst_instance},
    {"aligned_early", "such messages after correcting offset and drift", aligned_early},
    {"aligned_error_s", "by up to", aligned_worst},
    {"aligned_torn", "such collectives", aligned_torn},
    {"aligned_torn_s", "by up to", aligned_worst_instance},
    {"events_moved", "events whose time was changed", events_moved},
    {"bent_s", "largest shift beyond offset and drift", largest_bent},
};

static const char *remark(const struct clock_row *row)
{
    if (row->alone)
        return "isolated: not corrected";
    if (row->reference)
        return "reference";
    if (row->loose)
        return "one-way traffic: drift unknown";
    return "";
}

GETTER(row_process, struct clock_row, value_count(row->process))
GETTER(row_offset, struct clock_row, value_time(row->offset_ns))
/* A drift is seconds for a second; µs for a second are what clocks are rated by. */
GETTER(row_drift, struct clock_row, value_ratio(row->drift * 1e6))
GETTER(row_largest, struct clock_row, value_time(row->largest_ns))
/* Not known below 0, and nothing to know for the clock that the others are compared with. */
GETTER(row_width, struct clock_row, value_if(!(row->width_ns < 0 || row->reference), value_time(row->width_ns)))
GETTER(row_remark, struct clock_row, *remark(row) ? value_text(remark(row)) : value_null())
static const struct field row_fields[] = {
    {"rank", NULL, row_process},           {"process", "rank", row_process},
    {"offset_s", "moved by", row_offset},  {"drift_ppm", "drift µs/s", row_drift},
    {"largest_s", "largest", row_largest}, {"width_s", "known to", row_width},
    {"remark", "remark", row_remark},
};

void clock_report_json(struct json *json, const struct clocks *clocks)
{
    json_open(json, "clocks", '{');
    json_value(json, "corrected", value_bool(clocks->corrected));
    json_fields(json, error_fields, COUNT_OF(error_fields), clocks, clocks);
    json_open(json, "processes", '[');
    for (size_t i = 0; clocks->corrected && i < clocks->count; i++)
        json_row(json, row_fields, COUNT_OF(row_fields), clocks, &clocks->rows[i]);
    json_close(json, ']');
    json_close(json, '}');
}

static void write_rows(struct output *output, const struct clocks *clocks, bool all)
{
    struct text_table *table = text_table_new(row_fields, COUNT_OF(row_fields));
    for (size_t i = 0; i < clocks->count; i++)
        /* Without --all only what was changed, and what it was compared with. */
        if (all || clocks->rows[i].largest_ns > 0 || clocks->rows[i].reference)
            text_table_row(table, clocks, &clocks->rows[i]);
    output_text(output, "\n");
    text_table_print(table, output, "  ");
}

void clock_report_text(struct output *output, const struct clocks *clocks, bool all)
{
    char text[VALUE_TEXT_SIZE];
    output_text(output, "\nClocks (--fix-clocks)\n");
    if (!clocks->corrected) {
        const char *why = "Cannot be corrected: there are no messages between processes.";
        if (clocks->recorded.messages + clocks->recorded.instances > 0)
            why = "Nothing to correct: no message arrives before it was sent.";
        output_print(output, "  %s\n", why);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(error_fields); i++) {
        value_text_for_people(text, error_fields[i].get(clocks, clocks));
        output_print(output, "  %-54s %s\n", error_fields[i].title, text);
    }
    write_rows(output, clocks, all);
}
