/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_READ_RECORD_SUMMARY_H
#define SIGHT_CONVERT_RECORD_READ_RECORD_SUMMARY_H

#include "convert/reader.h"

/* After the last event: a recording is complete if every process reached MPI_Finalize and nothing was left out. Each
   reason why it is not becomes damage of the reader. */
void record_note_missing(struct reader *reader);

#endif
