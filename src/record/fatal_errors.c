/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/ending.h"
#include "record/real.h"
#include "record/recorder.h"

#include <stddef.h>

/* MPI ends the process for most errors: it tells the launcher, which kills all processes, often before this one comes
   to its exit. So what MPI itself calls for an error is noted on its way. These names are no part of any standard, and
   an MPI that has others never calls these. Where the compiler makes no jumps of the calls, frames of ours are among
   MPI's: stack.c passes over them. */

/* In MPI's numbers; one may have several. */
static const int classes[] = {
#define MPI_ERROR_CLASS(NAME) MPI_ERR_##NAME,
#include "core/mpi_errors.def"
#undef MPI_ERROR_CLASS
};

static uint32_t number_of(int class)
{
    for (uint32_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i] == class)
            return 1 + i;
    return RECORD_ERROR_OTHER;
}

#ifdef OPEN_MPI
int ompi_mpi_abort(void *comm, int code);
STANDS_BETWEEN int ompi_mpi_abort(void *comm, int code)
{
    static void *known;
    int (*next)(void *, int);
    ending_note_error(number_of(code));
    if (!known)
        known = real_find("ompi_mpi_abort");
    *(void **)&next = known;
    return next(comm, code);
}
#endif

#ifdef MPICH_VERSION
/* The lowest bits of an error are its class. */
enum { CLASS_BITS = 0x7F };

int MPIR_Err_return_comm(void *comm, const char *function, int code);
STANDS_BETWEEN int MPIR_Err_return_comm(void *comm, const char *function, int code)
{
    static void *known;
    int (*next)(void *, const char *, int);
    ending_note_error(number_of(code & CLASS_BITS));
    if (!known)
        known = real_find("MPIR_Err_return_comm");
    *(void **)&next = known;
    return next(comm, function, code);
}

int MPIR_Err_return_win(void *win, const char *function, int code);
STANDS_BETWEEN int MPIR_Err_return_win(void *win, const char *function, int code)
{
    static void *known;
    int (*next)(void *, const char *, int);
    ending_note_error(number_of(code & CLASS_BITS));
    if (!known)
        known = real_find("MPIR_Err_return_win");
    *(void **)&next = known;
    return next(win, function, code);
}
#endif
