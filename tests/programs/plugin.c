/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program without OpenMP that loads a module with it, closes it, and loads it again. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; i++) {
        void *module = dlopen("./hybrid_module.so", RTLD_NOW | RTLD_LOCAL);
        int (*threads)(void) = NULL;
        if (module)
            *(void **)&threads = dlsym(module, "module_threads");
        printf("%d\n", threads ? threads() : -1);
        if (module)
            dlclose(module);
    }
    MPI_Finalize();
    return 0;
}
