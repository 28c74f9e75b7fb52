/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without MPI that is given a library with it, and runs the function `work` of that: loader LIBRARY */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    int (*work)(int argc, char **argv) = NULL;
    if (library)
        *(void **)&work = dlsym(library, "work");
    if (!work) {
        fprintf(stderr, "loader: %s\n", dlerror());
        return 1;
    }
    argv[1] = argv[0];
    return work(argc - 1, argv + 1);
}
