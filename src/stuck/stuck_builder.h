/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_STUCK_BUILDER_H
#define SIGHT_STUCK_STUCK_BUILDER_H

#include "stuck/stuck_state.h"

struct stuck_builder {
    struct sink sink;
    struct past_sink past;
    struct stuck_state state;
};

#endif
