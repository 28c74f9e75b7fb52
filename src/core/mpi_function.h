/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_MPI_FUNCTION_H
#define SIGHT_CORE_MPI_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>

/* What the name of a state alone says: the table of MPI functions and the rules for all other names.

   Sources: the mpi.h of MPICH 4.0.2 and Open MPI 4.1.4, the additions of MPI 4.1, the functions that only Fortran has;
   the MPE-1 names are those of MPE-1's log_wrap.c. Everything here is constant: nothing is allocated, and nothing needs
   freeing. */

/* X(name, word): the classes, in the order of enum function_class, and the words that output prints. */
#define FUNCTION_CLASSES(X)                                                                                            \
    X(P2P, "p2p")               /* sends and receives, also when only initialised, started or marked ready */          \
    X(PROBE, "probe")           /* looking for a message */                                                            \
    X(WAIT, "wait")             /* waiting for or testing requests */                                                  \
    X(COLLECTIVE, "collective") /* collectives that move data */                                                       \
    X(SYNC, "sync")             /* barriers */                                                                         \
    X(RMA, "rma")               /* operations on and synchronisation of windows */                                     \
    X(IO, "io")                 /* MPI_File_* */                                                                       \
    X(SETUP, "setup")           /* makes or frees communicators, topologies, windows, sessions, processes */           \
    X(LOCAL, "local")           /* every other MPI function */                                                         \
    X(USER, "user")             /* not MPI: states of the program */                                                   \
    X(TOOL, "tool")             /* not MPI: states of the recorder itself */

enum function_class {
#define FUNCTION_CLASS_MEMBER(name, word) CLASS_##name,
    FUNCTION_CLASSES(FUNCTION_CLASS_MEMBER)
#undef FUNCTION_CLASS_MEMBER
};

/* The direction of a message recorded inside a call when the trace does not say it. */
enum message_direction { DIRECTION_NONE, DIRECTION_SEND, DIRECTION_RECEIVE };

struct mpi_function {
    const char *name; /* as in the standard: MPI_Send */
    const char *mpe1; /* MPE-1's spelling: SEND; NULL where MPE-1 has none */
    enum function_class class;
    enum message_direction direction;
    bool rooted; /* a collective with a root argument */
};

/* The function of exactly this name, or NULL. PMPI_ names are not in the table. */
const struct mpi_function *mpi_function_find(const char *name);

/* The function that a recorder spells so, or NULL: TAU has "MPI_Send()", Fortran "mpi_send_". Fortran's symbols end
   with one underscore or two and may be upper case: compared without case, after the exact names. */
const struct mpi_function *mpi_function_find_spelled(const char *name);

/* The function with this MPE-1 spelling, or NULL. MPE-1 cut names at 15 characters: a name of that length which is not
   a spelling itself means the only function whose spelling begins with it, NULL if there are several. */
const struct mpi_function *mpi_function_find_mpe1(const char *name);

/* The table itself, sorted by name in strcmp() order; index is below the count. */
size_t mpi_function_count(void);
const struct mpi_function *mpi_function_at(size_t index);

/* The word that all output prints: "p2p", "probe", … */
const char *function_class_name(enum function_class class);

/* True for MPI_Init, MPI_Init_thread and MPI_Finalize: their time belongs to starting and ending the run, not to what
   the program does. */
bool mpi_function_starts_or_ends(const char *name);

/* True for all classes but user and tool: time in them is communication time. */
bool function_class_is_mpi(enum function_class class);

/* The class of a state by its name. PMPI_X is X; other names that begin with MPI_ or MPIX_ are unknown MPI functions
   (local); MPE's own states are the tool's; everything else is the user's. */
enum function_class function_class_of(const char *state_name);

/* The direction of a message inside the state of this name: from the table, also for PMPI_X and for the states that
   MPE-2 puts around messages that complete in another call. */
enum message_direction message_direction_of(const char *state_name);

#endif
