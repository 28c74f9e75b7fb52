/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_FILES_H
#define SIGHT_RECORD_FILES_H

#include "record/call.h"

/* Which communicator a file was opened on: MPI only returns its group. */

/* After MPI_File_open, and before MPI_File_close. */
void file_opened(struct call *call, MPI_File file);
void file_closed(MPI_File file);

/* The number of the file's communicator; RECORD_WORLD if not known. */
uint32_t file_comm(MPI_File file);

/* call_begin and call_enter for a function on a file. */
bool call_on_file(struct call *call, enum function function, const uintptr_t *caller, MPI_File file);

#endif
