/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_WRAPPERS_H
#define SIGHT_CONVERT_RECORD_RECORD_WRAPPERS_H

#include "convert/record/record_run.h"

/* Functions of the program that only call a function of MPI for others (hypre_MPI_Waitall, MpiComm::allReduce): their
   line says nothing, so that calls by way of them get the line where they are called. They are known by their names,
   since a function that does more than that is where its callers look for its calls of MPI. */

/* True if the words of the function's name are those of an MPI function, after at least the word "mpi". "comm" and
   "communicator" between them do not count, nor do words that only say that it is a wrapper. */
bool wrapper_is_of(const char *function, const char *mpi_function);

/* True if it may be one of any MPI function; NULL is none. */
bool wrapper_may_be(const char *function);

/* When the sites of all places are defined (record_sites_resolve): gives calls by way of wrappers their places, and
   drops the sites that are not needed then. */
void record_wrappers_pass_by(struct record_run *run, struct defs *defs);

#endif
