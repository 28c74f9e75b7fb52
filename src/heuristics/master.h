/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_MASTER_H
#define SIGHT_HEURISTICS_MASTER_H

#include "metrics/metrics.h"

/* The master of a master/worker program: the rank that takes part in at least 80 % of all messages (an end at each
   side: its communication index is 0.4 or more), exchanges them with at least three quarters of the other processes,
   and computes at most half of what the others compute on average, and at most half of what each of three quarters of
   them computes: compared with one overloaded process, any other computes little. -1 if there is none, or fewer than
   three processes. */
int64_t master_of(const struct metrics *metrics);

/* What a master hands out: each of its messages to a worker is a task. Times are of all tasks together. */
struct tasks {
    double count, workers;
    double computed_s; /* by the workers */
    double moving_s;   /* of the workers: in sends, receives and waits for messages, without waiting for others */
    double serving_s;  /* the same of the master */
    double waiting_s;  /* of the workers, there */
    double bytes;      /* of a message on average, to the master or back; below 0: not known */
};

/* `master`: its rank. */
struct tasks tasks_of(const struct metrics *metrics, uint32_t master);

#endif
