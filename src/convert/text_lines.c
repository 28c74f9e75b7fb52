/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/text_lines.h"
#include "core/numbers.h"

#include <string.h>

static void set_line(struct input *input, size_t length, bool whole, struct text_line *line)
{
    *line = (struct text_line){
        .at = (const char *)input->at, .end = (const char *)input->at + length, .byte = input->offset, .whole = whole};
    input_consume(input, length + whole);
    /* Files that passed through Windows. */
    if (whole && length > 0 && line->end[-1] == '\r')
        line->end--;
}

/* Nearly every line is at hand as a whole. */
static inline bool take_line(struct input *input, size_t most, struct text_line *line)
{
    size_t available = smaller(input_available(input), most);
    const unsigned char *stop = available > 0 ? memchr(input->at, '\n', available) : NULL;
    if (stop)
        set_line(input, (size_t)(stop - input->at), true, line);
    return stop != NULL;
}

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
    set_line(input, stop ? (size_t)(stop - input->at) : available, stop != NULL, line);
    return STATUS_OK;
}

/* A line that is too long is passed over without keeping it: hostile input may have one of gigabytes. */
enum status text_line_whole(struct reader *reader, size_t most, bool *inside, struct text_line *line, struct error *err)
{
    enum status status;
    if (!*inside && take_line(reader->input, most, line))
        return STATUS_OK;
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

bool text_take_long(const char **at, const char *end, uint64_t *value)
{
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        uint64_t one = (uint64_t)(**at - '0');
        if (*value > (UINT64_MAX - one) / 10)
            return false;
        *value = *value * 10 + one;
    }
    return true;
}
