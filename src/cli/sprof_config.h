/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_SPROF_CONFIG_H
#define SIGHT_CLI_SPROF_CONFIG_H

#include "core/error.h"

#include <stddef.h>

/* sprof_exec.conf, the file that says which runs Sprof makes (Jales Costa 2016, 4.3 and Figure 3): NAME=VALUE without
   blanks, lines that begin with # are comments. number_of_tests is how often each size runs. list_threads_values is
   {2,4,8}, the numbers of threads beside 1; where it is empty or missing, max_number_threads, type_of_step (power or
   constant) and value_of_step give them: from 1 on times, or plus, the step, as far as the maximum. */

enum { SPROF_THREADS_MOST = 4096 };

struct sprof_config {
    unsigned tests;
    char *threads; /* "1,2,4"; owned */
};

/* Faults name the file and the line. Clear afterwards in any case. */
enum status sprof_config_read(const char *path, struct sprof_config *config, struct error *err) MUST_CHECK;
void sprof_config_clear(struct sprof_config *config);

#endif
