/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_CHARTS_PALETTE_H
#define SIGHT_RENDER_CHARTS_PALETTE_H

#include "core/defs.h"
#include "render/charts/theme.h"

/* The paint of a function or state: always the same for the same name, in every chart and run. The functions that
   programs spend their time in have a colour each; all others get one from a hash of their name. None is hatched: that
   is for waiting, as found by the analysis. `own`: the trace's own colour if it has a valid one. */
struct paint palette_paint(const struct state_def *state, bool own);

#endif
