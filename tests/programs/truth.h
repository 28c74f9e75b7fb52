/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TESTS_TRUTH_H
#define SIGHT_TESTS_TRUTH_H

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a test program knows about itself: messages and bytes per partner (a world rank), calls per function. It prints
     sent,RANK,PARTNER,MESSAGES,BYTES    received,RANK,PARTNER,MESSAGES,BYTES    call,RANK,FUNCTION,COUNT
   and a recording of it must say the same. */

enum { TRUTH_PARTNERS = 256, TRUTH_CALLS = 256 };

static struct {
    long messages[2][TRUTH_PARTNERS], bytes[2][TRUTH_PARTNERS];
    const char *call[TRUTH_CALLS];
    long calls[TRUTH_CALLS];
    int rank, size;
} truth;

static inline void truth_begin(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &truth.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &truth.size);
}

static inline void truth_sent(int partner, long bytes)
{
    truth.messages[0][partner]++;
    truth.bytes[0][partner] += bytes;
}

static inline void truth_received(int partner, long bytes)
{
    truth.messages[1][partner]++;
    truth.bytes[1][partner] += bytes;
}

/* `function` is a literal. */
static inline void truth_call(const char *function)
{
    int i = 0;
    while (truth.call[i] && strcmp(truth.call[i], function) != 0)
        i++;
    truth.call[i] = function;
    truth.calls[i]++;
}

/* Makes the call and counts it: CALL(MPI_Barrier, (comm)). */
#define CALL(function, arguments) (truth_call(#function), function arguments)

/* Where the lines go: a file of the process in the directory TRUTH_DIR, where it is set, since launchers may mix what
   several processes print; or standard output. */
static inline FILE *truth_open(void)
{
    char path[1024];
    const char *directory = getenv("TRUTH_DIR");
    snprintf(path, sizeof path, "%s/%ld", directory ? directory : ".", (long)getpid());
    return directory ? fopen(path, "a") : stdout;
}

static inline void truth_write(FILE *file)
{
    static char text[1 << 16];
    size_t used = 0;
    for (int i = 0; i < 2 * TRUTH_PARTNERS; i++) {
        int way = i / TRUTH_PARTNERS, partner = i % TRUTH_PARTNERS;
        if (truth.messages[way][partner])
            used += (size_t)snprintf(text + used, sizeof text - used, "%s,%d,%d,%ld,%ld\n", way ? "received" : "sent",
                                     truth.rank, partner, truth.messages[way][partner], truth.bytes[way][partner]);
    }
    for (int i = 0; truth.call[i]; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "call,%d,%s,%ld\n", truth.rank, truth.call[i],
                                 truth.calls[i]);
    if (file)
        fwrite(text, 1, used, file);
    fflush(NULL);
}

static inline void truth_print(void)
{
    truth_write(truth_open());
}

#endif
