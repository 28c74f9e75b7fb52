/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_PAGE_H
#define SIGHT_RENDER_REPORTS_PAGE_H

#include "core/output.h"
#include "render/charts/theme.h"
#include "render/field.h"

/* A page of HTML that needs nothing but itself: one style for light, dark and print, tables that sort, and a policy
   that forbids everything else. */

/* Additional contents of a page: text of a style sheet and of a script; "" for none. */
struct page_extras {
    const char *style, *script;
};

/* Everything up to <body>. `extras` must be the same for both; NULL: none. */
void page_begin(struct output *output, const char *title, const struct page_extras *extras);
void page_end(struct output *output, const struct page_extras *extras);

/* The variables of colours that only pages have: --accent as text, --link, --good, --fair, --line. Light or dark. */
void page_write_colours(struct output *output, enum theme theme);

/* `open`, the text as markup, `close`. */
void page_element(struct output *output, const char *open, const char *text, const char *close);

/* A table of fields with a title; `sample` is any row, to see which columns are text. */
void page_table_begin(struct output *output, const struct field *fields, size_t count, const void *context,
                      const void *sample);
void page_table_row(struct output *output, const struct field *fields, size_t count, const void *context,
                    const void *row);
void page_table_end(struct output *output);

/* A heading and a table of rows that stand one after the other in memory, `size` bytes each: the first `most` of
   `count`, which are those with the most time. Nothing where there are none. */
void page_table_most(struct output *output, const char *heading, const struct field *fields, size_t field_count,
                     const void *context, const void *rows, size_t size, size_t count, size_t most);

/* The same cell by cell: a header cell, and a cell with its sort key (raw NULL: its text). */
void page_th(struct output *output, const char *title, bool left);
void page_td(struct output *output, const char *text, const char *raw, bool left);

#endif
