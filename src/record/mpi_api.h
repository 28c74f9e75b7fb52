/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_MPI_API_H
#define SIGHT_RECORD_MPI_API_H

/* The MPI that the recorder is built for. */

#include "record/real.h"

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>

/* The library is preloaded into every process of a job, also into launchers and shells, which have no MPI; and MPI may
   be loaded later than it. So functions are looked up when they are first called (see real.h), and objects, which Open
   MPI has for handles, when they are first named. */
#if defined(OPEN_MPI) && !defined(RECORD_STATIC)
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global)                                                                           \
    (__extension__({                                                                                                   \
        static void *object;                                                                                           \
        if (__builtin_expect(!object, 0))                                                                              \
            object = real_object(#global);                                                                             \
        (type) object;                                                                                                 \
    }))
#endif

/* Handles as numbers: integers under MPICH, addresses under Open MPI. */
#ifdef OPEN_MPI
#define HANDLE_NUMBER(handle) ((uintptr_t)(handle))
#else
#define HANDLE_NUMBER(handle) ((uintptr_t)(unsigned)(handle))
#endif

/* Bytes received, from the status. */
static inline uint64_t status_bytes(const MPI_Status *status)
{
#if defined(OPEN_MPI)
    return status->_ucount;
#elif defined(MPICH_VERSION)
    return (uint64_t)((unsigned)status->count_hi_and_cancelled >> 1) << 32 | (unsigned)status->count_lo;
#else
    MPI_Count bytes = 0;
    return PMPI_Get_elements_x(status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes > 0 ? (uint64_t)bytes : 0;
#endif
}

#endif
