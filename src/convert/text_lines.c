/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/text_lines.h"

#include <string.h>

/* A line may go beyond what the input has at hand: more is asked for, twice as much each time, and only what is new
   is searched. */
enum status text_line_next(struct input *input, size_t most, struct text_line *line, struct error *err)
{
    size_t searched = 0, available;
    const unsigned char *stop = NULL;
    for (;;) {
        available = input_available(input);
        if (available > most)
            available = most;
        if (available > searched)
            stop = memchr(input->at + searched, '\n', available - searched);
        if (stop || available == most)
            break;
        searched = available;
        enum status status = input_need(input, available < most / 2 ? 2 * available + 1 : most, err);
        bool more = input_available(input) > available;
        if (status == STATUS_FAILED || (status == STATUS_END && available == 0 && !more))
            return status;
        if (status == STATUS_END && !more)
            break;
    }
    size_t length = stop ? (size_t)(stop - input->at) : available;
    *line = (struct text_line){.at = (const char *)input->at,
                               .end = (const char *)input->at + length,
                               .byte = input->offset,
                               .whole = stop != NULL};
    input_consume(input, length + (stop != NULL));
    /* Files that passed through Windows. */
    if (line->whole && line->end > line->at && line->end[-1] == '\r')
        line->end--;
    return STATUS_OK;
}

enum status text_line_whole(struct reader *reader, size_t most, bool *inside, struct text_line *line, struct error *err)
{
    enum status status;
    while ((status = text_line_next(reader->input, most, line, err)) == STATUS_OK) {
        bool was_inside = *inside, too_long = (size_t)(line->end - line->at) == most;
        *inside = too_long && !line->whole;
        if (line->whole && !was_inside)
            return STATUS_OK;
        if (!was_inside && too_long)
            reader_damage(reader, line->byte, "a line longer than %zu MiB", most >> 20);
        else if (!was_inside)
            reader_damage(reader, line->byte, "the file ends inside a line");
    }
    return status;
}

bool text_take_u64(const char **at, const char *end, uint64_t *value)
{
    const char *digit = *at;
    uint64_t number = 0;
    for (; digit < end && *digit >= '0' && *digit <= '9'; digit++) {
        uint64_t one = (uint64_t)(*digit - '0');
        if (number > (UINT64_MAX - one) / 10)
            return false;
        number = number * 10 + one;
    }
    bool any = digit > *at;
    *at = digit;
    *value = number;
    return any;
}

bool text_take(const char **at, const char *end, char wanted)
{
    if (*at == end || **at != wanted)
        return false;
    ++*at;
    return true;
}
