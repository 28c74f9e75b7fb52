/* SPDX-License-Identifier: BSD-3-Clause */
/* What counters add up to, as metrics files have it: the counters first, then what each process has of them. */
#include "metrics/file_parts.h"

#include "core/memory.h"

#include <inttypes.h>

void read_counter(struct metrics_file *file)
{
    struct metrics *metrics = file->metrics;
    /* What is made of them has a place for each counter of each process. */
    if (metrics->counted_count == METRICS_COUNTERS) {
        file_damage(file, "more than %d counters", METRICS_COUNTERS);
        return;
    }
    enum counter_mode mode = counter_mode_find(file_text(file, ATTRIBUTE_mode));
    if (mode == COUNTER_MODE_UNKNOWN) {
        file_attribute_damage(file, ATTRIBUTE_mode);
        mode = COUNTER_MODE_ABSOLUTE;
    }
    char *name = memory_copy_string(file_text(file, ATTRIBUTE_name)), *unit = NULL;
    if (xml_sax_has(&file->sax, ATTRIBUTE_unit))
        unit = memory_copy_string(file_text(file, ATTRIBUTE_unit));
    /* A definition of its own: another counter, or a mark, may have the same name. */
    const struct mark_def mark = {
        .name = name, .id = EVENT_UNKNOWN, .counter = {.type = COUNTER_DOUBLE, .mode = mode, .unit = unit}};
    ARRAY_PUSH(metrics->counted, metrics->counted_count, file->counter_capacity,
               (struct summed_counter){.mark = defs_add_mark(metrics->own_defs, &mark), .mode = mode});
    free(name);
    free(unit);
}

/* In the order of counters: a second row of the same one would be added to the first. */
void read_counted(struct metrics_file *file)
{
    struct process_row *row = file->row;
    uint64_t counter = file_count(file, ATTRIBUTE_counter, UINT32_MAX);
    if (!row)
        return;
    if (counter >= file->metrics->counted_count ||
        (row->counted_count > 0 && counter <= row->counted[row->counted_count - 1].counter)) {
        file_damage(file,
                    "counter %" PRIu64 " of process %" PRIu32 " is not defined, or does not follow the one before",
                    counter, row->rank);
        return;
    }
    struct counter_sum sum = {.counter = (uint32_t)counter,
                              .readings = file_count(file, ATTRIBUTE_readings, UINT64_MAX),
                              .falls = file_count(file, ATTRIBUTE_falls, UINT64_MAX),
                              .known = xml_sax_has(&file->sax, ATTRIBUTE_amount)};
    if (sum.known) {
        sum.amount = file_ratio(file, ATTRIBUTE_amount);
        sum.ns = file_time(file, ATTRIBUTE_time_s);
    }
    if (sum.ns < 0) {
        file_attribute_damage(file, ATTRIBUTE_time_s);
        sum.ns = 0;
    }
    ARRAY_PUSH(row->counted, row->counted_count, file->counted_capacity, sum);
}
