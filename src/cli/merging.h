/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_MERGING_H
#define SIGHT_CLI_MERGING_H

#include "cli/command.h"
#include "convert/record/read_record.h"

/* From recordings to traces, with what there is to say about them. */

/* Merges recordings into traces. */
struct merging {
    const struct common_options *common;
    struct choice clock; /* that they were recorded with */
    bool force;          /* replace traces */
    bool diagnosed;      /* the first will be */
    bool whole;          /* nothing is written where other hosts have a part */
    struct recordings recordings;
    bool elsewhere; /* files of other hosts are missing */
};

/* Describes the recordings to merge. */
struct merged {
    bool elsewhere; /* other hosts have files of the recording that are not in the directories */
    bool failed;    /* some processes or threads had no place to record to */
    bool nothing;   /* and no other did */
};

/* Writes the traces of the recordings in these directories: the first MPI program's to `output`, those of others beside
   it with a number. `ran` NULL: when the program ended is not known. Returns an exit code; `merged` is filled in. */
struct launch_result;
int merging_run(struct merging *merging, char *const *directories, size_t count, const char *output,
                const struct launch_result *ran, struct merged *merged);

/* The exit code: a trace without some processes is written, but is not what was asked for. */
int merged_code(const struct merged *merged, int code);

/* "sight merge OPTION -o OUTPUT DIRECTORY" as a shell takes it (option NULL: none). Returns the text. */
enum { MERGING_COMMAND_SIZE = 8300 }; /* two paths of PATH_MAX */
const char *merging_command(char text[MERGING_COMMAND_SIZE], const char *option, const char *directory,
                            const char *output);

/* True if the output is a file with a name, neither standard output nor a device. */
bool merging_names_file(const char *output);

/* Writes the recordings in the directories that are the inputs as finalised CLOG-2 to the target. */
int recording_merge(const struct common_options *common, const struct target_options *target);

/* Writes what a reader of recordings delivers, by time, as a CLOG-2 file; `force` replaces one. */
enum status recording_write(struct reader *reader, const char *path, bool force, struct error *err) MUST_CHECK;

#endif
