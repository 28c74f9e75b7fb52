/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/clog2/clog2_counter.h"

#include "core/memory.h"
#include "core/text.h"

#include <string.h>

/* MPE has no counters: one is a single event with a payload, and its format is the only place for what it counts.
   MPE's own tools print the words before and after the value as they stand. */
static const char *const types[COUNTER_TYPE_COUNT] = {[COUNTER_NONE] = "int64=%l",
                                                      [COUNTER_INT64] = "int64=%l",
                                                      [COUNTER_UINT64] = "uint64=%l",
                                                      [COUNTER_DOUBLE] = "double=%E"};

char *clog2_counter_format(char *buffer, size_t size, const struct counter_def *counter)
{
    buffer[0] = '\0';
    text_append(buffer, size, "%s", types[counter->type]);
    if (counter->mode)
        text_append(buffer, size, " %s", counter_mode_name(counter->mode));
    if (counter->scope)
        text_append(buffer, size, " of %s", counter_scope_name(counter->scope));
    if (counter->unit)
        text_append(buffer, size, ": %s", counter->unit);
    return buffer;
}

/* Consumes the word if the text begins with it. */
static bool take(const char **text, const char *before, const char *word)
{
    size_t first = strlen(before), length = strlen(word);
    if (strncmp(*text, before, first) != 0 || strncmp(*text + first, word, length) != 0)
        return false;
    *text += first + length;
    return true;
}

/* Exactly what clog2_counter_format writes, in that order: a program's own event that happens to pack one integer is
   none. */
struct counter_def clog2_counter_of(const char *format)
{
    struct counter_def counter = {.type = COUNTER_NONE};
    for (int type = COUNTER_INT64; type < COUNTER_TYPE_COUNT && !counter.type; type++)
        if (take(&format, "", types[type]))
            counter.type = (enum counter_type)type;
    if (!counter.type)
        return counter;
    for (int mode = COUNTER_MODE_UNKNOWN + 1; mode < COUNTER_MODE_COUNT && !counter.mode; mode++)
        if (take(&format, " ", counter_mode_name((enum counter_mode)mode)))
            counter.mode = (enum counter_mode)mode;
    for (int scope = COUNTER_OF_THREAD + 1; scope < COUNTER_SCOPE_COUNT && !counter.scope; scope++)
        if (take(&format, " of ", counter_scope_name((enum counter_scope)scope)))
            counter.scope = (enum counter_scope)scope;
    if (take(&format, ": ", ""))
        counter.unit = memory_copy_string(format);
    else if (*format)
        counter.type = COUNTER_NONE; /* a user's */
    return counter;
}
