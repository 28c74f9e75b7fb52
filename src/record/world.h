/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_WORLD_H
#define SIGHT_RECORD_WORLD_H

#include <stdint.h>

/* Which MPI program a process belongs to, if all of them are on this host: the same number in all its processes and a
   different one in other programs, found without communication; 0: not known. `size` is that of MPI_COMM_WORLD. */
uint64_t world_of_launcher(int size);

/* A number unique to this process. */
uint64_t world_of_process(void);

#endif
