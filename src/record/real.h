/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_REAL_H
#define SIGHT_RECORD_REAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The MPI library's own functions, called by the recorder's. Both names of each, MPI_X and PMPI_X, are the recorder's:
   MPI's Fortran libraries call PMPI_X, and so do programs that contain a tool; their calls must be recorded as well.
   PMPI_X called from elsewhere is not recorded. */

#ifdef RECORD_STATIC

/* A function that wraps the MPI library's. All of them are in one section, of which the linker defines begin and end:
   here the recorder is in the program's file. */
#define EXPORT __attribute__((visibility("default"), section("sight_wrappers")))

/* The recorder that is linked into programs together with a static MPI: MPI_X is ours, PMPI_X MPI's. */
#define REAL(name) P##name
#define PLAIN(name) P##name
static inline const void *real_caller(const void *address)
{
    return address;
}

/* True for an address in the code of a wrapper. */
extern const char __start_sight_wrappers[] __attribute__((visibility("hidden")));
extern const char __stop_sight_wrappers[] __attribute__((visibility("hidden")));
static inline bool real_is_recorder(const void *address)
{
    uintptr_t place = (uintptr_t)address;
    return place >= (uintptr_t)__start_sight_wrappers && place < (uintptr_t)__stop_sight_wrappers;
}

/* No function of such a recorder stands between MPI's. */
static inline bool real_stands_between(const void *address)
{
    (void)address;
    return false;
}

/* All is one file: what is MPI's cannot be distinguished. MPI itself calls PMPI_X, but for the few of left_call.c. */
static inline bool real_may_be_mpi(const void *address)
{
    (void)address;
    return true;
}
static inline bool real_is_mpi(const void *address)
{
    (void)address;
    return false;
}
static inline bool real_called_from_fortran(const void *address)
{
    (void)address;
    return false;
}

#else

/* A function that wraps the MPI library's. */
#define EXPORT __attribute__((visibility("default")))

/* A function that MPI's own functions call in place of another one of MPI's. */
#define STANDS_BETWEEN __attribute__((visibility("default"), section("sight_between")))

/* True for an address in the code of the recorder. */
bool real_is_recorder(const void *address);

/* True for an address in the code of such a function, whose frames are among MPI's. */
extern const char __start_sight_between[] __attribute__((visibility("hidden")));
extern const char __stop_sight_between[] __attribute__((visibility("hidden")));
static inline bool real_stands_between(const void *address)
{
    uintptr_t place = (uintptr_t)address;
    return place >= (uintptr_t)__start_sight_between && place < (uintptr_t)__stop_sight_between;
}

/* True for an address in the code of MPI, or of a tool that stands before it. */
bool real_is_mpi(const void *address);
static inline bool real_may_be_mpi(const void *address)
{
    return real_is_mpi(address);
}

/* The function of this name ("PMPI_Send") in the MPI library, or in a tool that is loaded before it. Ends the program
 * if there is none. */
void *real_find(const char *name);

/* The object of this name ("ompi_mpi_comm_world"). */
void *real_object(const char *name);

/* The function of this name of MPI's Fortran libraries ("mpi_send_"). */
void *real_find_fortran(const char *name);

#define FOUND(name)                                                                                                    \
    (*(__extension__({                                                                                                 \
        static __typeof__(name) *found;                                                                                \
        if (__builtin_expect(!found, 0))                                                                               \
            found = real_find(#name);                                                                                  \
        found;                                                                                                         \
    })))

/* Calls the MPI library's own function, PMPI_X. */
#define REAL(name) FOUND(P##name)

/* Calls the MPI_X that the program would call without the recorder: the library's, or that of another tool. */
#define PLAIN(name) FOUND(name)

/* True if the address, to which a call returns, is in a Fortran library of MPI. */
bool real_called_from_fortran(const void *address);

/* True if it is in the program's own file. Programs may have functions MPI_X of their own, which call PMPI_X. */
bool real_is_program(const void *address);

/* True if there is a Fortran library of MPI; and where the program called it last, on this thread: see fortran.c. */
extern bool real_has_fortran;
extern __thread const void *real_fortran_caller __attribute__((tls_model("initial-exec")));

/* Where the program itself made the call that returns to `address`; NULL: not known. */
const void *real_caller_of_fortran(const void *address);
static inline const void *real_caller(const void *address)
{
    return __builtin_expect(real_has_fortran, 0) ? real_caller_of_fortran(address) : address;
}

/* The recorder's own MPI_X, where the program has one, too, which others get by that name. */
#define OWN(name) own_##name
#define DECLARE_OWN(name) extern __typeof__(name) own_##name __attribute__((alias(#name), visibility("hidden")))

/* In PMPI_X: whether the program made this call. If another tool stands between it and MPI, a call of PMPI_X is to
   pass it by: then it is not recorded. */
#define CALLED_FROM_FORTRAN real_called_from_fortran(__builtin_return_address(0))
#define CALLED_BY_PROGRAM(name)                                                                                        \
    (CALLED_FROM_FORTRAN ||                                                                                            \
     (real_is_program(__builtin_return_address(0)) && (void *)&PLAIN(name) == (void *)&REAL(name)))

#endif

#endif
