/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that does with file descriptors what it likes, while it sends enough messages for many blocks. Its own
   files must have what it wrote, and nothing else. descriptors close | over | exhaust | few | chdir | chroot | lost |
   small close: closes all regular files but its own and takes their numbers; over: puts its own file over them by dup2;
   exhaust: takes all descriptors there are; few: may have 200, none of which are the recorder's; lost: closes all and
   takes all; small: may have small files only. */
#include "truth.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { ROUNDS = 4000, FEW_ROUNDS = 400, OWN_MAX = 2048, FEW = 200 };
static const char words[] = "what I wrote\n";
static int own[OWN_MAX], own_count;
static int taken[OWN_MAX], taken_count; /* to be given back: MPI itself needs some in its end */
static int rank, other, rounds = ROUNDS;

static int is_regular(int descriptor)
{
    struct stat about;
    return fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && descriptor > 2;
}

static int is_own(int descriptor)
{
    for (int i = 0; i < own_count; i++)
        if (own[i] == descriptor)
            return 1;
    return 0;
}

static int open_own(void)
{
    char name[64];
    snprintf(name, sizeof name, "own.%d.%d", rank, own_count);
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (file >= 0 && own_count < OWN_MAX) {
        own[own_count++] = file;
        if (write(file, words, sizeof words - 1) < 0)
            abort();
    }
    return file;
}

/* All files that are neither ours nor the terminal's: those of libraries, and of whoever looks at us. */
static void take_away(int over)
{
    for (int descriptor = 3; descriptor < 4096; descriptor++)
        if (is_regular(descriptor) && !is_own(descriptor)) {
            if (over && own_count > 0)
                dup2(own[0], descriptor);
            else
                close(descriptor);
        }
}

/* The lowest limit that leaves what is open. */
static void exhaust(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_cur < 1024 ? limit.rlim_cur : 1024;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int got = 0; got >= 0 && taken_count < OWN_MAX; taken_count += got >= 0)
        taken[taken_count] = got = dup(own[0]);
}

static void allow_few(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = FEW;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Also the hard limit: nothing can be done about it. */
static void allow_small(void)
{
    struct rlimit limit = {.rlim_cur = 4096, .rlim_max = 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* Of the descriptors that the program may have, those that a recorder took. */
static int taken_by_recorder(void)
{
    struct rlimit limit;
    int found = 0;
    /* It has no others where nobody may have many. */
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < 1024)
        return 0;
    for (int descriptor = 0; descriptor < FEW; descriptor++) {
        char name[64], path[4096] = "";
        snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
        found += readlink(name, path, sizeof path - 1) > 0 && strstr(path, ".record");
    }
    return found;
}

static void exchange(void)
{
    double out[4] = {0}, in[4];
    for (int i = 0; i < rounds; i++) {
        MPI_Sendrecv(out, 4, MPI_DOUBLE, other, 1, in, 4, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        truth_sent(other, sizeof out);
        truth_received(other, sizeof in);
    }
}

static void *calls(void *unused)
{
    int flag;
    for (int i = 0; i < 10; i++)
        MPI_Initialized(&flag);
    return unused;
}

static void check(void)
{
    for (int i = 0; i < own_count; i++) {
        char got[256] = "";
        ssize_t length = pread(own[i], got, sizeof got, 0);
        struct stat about;
        if (length != sizeof words - 1 || memcmp(got, words, sizeof words - 1) != 0 || fstat(own[i], &about) != 0 ||
            about.st_size != sizeof words - 1) {
            fprintf(stderr, "rank %d: my file %d has %ld bytes\n", rank, i, (long)about.st_size);
            MPI_Abort(MPI_COMM_WORLD, 9);
        }
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "close";
    if (strcmp(how, "few") == 0)
        allow_few();
    if (strcmp(how, "small") == 0)
        rounds = FEW_ROUNDS;
    MPI_Init(&argc, &argv);
    truth_begin();
    rank = truth.rank;
    other = truth.size - 1 - rank;
    if (strcmp(how, "over") == 0)
        open_own();
    FILE *lines = truth_open();
    exchange();
    if (strcmp(how, "small") == 0)
        allow_small();
    if (strcmp(how, "close") == 0 || strcmp(how, "over") == 0 || strcmp(how, "lost") == 0) {
        int kept = dup(fileno(lines)); /* taken away too */
        own[own_count++] = kept;
        take_away(strcmp(how, "over") == 0);
        own_count--;
        lines = fdopen(kept, "a");
    }
    for (int i = 0; i < 5; i++)
        open_own();
    if (strcmp(how, "exhaust") == 0 || strcmp(how, "lost") == 0)
        exhaust();
    if (strcmp(how, "chdir") == 0 && chdir("/") != 0)
        return 1;
    if (strcmp(how, "chroot") == 0 && (mkdir("root", 0755) != 0 && errno != EEXIST))
        return 1;
    if (strcmp(how, "chroot") == 0 && chroot("root") != 0)
        fprintf(stderr, "no chroot\n");
    exchange();
    pthread_t thread;
    /* No file for a thread: then sight says so with its exit code. */
    if (strcmp(how, "small") != 0 && pthread_create(&thread, NULL, calls, NULL) == 0)
        pthread_join(thread, NULL);
    exchange();
    check();
    if (strcmp(how, "few") == 0 && taken_by_recorder() > 0)
        MPI_Abort(MPI_COMM_WORLD, 8);
    while (taken_count > 0)
        close(taken[--taken_count]);
    for (int i = 0; i < own_count; i++)
        close(own[i]);
    truth_write(lines);
    MPI_Finalize();
    return 0;
}
