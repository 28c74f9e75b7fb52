/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_BROWSER_H
#define SIGHT_CLI_BROWSER_H

#include <stdbool.h>

/* Opens an address in the user's browser, where there is a screen (DISPLAY or WAYLAND_DISPLAY) and xdg-open. The
   address holds a secret, and arguments of programs can be read by every process: so we open a file of the user's own
   that redirects to it. Returns the file's name, for browser_forget; NULL if nothing was opened. */
char *browser_open(const char *url);

/* Removes the file and frees its name; NULL: nothing. */
void browser_forget(char *path);

#endif
