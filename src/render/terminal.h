/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_TERMINAL_H
#define SIGHT_RENDER_TERMINAL_H

#include "core/output.h"

/* What terminals understand (ECMA-48, SGR): written only where colour is wanted. The colours are the terminal's own,
   so that they can be read on its background. */
#define TERMINAL_BOLD "\033[1m"
#define TERMINAL_RED "\033[31m"
#define TERMINAL_GREEN "\033[32m"
#define TERMINAL_YELLOW "\033[33m"
#define TERMINAL_PLAIN "\033[0m"

/* The style of what is written from here on, if the output has styles; NULL: plain. `output` NULL: nothing. */
static inline void terminal_style(struct output *output, const char *style)
{
    if (output && output->colour)
        output_text(output, style ? style : TERMINAL_PLAIN);
}

/* The colour of an efficiency: green from POP's limit of what is acceptable on, yellow, red where half is lost. */
static inline const char *terminal_efficiency(double share)
{
    if (share >= 0.8)
        return TERMINAL_GREEN;
    if (share >= 0.5)
        return TERMINAL_YELLOW;
    return TERMINAL_RED;
}

#endif
