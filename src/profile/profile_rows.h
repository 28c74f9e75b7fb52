/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PROFILE_PROFILE_ROWS_H
#define SIGHT_PROFILE_PROFILE_ROWS_H

#include "profile/profile.h"

/* A profile as rows, hottest first: one for each function, line or file; or for each function or line of the program's
   own code, in which counts what libraries compute for it (profile_own_path). */
enum profile_by { PROFILE_BY_FUNCTION, PROFILE_BY_LINE, PROFILE_BY_FILE, PROFILE_BY_OWN_FUNCTION, PROFILE_BY_OWN_LINE };

struct profile_share {
    uint32_t rank;
    uint64_t samples;
    int64_t self_ns;
};

struct profile_row {
    const char *name;          /* of the function; of files "" */
    const char *file;          /* "" where it is not known */
    int32_t line;              /* of a function the line with most of its samples; 0: not known, or a file's row */
    uint64_t samples;          /* taken in it */
    int64_t self_ns, total_ns; /* in it; with all that it calls, recursion counted once */
    struct profile_share *processes; /* that have samples in it, by rank */
    size_t process_count;
};

struct profile_rows {
    struct profile_row *row;
    size_t count;
    uint32_t *row_of; /* of each path of the trace; UINT32_MAX where the profile has none */
    size_t path_count;
    enum profile_by by;
};

struct profile_rows profile_rows_of(const struct profile *profile, enum profile_by by);
void profile_rows_clear(struct profile_rows *rows);

/* What stands for a path in these rows: the place of its own code, where they are by that. NULL: not known. */
const struct site_def *profile_rows_site(const struct profile *profile, const struct profile_rows *rows, uint32_t path);

/* The path, 1 + index, that calls the row in which `path` is: what calls itself is not called from elsewhere. 0:
 * nobody. */
uint32_t profile_caller(const struct profile *profile, const struct profile_rows *rows, uint32_t path);

/* A node of the call tree of these rows: rows in the way of calls, siblings with most time first. The tree of lines or
   files has lines or files. */
struct profile_node {
    uint32_t row;     /* of the rows */
    uint32_t depth;   /* 0: nobody calls it */
    uint64_t samples; /* in it */
    int64_t self_ns, total_ns;
};

struct profile_tree {
    struct profile_node *node; /* parents before their children, depth first */
    size_t count;
};

struct profile_tree profile_tree_of(const struct profile *profile, const struct profile_rows *rows);
void profile_tree_clear(struct profile_tree *tree);

#endif
