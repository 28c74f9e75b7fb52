/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes in code that is loaded after MPI_Init, makes no call that is recorded, and ends: `late_code SECONDS`. With
   PLUGIN that code, late_code.so. */
#include <stdint.h>

#ifdef PLUGIN

void plugged(volatile uint64_t *sink)
{
    for (uint64_t i = 0; i < 1000000; i++)
        *sink = *sink * 31 + i;
}

#else

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    static volatile uint64_t sink;
    MPI_Init(&argc, &argv);
    void (*plugged)(volatile uint64_t *) = NULL;
    void *plugin = dlopen("./late_code.so", RTLD_NOW);
    if (plugin)
        *(void **)&plugged = dlsym(plugin, "plugged");
    if (!plugged)
        return 1;
    clock_t limit = (clock_t)(atof(argv[1]) * CLOCKS_PER_SEC);
    while (clock() < limit)
        plugged(&sink);
    MPI_Finalize();
    puts("late_code ended");
    return 0;
}

#endif
