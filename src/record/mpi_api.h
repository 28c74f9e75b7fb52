/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_MPI_API_H
#define SIGHT_RECORD_MPI_API_H

/* The MPI that the recorder is built for. */

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>

/* The library is preloaded into every process of a job, also into launchers and shells, which have no MPI. Functions
   are looked up when they are first called (see real.h); objects that it names must be weak. */
#ifdef OPEN_MPI
#pragma weak ompi_mpi_byte
#pragma weak ompi_mpi_char
#pragma weak ompi_mpi_comm_null
#pragma weak ompi_mpi_comm_self
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_double
#pragma weak ompi_mpi_group_null
#pragma weak ompi_mpi_int
#pragma weak ompi_mpi_op_lor
#pragma weak ompi_mpi_op_no_op
#pragma weak ompi_request_null
#endif

/* Handles as numbers: integers under MPICH, addresses under Open MPI. */
#ifdef OPEN_MPI
#define HANDLE_NUMBER(handle) ((uintptr_t)(handle))
#else
#define HANDLE_NUMBER(handle) ((uintptr_t)(unsigned)(handle))
#endif

/* Bytes that a receive brought, as its status tells. */
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
