/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_SQL_PROMPT_H
#define SIGHT_CLI_SQL_PROMPT_H

#include "core/error.h"

#include <stdbool.h>

/* Lines of statements: from a terminal with history and completion (libedit, where it is built in), else from standard
   input as it is. */

struct sql_prompt;
struct sql_prompt *sql_prompt_new(void);

/* The next line without its end; free() it. NULL: there are no more. `more`: the line before did not end a statement.
 */
char *sql_prompt_line(struct sql_prompt *prompt, bool more);

/* Goes to a new line, after a signal ended the one that was being typed. */
void sql_prompt_drop_line(struct sql_prompt *prompt);

/* True where someone types: a fault is printed, and the next line is read. */
bool sql_prompt_is_terminal(const struct sql_prompt *prompt);

/* Keeps the history, in XDG_STATE_HOME or ~/.local/state. */
void sql_prompt_free(struct sql_prompt *prompt);

#endif
