/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes on a stack of its own, of 8 kB, as coroutines do: prints whether the memory below it has changed. */
#include "truth.h"

#include <time.h>
#include <ucontext.h>

enum { STACK = 8 << 10, BELOW = 64 << 10, UNTOUCHED = 0xAB };
static unsigned char memory[BELOW + STACK] __attribute__((aligned(64)));
static ucontext_t outside, inside;
static volatile double sink;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void on_small_stack(void)
{
    for (double end = now() + 1; now() < end;)
        for (int i = 1; i < 1000; i++)
            sink += 1.0 / i;
}

int main(int argc, char **argv)
{
    int changed = 0;
    MPI_Init(&argc, &argv);
    memset(memory, UNTOUCHED, sizeof memory);
    getcontext(&inside);
    inside.uc_stack.ss_sp = memory + BELOW;
    inside.uc_stack.ss_size = STACK;
    inside.uc_link = &outside;
    makecontext(&inside, on_small_stack, 0);
    swapcontext(&outside, &inside);
    for (int i = 0; i < BELOW; i++)
        changed += memory[i] != UNTOUCHED;
    FILE *lines = truth_open();
    fprintf(lines, "%d bytes below the stack have changed\n", changed);
    fclose(lines);
    MPI_Finalize();
    return 0;
}
