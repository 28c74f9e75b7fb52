/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_HELP_H
#define SIGHT_CLI_HELP_H

#include "cli/command.h"

/* `sight help`: on all, on a command, on a topic (topics.def), or on a number of the glossary. */

/* Handles the arguments after "help": nothing, COMMAND, TOPIC, or metric NAME. Returns the exit code. */
int help(int argc, char **argv);
int help_on_command(const struct command *command);

/* Names of the topics, by index; NULL after the last. "metric" is not among them: it takes a name. */
const char *help_topic_at(size_t index);

#endif
