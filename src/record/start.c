/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that begin, end and switch the recording; their wrappers are written by hand. */
#include "record/call.h"
#include "record/clock.h"
#include "record/real.h"

EXPORT int MPI_Init(int *argc, char ***argv)
{
    int64_t begin_ns = clock_now();
    int result = REAL(MPI_Init)(argc, argv);
    if (result == MPI_SUCCESS)
        recorder_start(FUNCTION_MPI_Init, real_caller(CALLER), begin_ns, false);
    return result;
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int64_t begin_ns = clock_now();
    int result = REAL(MPI_Init_thread)(argc, argv, required, provided);
    if (result == MPI_SUCCESS)
        recorder_start(FUNCTION_MPI_Init_thread, real_caller(CALLER), begin_ns, *provided == MPI_THREAD_MULTIPLE);
    return result;
}

EXPORT int MPI_Finalize(void)
{
    struct call call;
    if (!call_of(&call, FUNCTION_MPI_Finalize, CALLER))
        return REAL(MPI_Finalize)();
    recorder_finish();
    int result = REAL(MPI_Finalize)();
    call_leave(&call);
    recorder_close();
    return result;
}

/* What comes behind the level is for other tools. */
EXPORT int MPI_Pcontrol(const int level, ...)
{
    recorder_switch(level != 0);
    return MPI_SUCCESS;
}

#ifdef RECORD_STATIC
/* By this `sight record` knows a program that has the recorder in it. */
__attribute__((used)) static const char linked[] = RECORD_LINKED;
#else
EXPORT int PMPI_Init(int *argc, char ***argv)
{
    return CALLED_FROM_FORTRAN ? MPI_Init(argc, argv) : REAL(MPI_Init)(argc, argv);
}

EXPORT int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return CALLED_FROM_FORTRAN ? MPI_Init_thread(argc, argv, required, provided)
                               : REAL(MPI_Init_thread)(argc, argv, required, provided);
}

EXPORT int PMPI_Finalize(void)
{
    return CALLED_FROM_FORTRAN ? MPI_Finalize() : REAL(MPI_Finalize)();
}

EXPORT int PMPI_Pcontrol(const int level, ...)
{
    if (CALLED_FROM_FORTRAN)
        recorder_switch(level != 0);
    return MPI_SUCCESS;
}
#endif
