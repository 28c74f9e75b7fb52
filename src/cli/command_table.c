/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/command.h"

#include <string.h>

static const struct command commands[] = {
#define COMMAND_NAMED(function, name, arguments, summary, formats, kind)                                               \
    {name, arguments, summary, formats, kind, sizeof(struct function##_options)},
#define COMMAND(name, ...) COMMAND_NAMED(name, #name, __VA_ARGS__)
#include "cli/commands.def"
};

size_t command_count(void)
{
    return sizeof commands / sizeof *commands;
}

const struct command *command_at(size_t index)
{
    return &commands[index];
}

/* The whole name: an abbreviation that is unique today would be ambiguous after the next command is added. */
const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < command_count(); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}
