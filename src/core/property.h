/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_PROPERTY_H
#define SIGHT_CORE_PROPERTY_H

#include "core/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Facts about a run besides its events: its command, when it began, its MPI. A name may be any text: those below are
   what recordings have, others come from other tools' traces. */
#define PROPERTY_COMMAND "command"     /* as given to `sight record`: with the launcher */
#define PROPERTY_PROGRAM "program"     /* the command line of a process */
#define PROPERTY_DATE "date"           /* when process 0 began: ISO 8601, with the time zone if that is known */
#define PROPERTY_DIRECTORY "directory" /* in which process 0 was started */
/* A directory in which compilers were given relative names of source files; a row each. Not for people. */
#define PROPERTY_COMPILED "sources"
#define PROPERTY_MPI "mpi"           /* the library, and its version */
#define PROPERTY_RECORDER "recorder" /* the program that recorded, and its version */
#define PROPERTY_OPTIONS "options"   /* of the recorder */
#define PROPERTY_PAUSED "paused"     /* that the program switched recording off for a time (MPI_Pcontrol) */
/* With which a process receives or probes: MPI_ANY_SOURCE, MPI_ANY_TAG; a row each. */
#define PROPERTY_WILDCARDS "wildcards"
#define PROPERTY_CLOCK "clock" /* what times were read from */
#define PROPERTY_MACHINE "machine"
#define PROPERTY_DESCRIPTION "description"
#define PROPERTY_KEPT "kept"     /* what the trace holds if only a sample of the run was kept */
#define PROPERTY_TOTALS "totals" /* of all of such a run: see metrics/totals.h. Not for people */
/* The computer of processes. Readers that know its processes have it in struct location_def instead. */
#define PROPERTY_HOST "host"

struct rank_range {
    uint32_t first, last;
};

struct property {
    char *name, *value;       /* UTF-8 */
    struct rank_range *ranks; /* of the processes that it is a fact about; none: the whole run */
    size_t rank_count, rank_capacity;
};

/* A zero-initialised list is empty. */
struct property_list {
    struct property *rows;
    size_t count, capacity;
    struct map known; /* internal: hash of name and value -> index */
};

/* Adds a fact about the whole run. NULL or an empty value: nothing. The same name and value are kept once. */
void property_add(struct property_list *list, const char *name, const char *value);

/* Adds PROPERTY_DATE as UTC, from seconds since 1970. Before that and after the year 9999: nothing. */
void property_add_date(struct property_list *list, int64_t seconds);

/* The same as property_add about the processes `first` to `last`; those of one name and value are one row. */
void property_add_of(struct property_list *list, const char *name, const char *value, uint32_t first, uint32_t last);

/* A fact whose processes are a text of property_ranks(); NULL or "": the whole run. False: it is no such text, is
   not in ascending order, or names processes from PROCESS_LIMIT on: what precedes that is added. */
bool property_add_text(struct property_list *list, const char *name, const char *value, const char *ranks);

/* The processes as text, "0-3,8", in a new string (free()); NULL for the whole run. */
char *property_ranks(const struct property *property);

/* True if it is a fact about this process, not about the whole run. */
bool property_has_rank(const struct property *property, uint32_t rank);

/* True if the list has this fact, and it is about the process, or the whole run. */
bool property_says(const struct property_list *list, const char *name, const char *value, uint32_t rank);

/* Value of the first property of this name; NULL: there is none. */
const char *property_find(const struct property_list *list, const char *name);

/* True of SIGHT's recordings of all functions all the time, without a choice (--only, --skip), a sample (--keep) or a
   pause (MPI_Pcontrol): what such a trace lacks, the program did not do, or it was ended before. */
bool property_records_all(const struct property_list *list);

/* What people read in place of the name. */
const char *property_title(const char *name);

void property_list_clear(struct property_list *list);

struct defs;

/* All that is known: the properties of the definitions, and as such the hosts of their locations, in the order of the
   names above and then in their own. Free with property_list_clear. */
struct property_list property_list_of(const struct defs *defs);

/* The same without those that are not for people. */
struct property_list property_list_shown(const struct defs *defs);

#endif
