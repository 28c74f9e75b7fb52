/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_SQL_PRINT_H
#define SIGHT_CLI_SQL_PRINT_H

#include "sql/sql.h"

/* Results of queries as they come: a table for people, CSV, or JSON lines. */

enum sql_format { SQL_TEXT, SQL_CSV, SQL_JSON };

struct sql_printer;

/* Text is at most `width` columns wide: where the columns of a result do not fit, a row is a block of lines. `results`
   counts all that are printed, from which blank lines between them come. */
struct sql_printer *sql_printer_new(struct output *output, enum sql_format format, size_t width);

/* What sql_run calls; borrowed. */
const struct sql_result *sql_printer_result(struct sql_printer *printer);

/* Prints what is still to be aligned. */
void sql_printer_end(struct sql_printer *printer);
void sql_printer_free(struct sql_printer *printer);

#endif
