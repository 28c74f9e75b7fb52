/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/file_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void file_damage(struct metrics_file *file, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    damage_note(&file->damage, file->sax.input->name, xml_sax_byte(&file->sax), "%s", text);
}

const char *const file_attribute_names[ATTRIBUTE_COUNT] = {
#define ATTRIBUTE_NAME(name) #name,
    FILE_ATTRIBUTES(ATTRIBUTE_NAME)
#undef ATTRIBUTE_NAME
};

void file_attribute_damage(struct metrics_file *file, enum file_attribute attribute)
{
    /* Values of absent attributes are those of earlier elements, whose text is gone. */
    if (!xml_sax_has(&file->sax, attribute)) {
        file_damage(file, "missing attribute %s", file_attribute_names[attribute]);
        return;
    }
    struct xml_value value = file->sax.values[attribute];
    int shown = value.length < 40 ? (int)value.length : 40;
    file_damage(file, "invalid attribute %s (\"%.*s\")", file_attribute_names[attribute], shown, value.at);
}

uint64_t file_count(struct metrics_file *file, enum file_attribute attribute, uint64_t max)
{
    uint64_t count = 0;
    if (xml_sax_has(&file->sax, attribute) && !xml_get_u64(file->sax.values[attribute], max, &count)) {
        file_attribute_damage(file, attribute);
        /* A number out of range is no number: 0, which every reader of counts can bear. */
        count = 0;
    }
    return count;
}

/* Absent: EVENT_UNKNOWN. */
int64_t file_number(struct metrics_file *file, enum file_attribute attribute)
{
    int64_t number = EVENT_UNKNOWN;
    if (xml_sax_has(&file->sax, attribute) &&
        !xml_get_i64(file->sax.values[attribute], INT32_MIN, INT32_MAX, &number)) {
        file_attribute_damage(file, attribute);
        number = EVENT_UNKNOWN;
    }
    return number;
}

/* Seconds with up to nine decimals, as ns: the parser of the trace's µs with three decimals, shifted by six places. */
int64_t file_time(struct metrics_file *file, enum file_attribute attribute)
{
    int64_t ns = 0;
    if (xml_sax_has(&file->sax, attribute) && !xml_get_seconds(file->sax.values[attribute], &ns)) {
        file_attribute_damage(file, attribute);
        ns = 0;
    }
    return ns;
}

/* Borrowed until the next call; "" if absent. */
const char *file_text(struct metrics_file *file, enum file_attribute attribute)
{
    if (!xml_sax_has(&file->sax, attribute))
        return "";
    file->text.length = 0;
    /* UTF-8 is never longer here than the text with its entities. */
    char *text = xml_room(&file->text, file->sax.values[attribute].length + 1);
    xml_get_utf8(file->sax.values[attribute], text);
    return text;
}

double file_ratio(struct metrics_file *file, enum file_attribute attribute)
{
    char *end;
    const char *text = file_text(file, attribute);
    double ratio = strtod(text, &end);
    /* Infinities would spread through all sums. */
    if (*text && *end == '\0' && isfinite(ratio))
        return ratio;
    file_attribute_damage(file, attribute);
    return 0;
}

size_t file_process(struct metrics_file *file, enum file_attribute attribute)
{
    uint64_t rank = file_count(file, attribute, PROCESS_LIMIT - 1);
    size_t row = metrics_row_of(file->metrics, rank);
    if (row == SIZE_MAX)
        file_damage(file, "unknown process %" PRIu64, rank);
    return row;
}

uint32_t file_state_named(struct metrics_file *file, const char *name, const char *colour)
{
    /* Names are unique in metrics: states of the same name were one row already. */
    int32_t known = defs_find_state(file->metrics->own_defs, name);
    if (known != EVENT_UNKNOWN)
        return (uint32_t)known;
    struct state_def state = {.name = (char *)name,
                              .colour = (char *)colour,
                              .id = EVENT_UNKNOWN,
                              .start = EVENT_UNKNOWN,
                              .end = EVENT_UNKNOWN};
    return defs_add_state(file->metrics->own_defs, &state);
}
