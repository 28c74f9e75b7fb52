/* SPDX-License-Identifier: BSD-3-Clause */
/* Drives the recorder's own buffers without MPI: simulate DIRECTORY EVENTS BYTES. One process that makes iterations of
   four calls (receive and send to itself, wait, allreduce), on a clock of its own; every 10,000,019th iteration takes
   1000 times as long. Prints how many events, messages and bytes it made; BYTES 0: without --keep. Built with: cc -O2
   -D_GNU_SOURCE -Isrc tests/bench/simulate_keep.c src/record/{location,keep,own_file}.c
   src/core/record_{digest,users}.c */
#include "record/location.h"
#include "record/resources.h"
#include "record/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t now;
struct clock recorder_clock;
struct clock_pair clock_read(void)
{
    return (struct clock_pair){.ticks = now, .ns = now, .width = 10};
}
void resources_put(struct location *location)
{
    (void)location;
}
void samples_note_unknown(struct location *location)
{
    (void)location;
}
int64_t clock_ns(void)
{
    return now;
}

static const char *const names[] = {
#define MPI_FUNCTION(name, ...) #name,
#include "core/mpi_function.def"
};
static uint32_t number(const char *name)
{
    uint32_t i = 0;
    while (strcmp(names[i], name) != 0)
        i++;
    return i;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    struct location_settings settings = {.directory = argv[1],
                                         .block_size = 1 << 20,
                                         .max_events = UINT64_MAX,
                                         .keep_bytes = strtoull(argv[3], NULL, 10)};
    struct record_header about = {.magic = RECORD_MAGIC,
                                  .version = RECORD_VERSION,
                                  .function_count = sizeof names / sizeof *names,
                                  .rank = 0,
                                  .size = 1,
                                  .world = 1,
                                  .pid = 1,
                                  .clock = RECORD_CLOCK_MONOTONIC,
                                  .host_name = "sim"};
    now = 1000000000;
    recorder_clock.begin = (struct clock_pair){.ticks = now, .ns = now};
    struct location *location = location_open(&settings, &about);
    if (!location) {
        perror("open");
        return 1;
    }
    location_calibrate(location, now, &recorder_clock.begin);
    struct record_comm comm = {.base.ticks = now, .key = 1, .size = 1};
    location_define(location, &comm, sizeof comm, RECORD_COMM, RECORD_WORLD);
    uint32_t irecv = number("MPI_Irecv"), isend = number("MPI_Isend"), wait = number("MPI_Waitall"),
             all = number("MPI_Allreduce");
    location_note_used(location, irecv);
    location_note_used(location, isend);
    location_note_used(location, wait);
    location_note_used(location, all);
    uint64_t events = strtoull(argv[2], NULL, 10), done = 0, iterations = 0, bytes = 0, random = 1;
    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    while (done < events) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t size = random >> 54, work = 1000 + (random >> 33 & 1023);
        if (iterations % 10000019 == 10000018)
            work *= 1000;
        now += (int64_t)work;
        location_put(location, RECORD_ENTER, now, irecv, 0);
        location_put(location, RECORD_LEAVE, now += 100, irecv, 0);
        location_put(location, RECORD_ENTER, now += 50, isend, 0);
        struct record_message message = {.base.ticks = now, .partner = 0, .tag = 7, .bytes = size};
        location_put_message(location, RECORD_SEND, isend, 0, &message);
        location_put(location, RECORD_LEAVE, now += 200, isend, 0);
        location_put(location, RECORD_ENTER, now += 50, wait, 0);
        message.base.ticks = now += 300;
        location_put_message(location, RECORD_RECEIVE, wait, 0, &message);
        location_put(location, RECORD_LEAVE, now, wait, 0);
        location_put(location, RECORD_ENTER, now += 50, all, 0);
        struct record_collective *collective = location_room(location, sizeof *collective);
        now += 500;
        if (collective) {
            *collective = (struct record_collective){.base.ticks = now, .root = -1, .sent = 8, .received = 8};
            location_commit(location, sizeof *collective, RECORD_COLLECTIVE, all, 0);
        }
        location_put(location, RECORD_LEAVE, now, all, 0);
        done += 10;
        iterations++;
        bytes += size;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    location_close(location, RECORD_FINALIZED);
    printf("events %ju, iterations %ju, bytes %ju, simulated %.1f s, %.2f ns of CPU per record\n", (uintmax_t)done,
           (uintmax_t)iterations, (uintmax_t)bytes, (double)now / 1e9, seconds * 1e9 / ((double)iterations * 11));
    return 0;
}
