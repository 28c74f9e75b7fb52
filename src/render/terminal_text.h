/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_TERMINAL_TEXT_H
#define SIGHT_RENDER_TERMINAL_TEXT_H

#include "core/output.h"

#include <stddef.h>

/* Texts for people on a terminal, whose columns are counted: names, titles, paragraphs. */

/* Columns that a text takes: two for each character of East Asia, none for one that joins the character before it. */
size_t terminal_columns(const char *text);

/* A text that a terminal shows as it is: '?' for control characters, for those that turn the direction of writing, and
   for bytes that are not UTF-8. At most `columns` columns; wide characters take two. What was cut ends in "…"; a
   path, and a name with its namespace, begin with it. `size` is 8 or more. */
void text_for_terminal(char *buffer, size_t size, const char *text, size_t columns);

/* The title of a part of a text: after an empty line, and bold where the output has styles. */
void heading_write(struct output *output, const char *title);

/* A paragraph, broken at blanks into lines of at most 80 columns, the first after `first`, the others after `indent`;
   ends its last line. A word that fills more than a line is broken anywhere. Returns how many lines these are; `output`
   NULL: only counts them. */
size_t paragraph_write(struct output *output, const char *first, const char *indent, const char *text);

/* The begin of a report: "TITLE — FACTS", as a paragraph. */
void headline_write(struct output *output, const char *title, const char *facts);

#endif
