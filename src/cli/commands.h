/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_COMMANDS_H
#define SIGHT_CLI_COMMANDS_H

#include "cli/command.h"

/* The functions of the subcommands: each returns the exit code. */
#define COMMAND(name, ...) int cmd_##name(const struct command *command, const struct options *options);
#include "cli/commands.def"

#endif
