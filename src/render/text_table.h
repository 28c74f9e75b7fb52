/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_TEXT_TABLE_H
#define SIGHT_RENDER_TEXT_TABLE_H

#include "render/field.h"

/* A table for people: columns aligned, numbers to the right. Rows are collected, then printed. */
struct text_table;
struct text_table *text_table_new(const struct field *fields, size_t count);
void text_table_row(struct text_table *table, const void *context, const void *row);

/* The same with a first column, titled `first`, whose cell comes before each text_table_row; NULL: without. */
struct text_table *text_table_after(const char *first, const struct field *fields, size_t count);

/* "… 57 more (--all)" where not all rows were shown. */
void text_rest_write(struct output *output, size_t shown, size_t all);

/* A table cell by cell, row by row; the first row is the titles. A column with a left-aligned cell is left-aligned. */
struct text_table *text_table_columns(size_t columns);
void text_table_cell(struct text_table *table, const char *text, bool left);

/* Sets how a terminal shows the last cell: a sequence of render/terminal.h; NULL: plain. */
void text_table_style(struct text_table *table, const char *style);

/* So many rows of cells are titles, 1 unless it is said. Where a table is wider than the screen of 80 columns, titles
   of numbers and texts are cut. */
void text_table_titles(struct text_table *table, size_t rows);

void text_table_print(struct text_table *table, struct output *output, const char *indent); /* and frees it */

#endif
