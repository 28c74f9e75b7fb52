/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_MEMORY_ROOM_H
#define SIGHT_CORE_MEMORY_ROOM_H

#include <stdint.h>

/* Bytes of memory that the process's control group may have, the least limit of the group and those above it (Linux,
   Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst): what a batch system gives a job. 0: no limit, or
   not known. Allocates nothing: the recorder calls it in other programs. */
uint64_t memory_group_limit(void);

/* Bytes that programs can still have on this machine without swapping (MemAvailable of proc(5)), at most the limit of
   the control group. 0: not known. */
uint64_t memory_room(void);

#endif
