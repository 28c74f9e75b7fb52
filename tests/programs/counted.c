/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose page faults are known, for the counters of `sight record --counters`. counted [over]: `over` puts a
   file of its own over all descriptors of counters, which must stay as it is. A child of fork has none of these. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 2000, PAGE = 4096, ROUNDS = 40 };
static volatile double sink;

/* Descriptors of counters; each becomes the file, if there is one. */
static int counters(int over)
{
    int count = 0;
    for (int descriptor = 3; descriptor < 4096; descriptor++) {
        char name[64], target[64];
        snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
        ssize_t length = readlink(name, target, sizeof target - 1);
        if (length < 0)
            continue;
        target[length] = '\0';
        if (!strstr(target, "perf_event"))
            continue;
        count++;
        if (over >= 0)
            dup2(over, descriptor);
    }
    return count;
}

static void compute(void)
{
    for (int i = 0; i < 2000000; i++)
        sink += 1.0 / (i + 1);
}

static void touch_pages(void)
{
    char *pages = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        abort();
    madvise(pages, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
    for (int i = 0; i < PAGES; i++)
        pages[(size_t)i * PAGE] = 1;
}

int main(int argc, char **argv)
{
    int over = -1, rank, status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    touch_pages();
    if (argc > 1) {
        char name[32];
        snprintf(name, sizeof name, "own.%d", rank);
        over = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
        if (over < 0 || write(over, "mine\n", 5) != 5 || lseek(over, 0, SEEK_SET) != 0)
            abort();
    }
    int found = counters(over);
    for (int i = 0; i < ROUNDS; i++) {
        compute();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    pid_t child = fork();
    if (child == 0)
        _exit(counters(-1));
    waitpid(child, &status, 0);
    MPI_Finalize();
    printf("found,%d,%d\nchild,%d,%d\n", rank, found, rank, WEXITSTATUS(status));
    if (over >= 0)
        printf("own,%d,%d\n", rank, (int)lseek(over, 0, SEEK_CUR));
    return 0;
}
