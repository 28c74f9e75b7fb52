/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzing of timelines: any trace must have an index from which windows, statistics, tiles and searches agree with each
   other, and an index with a wrong byte must be made anew. */
#include "core/memory.h"
#include "timeline/find.h"
#include "timeline/scan.h"
#include "timeline/statistics.h"
#include "timeline/tile.h"
#include "timeline/window.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 20000, PARTS = 3, ROWS_MAX = 4096 };

static char directory[] = "/tmp/fuzz-timeline.XXXXXX", trace[64], cache[64];

static void check(bool right)
{
    if (!right)
        abort();
}

/* The files of the cache are removed, or of the indexes one byte is changed. */
static void visit_cache(bool spoil, size_t at)
{
    DIR *open_directory = opendir(cache);
    for (struct dirent *entry; open_directory && (entry = readdir(open_directory));) {
        char path[PATH_MAX];
        struct stat about;
        snprintf(path, sizeof path, "%s/%s", cache, entry->d_name);
        if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
            continue;
        if (!spoil) {
            unlink(path);
        } else if (strstr(path, ".index")) {
            char byte = 0;
            int file = open(path, O_RDWR | O_CLOEXEC);
            off_t place = (off_t)(at % (size_t)about.st_size);
            check(pread(file, &byte, 1, place) == 1);
            byte ^= 0x10;
            check(pwrite(file, &byte, 1, place) == 1);
            close(file);
        }
    }
    if (open_directory)
        closedir(open_directory);
}

static void remove_all(void)
{
    visit_cache(false, 0);
    rmdir(cache);
    unlink(trace);
    rmdir(directory);
}

static void begin(void)
{
    check(mkdtemp(directory) != NULL);
    snprintf(trace, sizeof trace, "%s/trace", directory);
    snprintf(cache, sizeof cache, "%s/cache", directory);
    setenv("SIGHT_CACHE", cache, 1);
    atexit(remove_all);
}

/* Number of states in a view; those that a window has are those that the statistics count. */
static uint64_t check_view(struct timeline *timeline, const struct timeline_view *view, bool whole)
{
    struct error err = {0};
    struct timeline_window window = {0};
    struct timeline_statistics statistics = {0};
    check(timeline_window(timeline, view, LIMIT, &window, &err) == STATUS_OK);
    check(timeline_statistics(timeline, view, &statistics, &err) == STATUS_OK);
    uint64_t states = 0, found = window.states_found;
    int64_t exclusive_ns = statistics.outside_ns;
    for (size_t i = 0; i < statistics.state_count; i++) {
        states += statistics.states[i].count + statistics.states[i].open;
        exclusive_ns += statistics.states[i].exclusive_ns;
    }
    check(exclusive_ns == statistics.span_ns);
    if (!window.too_many) {
        uint64_t entered = 0;
        for (size_t i = 0; i < window.state_count; i++)
            entered += window.states[i].enter_ns >= view->from_ns && window.states[i].enter_ns < view->to_ns;
        check(entered == states && (!whole || window.state_count == states));
    }
    timeline_statistics_clear(&statistics);
    timeline_window_clear(&window);
    return found;
}

static void check_tile(struct timeline *timeline, const struct timeline_view *view)
{
    struct error err = {0};
    struct timeline_tile tile = {0};
    check(timeline_tile(timeline, view, (struct timeline_tile_options){.bins = 64}, &tile, &err) == STATUS_OK);
    timeline_tile_clear(&tile);
}

/* From one state to the next, each of which has its details. */
static void check_search(struct timeline *timeline, const struct timeline_info *info, uint64_t states)
{
    struct error err = {0};
    struct timeline_found found;
    struct timeline_detail detail;
    struct timeline_query any = {.state = EVENT_UNKNOWN, .partner = EVENT_UNKNOWN, .tag = EVENT_UNKNOWN};
    int64_t at_ns = info->begin_ns - 1;
    uint64_t count = 0;
    while (count < 20 && timeline_find(timeline, &any, at_ns, false, &found, &err) == STATUS_OK) {
        check(found.time_ns > at_ns);
        check(timeline_detail(timeline, found.state.row, found.state.enter_ns, found.state.depth, &detail, &err) ==
              STATUS_OK);
        at_ns = found.time_ns;
        count++;
    }
    check(err.kind == ERROR_NONE && (count > 0) == (states > 0));
}

static struct timeline *open_tuned(bool fix_clocks)
{
    struct error err = {0};
    char *path = trace;
    struct timeline_open_options options = {.fix_clocks = fix_clocks};
    return timeline_open_tuned(&path, 1, &options, (struct index_tuning){.least_bytes = 64, .cells = 4}, &err);
}

static uint64_t look(struct timeline *timeline)
{
    const struct timeline_info *info = timeline_info(timeline);
    struct timeline_view view = timeline_whole(timeline);
    uint64_t states = check_view(timeline, &view, true);
    check_tile(timeline, &view);
    check_search(timeline, info, states);
    int64_t part_ns = (view.to_ns - view.from_ns) / PARTS;
    for (int64_t i = 0; i < PARTS; i++) {
        struct timeline_view part = view;
        part.from_ns += i * part_ns;
        part.to_ns = part.from_ns + part_ns;
        check_view(timeline, &part, false);
        check_tile(timeline, &part);
    }
    return states;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!*trace)
        begin();
    FILE *file = fopen(trace, "wb");
    check(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    bool fix_clocks = size > 0 && data[size - 1] & 1;
    visit_cache(false, 0);
    struct timeline *timeline = open_tuned(fix_clocks);
    if (!timeline)
        return 0;
    if (timeline_info(timeline)->row_count <= ROWS_MAX) {
        uint64_t states = look(timeline);
        timeline_close(timeline);
        visit_cache(true, size * 7919);
        timeline = open_tuned(fix_clocks);
        check(timeline && look(timeline) == states);
    }
    timeline_close(timeline);
    return 0;
}
