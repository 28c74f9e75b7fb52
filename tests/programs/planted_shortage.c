/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes in steps that end in a barrier, while process 0 is short of something: `planted_shortage KIND`.
     page   it touches pages of a mapped file that are on the disk
     read   it reads from a file that is on the disk
     fsync  it writes to a file, and waits until that is on the disk
     grow   its memory grows from step to step
     write  it writes into the page cache, and sleeps: short of nothing
     none   it does as the others do */
#include <mpi.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 20, MIB = 1 << 20, FILE_SIZE = 64 * MIB, PAGE = 4096, PAGES = 400, PIECES = 12, GROWTH = 2 * MIB };
static volatile unsigned long sink;
static const char *kind;
static char *buffer, *mapped, *volatile more;
static int file = -1;

static int is(const char *name)
{
    return strcmp(kind, name) == 0;
}

static void fail(const char *what)
{
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* CPU time, so that other programs make the run longer, not the work. */
static void compute(double s)
{
    struct timespec now;
    double until = -1, at = 0;
    while (until < 0 || at < until) {
        for (int i = 0; i < 2000; i++)
            sink = sink * 31 + (unsigned long)i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        at = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
        if (until < 0)
            until = at + s;
    }
}

/* A file on the disk, and none of it in memory. */
static void file_make(void)
{
    char name[] = "planted.XXXXXX";
    file = mkstemp(name);
    if (file < 0 || unlink(name) != 0)
        fail("mkstemp");
    for (int i = 0; i < FILE_SIZE / MIB; i++)
        if (pwrite(file, buffer, MIB, (off_t)i * MIB) != MIB)
            fail("pwrite");
    if (fdatasync(file) != 0 || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0 ||
        posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM) != 0)
        fail("fdatasync");
    mapped = mmap(NULL, FILE_SIZE, PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED || madvise(mapped, FILE_SIZE, MADV_RANDOM) != 0)
        fail("mmap");
}

static void run_short(int step)
{
    for (int i = 0; i < PAGES; i++) {
        /* A prime, so that no page is near the one before. */
        size_t at = (size_t)(step * PAGES + i) * 7919 % (FILE_SIZE / PAGE) * PAGE;
        if (is("page"))
            sink += (unsigned char)mapped[at];
        if (is("read") && pread(file, buffer, PAGE, (off_t)at) != PAGE)
            fail("pread");
    }
    for (int i = 0; i < PIECES; i++) {
        off_t at = (off_t)(step * PIECES + i) % (FILE_SIZE / MIB) * MIB;
        if ((is("fsync") || is("write")) && pwrite(file, buffer, MIB / 8, at) != MIB / 8)
            fail("pwrite");
        if (is("fsync") && fsync(file) != 0)
            fail("fsync");
    }
    if (is("write"))
        usleep(10000);
    if (is("grow")) {
        more = malloc(GROWTH);
        if (!more)
            fail("malloc");
        memset(more, 1, GROWTH);
    }
}

int main(int argc, char **argv)
{
    int rank;
    kind = argc > 1 ? argv[1] : "none";
    buffer = malloc(MIB);
    if (!buffer)
        return 1;
    memset(buffer, 1, MIB);
    /* Before MPI starts: not part of what is measured. */
    if (is("page") || is("read") || is("fsync") || is("write"))
        file_make();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* Growth shows in many readings only: they come twice a second in the end. */
    for (int step = 0; step < (is("grow") ? 4 * STEPS : STEPS); step++) {
        compute(is("grow") ? 0.06 : 0.02);
        if (rank == 0)
            run_short(step);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
