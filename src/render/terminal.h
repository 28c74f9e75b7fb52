/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_TERMINAL_H
#define SIGHT_RENDER_TERMINAL_H

/* What terminals understand (ECMA-48, SGR): written only where colour is wanted. The colours are the terminal's own,
   so that they can be read on its background. */
#define TERMINAL_BOLD "\033[1m"
#define TERMINAL_RED "\033[31m"
#define TERMINAL_GREEN "\033[32m"
#define TERMINAL_YELLOW "\033[33m"
#define TERMINAL_PLAIN "\033[0m"

#endif
