/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_OVERHEAD_H
#define SIGHT_CLI_OVERHEAD_H

#include "cli/recording.h"

/* `sight record --measure-overhead N -- COMMAND`: runs the command N (`count`) times with and as often without
   recording, in turn (with, without, without, with, ...), after one run of each to warm up, and prints what recording
   costs and whether that is more than noise: one-way analysis of variance, as Sprof's test of intrusion (Jales Costa
   2016, 5.6), and the interval of runs/significance.h. What the command prints goes to standard error. No trace is
   written. The exit code.
 */
int overhead_measure(const struct recording *recording, size_t count);

#endif
