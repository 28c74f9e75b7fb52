/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_JUDGE_UNEXPLAINED_H
#define SIGHT_STUCK_JUDGE_UNEXPLAINED_H

#include "stuck/judging.h"

/* For traces of other recorders, which do not say how processes ended: those that are in MPI where the trace ends, if
   it is whole, and either nobody is outside MPI who could go on, or one of them has been in its call for long. */
enum stuck_kind judge_unexplained(struct judging *judging);

#endif
