/* SPDX-License-Identifier: BSD-3-Clause */
/* tiles TRACE: opens a timeline, whose index should be there, and makes tiles of 2,000 bins and up to 500 rows from the
   whole run to a 2^23rd of it. Prints: seconds to open; index / trace in per cent; the slowest tile's milliseconds of
   processor time and how many times nearer it was; the mean. */
#include "timeline/scan.h"
#include "timeline/tile.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

enum { ZOOMS = 24, ROUNDS = 3, BINS = 2000, ROWS = 500 };

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double file_size(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (double)about.st_size : 0;
}

/* Least of some rounds. */
static double tile_ms(struct timeline *timeline, const struct timeline_view *view, uint32_t fold)
{
    double least = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        struct timeline_tile tile;
        struct error err = {0};
        double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (timeline_tile(timeline, view, (struct timeline_tile_options){BINS, fold}, &tile, &err) != STATUS_OK) {
            fprintf(stderr, "%s\n", err.text);
            return -1;
        }
        double ms = (seconds(CLOCK_PROCESS_CPUTIME_ID) - start) * 1e3;
        least = ms < least ? ms : least;
        timeline_tile_clear(&tile);
    }
    return least;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    double start = seconds(CLOCK_MONOTONIC), worst = 0, worst_at = 1, sum = 0;
    struct timeline *timeline = argc == 2 ? timeline_open(&argv[1], 1, NULL, &err) : NULL;
    if (!timeline) {
        fprintf(stderr, "%s\n", argc == 2 ? err.text : "tiles TRACE");
        return 1;
    }
    double opened = seconds(CLOCK_MONOTONIC) - start;
    struct timeline_view whole = timeline_whole(timeline);
    double span = (double)(whole.to_ns - whole.from_ns);
    uint32_t fold = 1;
    while (whole.row_count / fold > ROWS)
        fold *= 2;
    for (int zoom = 0; zoom < ZOOMS; zoom++) {
        struct timeline_view view = whole;
        double nearer = (double)(1u << zoom);
        view.from_ns = whole.from_ns + (int64_t)(0.37 * span * (1 - 1 / nearer));
        view.to_ns = view.from_ns + (int64_t)(span / nearer) + 1;
        double ms = tile_ms(timeline, &view, fold);
        sum += ms;
        worst_at = ms > worst ? nearer : worst_at;
        worst = ms > worst ? ms : worst;
    }
    printf("%.3f %.2f %.1f %.0f %.1f\n", opened, 100 * file_size(timeline->cache.index) / file_size(timeline->path),
           worst, worst_at, sum / ZOOMS);
    timeline_close(timeline);
    return 0;
}
