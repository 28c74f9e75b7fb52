/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_MATCH_H
#define SIGHT_RECORD_MATCH_H

/* Before the first call of MPI: ends the program, and says why, if it was started without MPI and has loaded the one
   that this recorder is not for. */
void match_or_exit(void);

#endif
