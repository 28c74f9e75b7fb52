/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_OWN_LIBRARY_H
#define SIGHT_CLI_OWN_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* The path of this very program, which need not be the `sight` of PATH; "" where the system does not say. Returns the
   buffer. */
const char *own_program(char *path, size_t size);

/* The path of one of sight's own libraries: beside the program (as built), where it is installed, or where it is when
   all was moved together. False: there is none of this name. */
bool own_library_find(const char *name, char *path, size_t size);

/* The value of LD_PRELOAD with these libraries (separated by ":") in front of what is there already; free() it. */
char *own_library_preload(const char *libraries);

/* The value of ASAN_OPTIONS with which a program with AddressSanitizer starts although another library is preloaded
   before its own; free() it. */
char *own_library_sanitizer_options(void);

#endif
