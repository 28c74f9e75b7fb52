/* SPDX-License-Identifier: BSD-3-Clause */
/* limit TRACE: the least that must be done to get times and messages out of a CLOG-2 trace: map the file, decode each
   record's header, add durations per process and state, count messages and bytes. The yardstick for `sight metrics`. It
   checks nothing, so it is not a reader. */
#include "core/bytes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PREAMBLE = 1024, HEADER = 24, RANKS = 64, IDS = 800, KINDS = 12 };

struct sums {
    double entered[RANKS][IDS / 2], spent[RANKS][IDS / 2];
    long calls[RANKS][IDS / 2], bytes[RANKS][RANKS];
    double first[RANKS], last[RANKS];
    long records, messages;
};

static size_t block_size(const unsigned char *map)
{
    const unsigned char *at = memmem(map, PREAMBLE, "block_size=", 11);
    return at ? strtoul((const char *)at + 12, NULL, 10) : 65536;
}

static void add_event(struct sums *sums, const unsigned char *at, uint32_t rank, double time)
{
    uint32_t id = bytes_u32(at + HEADER, true);
    if (id >= IDS)
        return;
    if (id & 1) {
        sums->spent[rank][id / 2] += time - sums->entered[rank][id / 2];
        sums->calls[rank][id / 2]++;
    } else {
        sums->entered[rank][id / 2] = time;
    }
}

/* One block; false after the end of the log. */
static int add_block(struct sums *sums, const unsigned char *at, const unsigned char *end)
{
    static const size_t payloads[KINDS] = {0, 0, 112, 104, 40, 8, 40, 24, 16, 48, 48, 8};
    while (at + HEADER <= end) {
        uint32_t kind = bytes_u32(at + 20, true), rank = bytes_u32(at + 12, true) % RANKS;
        double time = bytes_f64(at, true);
        sums->records++;
        if (kind <= 1 || kind >= KINDS)
            return kind == 1;
        sums->last[rank] = time;
        if (sums->first[rank] == 0)
            sums->first[rank] = time;
        if (kind == 5 || kind == 6) {
            add_event(sums, at, rank, time);
        } else if (kind == 7) {
            sums->messages++;
            sums->bytes[rank][bytes_u32(at + HEADER + 8, true) % RANKS] += bytes_u32(at + HEADER + 16, true);
        }
        at += HEADER + payloads[kind];
    }
    return 1;
}

int main(int argc, char **argv)
{
    static struct sums sums;
    struct stat about;
    int file = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    if (file < 0 || fstat(file, &about) != 0)
        return 1;
    size_t size = (size_t)about.st_size;
    const unsigned char *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    if (map == MAP_FAILED || size < PREAMBLE)
        return 1;
    size_t step = block_size(map), at = PREAMBLE;
    while (at + step <= size && add_block(&sums, map + at, map + at + step))
        at += step;
    printf("%ld records, %ld messages, %g s in MPI_Send on process 0\n", sums.records, sums.messages,
           sums.spent[0][80]);
    return 0;
}
