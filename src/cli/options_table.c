/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/options.h"

/* The places of commands in their table, and a last one for the rows of all. */
enum {
#define COMMAND(name, ...) ID_##name,
#define COMMAND_NAMED COMMAND
#include "cli/commands.def"
    ID_common
};

/* A row whose member is of another type than its kind says does not compile. */
#define ROW(id, kind, type, letter, name, value, member, least, most, fault, help)                                     \
    {ID_##id, kind,  letter,                                                                                           \
     name,    value, _Generic(((struct id##_options *)NULL)->member, type : offsetof(struct id##_options, member)),    \
     least,   most,  fault,                                                                                            \
     help},
#define FLAG(id, letter, name, member, help) ROW(id, OPTION_FLAG, bool, letter, name, NULL, member, 0, 0, NULL, help)
#define TEXT(id, letter, name, value, member, help)                                                                    \
    ROW(id, OPTION_TEXT, const char *, letter, name, value, member, 0, 0, NULL, help)
#define CHOICE(id, letter, name, value, member, help)                                                                  \
    ROW(id, OPTION_CHOICE, struct choice, letter, name, value, member, 0, 0, NULL, help)
#define FORMAT(id)                                                                                                     \
    ROW(id, OPTION_FORMAT, struct choice, 0, "format", "FORMAT", format, 0, 0, NULL, "format of the result")
#define NUMBER(id, letter, name, value, member, least, most, fault, help)                                              \
    ROW(id, OPTION_NUMBER, struct number_option, letter, name, value, member, least, most, fault, help)
#define BYTES(id, letter, name, value, member, least, fault, help)                                                     \
    ROW(id, OPTION_BYTES, struct bytes_option, letter, name, value, member, least, 0, fault, help)
#define TIME(id, letter, name, value, member, fault, help)                                                             \
    ROW(id, OPTION_TIME, struct time_option, letter, name, value, member, 0, 0, fault, help)
#define DURATION(id, letter, name, value, member, help)                                                                \
    ROW(id, OPTION_DURATION, struct time_option, letter, name, value, member, 0, 0, NULL, help)
#define MOMENT(id, letter, name, value, member, help)                                                                  \
    ROW(id, OPTION_MOMENT, struct moment_option, letter, name, value, member, 0, 0, NULL, help)
#define SHARE(id, letter, name, value, member, most, fault, help)                                                      \
    ROW(id, OPTION_SHARE, struct share_option, letter, name, value, member, 0, most, fault, help)
#define LIST(id, letter, name, value, member, help)                                                                    \
    ROW(id, OPTION_LIST, struct list_option, letter, name, value, member, 0, 0, NULL, help)

static const struct option_row rows[] = {
#include "cli/options.def"
};

/* options_parse takes each command's struct for one that begins with what is common to all. */
#define COMMAND(name, ...)                                                                                             \
    _Static_assert(offsetof(struct name##_options, common) == 0, "the first member is struct common_options");
#define COMMAND_NAMED COMMAND
#include "cli/commands.def"

/* The rows of a command stand together, but nothing relies on it: there are a few hundred in all. */
const struct option_row *option_next(const struct command *command, const struct option_row *row)
{
    size_t id = (size_t)(command - command_at(0));
    row = row ? row + 1 : rows;
    for (; row < rows + sizeof rows / sizeof *rows; row++)
        if (row->command == id || option_is_common(row))
            return row;
    return NULL;
}

bool option_is_common(const struct option_row *row)
{
    return row->command == ID_common;
}
