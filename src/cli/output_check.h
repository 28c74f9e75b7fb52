/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_OUTPUT_CHECK_H
#define SIGHT_CLI_OUTPUT_CHECK_H

#include "cli/command.h"

/* False and a fault (ERROR_USAGE) where `path`, of -o or NULL, is a file that is an input as well, directly, as one
   side of a comparison (NAME=FILE) or as a file of the trace in a directory: writing it would destroy what is read.
   Output that replaces nothing is not looked at. */
bool output_check(const char *path, const struct common_options *common, struct error *err);

#endif
