/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_SPROF_REPORT_H
#define SIGHT_RENDER_REPORTS_SPROF_REPORT_H

#include "core/output.h"
#include "runs/scaling.h"

/* The result file of Sprof (Jales Costa, SPROF: Perfilador de Speedup em Aplicações Paralelas de Memória Compartilhada,
   UFRN 2016, Figure 6): tests one after the other, each with its own run of the smallest size as the reference. The
   n-th run of each size is part of test n. Regions are states of the program's own, numbered as they first occur in the
   reference; a state called FILE:START-STOP has its lines, any other is shown by its name with lines 0 to 0. Where
   several processes have a region its time is their mean. */

struct sprof_result {
    const char *application;
    char *const *arguments; /* as Sprof shows them: without the one that is the number of threads */
    size_t argument_count;
    const struct scaling_run *runs; /* in the order in which they were made */
    size_t count;
};
void sprof_write(struct output *output, const struct sprof_result *result);

#endif
