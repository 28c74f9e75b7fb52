/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_NAMED_INPUT_H
#define SIGHT_CLI_NAMED_INPUT_H

/* Traces of the command line that are runs of their own: NAME=FILE gives a run its name, unless there is a file of that
   whole name; else it is the file's own, without its folders. Returns the file, a part of the argument; free() *name.
 */
char *named_input_split(char *argument, char **name);

#endif
