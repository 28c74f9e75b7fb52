/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_REQUEST_TABLE_H
#define SIGHT_RECORD_REQUEST_TABLE_H

#include "record/recorder.h"

/* The file in which the requests of this process are kept while it runs, so that a reader of a killed process's
   recording knows what its calls waited for. */

/* Room for RECORD_REQUESTS_BLOCK requests, those of this number, filled with zeros, for good; NULL if there is no room
   in a file. */
struct record_request *request_table_page(uint32_t number);

/* MPI is finalised: the file is no longer needed. Its pages stay mapped. */
void request_table_remove(void);

/* After fork(): the pages become the child's own. */
void request_table_abandon(void);

#endif
