/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_REGION_H
#define SIGHT_CORE_REGION_H

#include "core/mpi_function.h"

/* What a trace says about a region (a state) besides its name: its paradigm and its role in it. The words are OTF2's,
   in lower case; readers of other formats use the ones that fit. */

#define PARADIGMS(X)                                                                                                   \
    X(UNKNOWN, "unknown")                                                                                              \
    X(USER, "user")         /* marked by the program */                                                                \
    X(COMPILER, "compiler") /* a function of the program */                                                            \
    X(MPI, "mpi")                                                                                                      \
    X(OPENMP, "openmp")                                                                                                \
    X(PTHREAD, "pthread")                                                                                              \
    X(CUDA, "cuda")                                                                                                    \
    X(HIP, "hip")                                                                                                      \
    X(OPENCL, "opencl")                                                                                                \
    X(OPENACC, "openacc")                                                                                              \
    X(SHMEM, "shmem")                                                                                                  \
    X(IO, "io") /* POSIX, ISO C, NetCDF and similar */                                                                 \
    X(SAMPLING, "sampling")                                                                                            \
    X(RUNTIME, "runtime")         /* a task runtime's own: StarPU, Charm++ */                                          \
    X(MEASUREMENT, "measurement") /* the recorder's own */                                                             \
    X(OTHER, "other")

#define REGION_ROLES(X)                                                                                                \
    X(UNKNOWN, "unknown")                                                                                              \
    X(FUNCTION, "function")                                                                                            \
    X(WRAPPER, "wrapper")                                                                                              \
    X(LOOP, "loop")                                                                                                    \
    X(CODE, "code")                                                                                                    \
    X(PARALLEL, "parallel")                                                                                            \
    X(WORKSHARE, "workshare") /* sections, single, master: shared among threads */                                     \
    X(CRITICAL, "critical")   /* and atomic, ordered, locks */                                                         \
    X(TASK, "task")                                                                                                    \
    X(TASK_WAIT, "task-wait")                                                                                          \
    X(BARRIER, "barrier")                                                                                              \
    X(COLLECTIVE, "collective")                                                                                        \
    X(POINT2POINT, "point2point")                                                                                      \
    X(RMA, "rma")                                                                                                      \
    X(DATA_TRANSFER, "data-transfer")                                                                                  \
    X(KERNEL, "kernel")                                                                                                \
    X(THREAD_MANAGEMENT, "thread-management")                                                                          \
    X(MEMORY, "memory") /* allocates or frees */                                                                       \
    X(FILE_IO, "file-io")                                                                                              \
    X(ARTIFICIAL, "artificial")

enum paradigm {
#define PARADIGM_MEMBER(name, word) PARADIGM_##name,
    PARADIGMS(PARADIGM_MEMBER)
#undef PARADIGM_MEMBER
        PARADIGM_COUNT
};

enum region_role {
#define REGION_ROLE_MEMBER(name, word) ROLE_##name,
    REGION_ROLES(REGION_ROLE_MEMBER)
#undef REGION_ROLE_MEMBER
        ROLE_COUNT
};

/* The words, and back (UNKNOWN for an unknown word). */
const char *paradigm_name(enum paradigm paradigm);
const char *region_role_name(enum region_role role);
enum paradigm paradigm_find(const char *word);
enum region_role region_role_find(const char *word);

/* The class of a region: from its name (function_class_of), except that a known paradigm decides whether it is MPI's,
   the program's or the recorder's. An MPI function missing from the table gets the class of its role. USER decides
   nothing: recorders give it to MPI's functions, too. */
enum function_class region_class(const char *name, enum paradigm paradigm, enum region_role role);

#endif
