/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that return when a file is on its disk: how long the program waits in them. Time inside MPI's own calls is
   theirs. */
#include "record/real.h"
#include "record/recorder.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* errno stays: clock_gettime does not fail. */
static void note(int64_t begin_ns)
{
    struct location *location = location_mine;
    if (location && !location->inside)
        location->sync_ns += now_ns() - begin_ns;
}

#define SYNC(name, parameters, arguments)                                                                              \
    EXPORT int name parameters                                                                                         \
    {                                                                                                                  \
        static __typeof__(name) *next;                                                                                 \
        if (__builtin_expect(!next, 0))                                                                                \
            next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);                                                        \
        int64_t begin_ns = now_ns();                                                                                   \
        int result = next arguments;                                                                                   \
        note(begin_ns);                                                                                                \
        return result;                                                                                                 \
    }

SYNC(fsync, (int file), (file))
SYNC(fdatasync, (int file), (file))
SYNC(syncfs, (int file), (file))
SYNC(msync, (void *address, size_t length, int flags), (address, length, flags))
