/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_LAUNCH_NOTE_H
#define SIGHT_CONVERT_RECORD_LAUNCH_NOTE_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What `sight record` knows of a run and its processes do not: a file in the directory of the recording, NAME=VALUE
   with a NUL after each. */
#define LAUNCH_NOTE_NAME "sight.launch"

/* A process of the run that ended without a note of its own, and not because others did. */
struct launch_death {
    uint64_t host; /* as of the recording (struct record_header) */
    uint32_t pid;
    int32_t how;   /* the signal; death_by_exit(); 0: not known */
    int64_t at_ns; /* CLOCK_MONOTONIC of that host when that was seen */
};
enum { LAUNCH_DEATHS_MAX = 64 }; /* that are noted */

struct launch_note {
    char *command; /* with the launcher; owned; NULL: not known */
    bool has_zone;
    int zone_s;       /* what to add to UTC for the time of day where the run was started */
    int64_t ended_ns; /* CLOCK_MONOTONIC of that host when its command had ended; 0: not known */
    int64_t alive_ns; /* and when it was last seen to run; 0: not known */
    struct launch_death deaths[LAUNCH_DEATHS_MAX];
    size_t death_count;
};

/* Writes the note of a command that is started now, in this process's time zone. */
enum status launch_note_write(const char *directory, char *const *command, size_t count, struct error *err) MUST_CHECK;

/* Adds when the command ended. */
enum status launch_note_end(const char *directory, int64_t ended_ns, struct error *err) MUST_CHECK;

/* Notes when the command was seen to run, in place of when it was before: of a run where everything is killed at once,
   sight too, it is known until when it lived. Without a note nothing happens. */
void launch_note_alive(const char *directory, int64_t alive_ns);

/* Adds that a process has ended. Without a launch note nothing happens. */
void launch_note_death(const char *directory, const struct launch_death *death);

/* Reads the directory's note into a zero-initialised one; it stays as it is where there is none. */
void launch_note_read(struct launch_note *note, const char *directory);

void launch_note_clear(struct launch_note *note);

/* Writes a time, in ms since 1970, as ISO 8601 with the note's time zone, or else UTC. False: it is beyond the year
   9999. */
bool launch_note_date(const struct launch_note *note, int64_t ms, char *text, size_t size);

#endif
