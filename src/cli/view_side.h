/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_VIEW_SIDE_H
#define SIGHT_CLI_VIEW_SIDE_H

#include "cli/asking.h"
#include "cli/command_options.h"
#include "view/routes.h"

/* A trace as `sight view` serves it: its timeline at once, and the run as judged, in a thread of its own. */
struct side {
    struct view_options options;
    struct engine_look pictures, questions, overlays;
    struct view_site site;
    struct view_judged judged;
    struct engine_result *run;
    pthread_t judge;
    bool judging; /* the thread has been started */
    atomic_bool done;
};

/* STATUS_FAILED: there is nothing to clear. `silent`: without progress and notes. */
enum status side_open(struct side *side, const char *title, bool silent, struct error *err) MUST_CHECK;

/* Starts the thread that judges. */
void side_judge(struct side *side);
bool side_is_judging(struct side *side);

/* Waits for the judging thread. */
void side_clear(struct side *side);

#endif
