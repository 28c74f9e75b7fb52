/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_COMMANDS_H
#define SIGHT_CLI_COMMANDS_H

#include "cli/command.h"

/* The functions of the subcommands, with what was asked for: each returns the exit code. */
#define COMMAND(function, ...)                                                                                         \
    int cmd_##function(const struct command *command, const struct function##_options *options);
#define COMMAND_NAMED COMMAND
#include "cli/commands.def"

#endif
