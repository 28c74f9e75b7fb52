/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_PROGRAM_H
#define SIGHT_CLI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* The command that is to be recorded: which of its words is the MPI program, and which MPI it uses. */

enum mpi_kind { MPI_KIND_NONE, MPI_KIND_MPICH, MPI_KIND_OPENMPI };

struct program {
    const char *name;   /* the word of the command line; borrowed */
    enum mpi_kind kind; /* NONE: no word is linked to a known MPI */
    bool is_static;     /* MPI is inside the program: nothing can be put in front of it */
    bool has_recorder;  /* the recorder is inside it as well */
    bool is_alone;      /* it has no MPI, and can neither load one nor start another program */
};

/* True if the system would run a file for the word. */
bool program_exists(const char *word);

/* Looks at all words of a command; the first that is an MPI program is the program, else the last word that is a file
   of code. */
struct program program_find(char *const *words, size_t count);

/* The MPI that a launcher (mpiexec, mpirun …) or a compiler (mpicc) belongs to. */
enum mpi_kind program_launcher_kind(const char *name);

/* True if it is the system's own: the settings of others are not where the system's are. */
bool program_launcher_is_system(const char *name);

/* The launcher of an MPI: mpiexec.openmpi or mpiexec.mpich, as Debian names them beside each other; where that is of
   another MPI or missing, mpiexec. */
const char *program_launcher_of(enum mpi_kind kind);

/* "MPICH", "Open MPI". */
const char *mpi_kind_title(enum mpi_kind kind);

/* "mpich", "openmpi": as in the name of the recording library. */
const char *mpi_kind_name(enum mpi_kind kind);

/* True if a word is one of the commands that start MPI programs on hosts. */
bool program_is_launcher(const char *name);

#endif
