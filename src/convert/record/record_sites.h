/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_SITES_H
#define SIGHT_CONVERT_RECORD_RECORD_SITES_H

#include "convert/record/record_run.h"

/* The call sites of a recording: each file numbers its own; their source locations are shared. */

/* Index + 1 (of record_run.places) of the place whose call returns to `offset` in a file of code; 0 where it cannot be
   one. */
uint32_t record_sites_place(struct record_run *run, const char *path, uint64_t offset);

/* A file of code is that of a program. */
void record_sites_program(struct record_run *run, const char *path);

/* Whether code that samples were taken in is a library's that the program only uses. Libraries with lines, and apart
   from those that are installed for all programs, may be the program's own, as large programs are made of some. */
bool record_sites_in_library(const struct record_code_file *module, bool with_line);

/* Adds the definition of a function of Python in `file`; the place (as above) of an address with
   RECORD_PYTHON_ADDRESS. */
void record_sites_python(struct record_run *run, struct record_file *file, struct record_python *python);
uint32_t record_sites_line(struct record_run *run, const struct record_file *file, uint64_t address);

/* Adds the definition of a site in `file`. */
void record_sites_define(struct record_run *run, struct record_file *file, struct record_site *site);

/* Adds where the function of a site was called. */
void record_sites_outer(struct record_run *run, struct record_file *file, struct record_outer *outer);

/* After all definitions: looks into the files of code and defines the sites. */
void record_sites_resolve(struct record_run *run, struct defs *defs);

void record_sites_clear(struct record_run *run);

#endif
