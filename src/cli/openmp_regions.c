/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/openmp_regions.h"

#include "cli/own_library.h"
#include "convert/record/source_lines.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/output.h"
#include "core/text.h"
#include "render/reports/markup.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REGIONS_MOST = 4096, NAME_SIZE = 512 };

/* A line of the file: "region CALLS THREADS TIME_NS WORK_NS ADDRESS MODULE", with times added up over the calls; work
   is that of all threads together. */
struct region {
    char name[NAME_SIZE];
    uint64_t calls, address;
    int64_t time_ns, work_ns;
    unsigned threads;
};

struct regions {
    struct region *region;
    size_t count, capacity;
};

void openmp_record(const char *path)
{
    static char *before; /* LD_PRELOAD as it was */
    char library[PATH_MAX];
    if (!path) {
        unsetenv("SIGHT_RECORD_OPENMP");
        if (before)
            setenv("LD_PRELOAD", before, 1);
        else
            unsetenv("LD_PRELOAD");
        free(before);
        before = NULL;
        return;
    }
    before = memory_copy_string(getenv("LD_PRELOAD"));
    if (!own_library_find("libsight-record-openmp.so", library, sizeof library))
        return;
    char *preload = own_library_preload(library);
    setenv("SIGHT_RECORD_OPENMP", path, 1);
    setenv("LD_PRELOAD", preload, 1);
    free(preload);
}

/* "app.c:12" of the address, or what else is known of it. */
static void name_region(struct region *region, const char *module)
{
    struct source_place place;
    struct source_lines *lines = source_lines_open(module);
    bool found = lines && source_lines_find(lines, region->address, &place);
    if (found && place.file && place.line > 0) {
        snprintf(region->name, NAME_SIZE, "%.400s:%d", text_file_name(place.file), (int)place.line);
    } else if (found && place.function) {
        snprintf(region->name, NAME_SIZE, "%.300s+0x%" PRIx64, place.function, region->address);
    } else {
        snprintf(region->name, NAME_SIZE, "%.300s+0x%" PRIx64, text_file_name(module), region->address);
    }
    source_lines_close(lines);
}

/* Regions of the same line are one. */
static void add_region(struct regions *regions, const struct region *region)
{
    for (size_t i = 0; i < regions->count; i++)
        if (strcmp(regions->region[i].name, region->name) == 0) {
            regions->region[i].calls += region->calls;
            regions->region[i].time_ns += region->time_ns;
            regions->region[i].work_ns += region->work_ns;
            return;
        }
    if (regions->count < REGIONS_MOST)
        ARRAY_PUSH(regions->region, regions->count, regions->capacity, *region);
}

static void read_regions(const char *path, struct regions *regions)
{
    char line[2 * PATH_MAX], module[PATH_MAX];
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        struct region region = {.threads = 0};
        /* the program may have ended in the middle of a line, or written there itself */
        if (sscanf(line, "region %" SCNu64 " %u %" SCNd64 " %" SCNd64 " %" SCNu64 " %4095[^\n]", &region.calls,
                   &region.threads, &region.time_ns, &region.work_ns, &region.address, module) == 6 &&
            region.time_ns >= 0 && region.work_ns >= 0 && region.threads > 0) {
            name_region(&region, module);
            add_region(regions, &region);
        }
    }
    if (file)
        fclose(file);
}

static void write_state(struct output *output, const char *name, const char *class, uint64_t calls, double seconds)
{
    output_text(output, "<function name=\"");
    markup_write(output, name);
    output_print(output, "\" class=\"%s\" count=\"%" PRIu64 "\" time_s=\"%.9f\" exclusive_s=\"%.9f\"/>\n", class, calls,
                 seconds, seconds);
}

/* The metrics file of one process (sight-metrics(5)). Of a region's time the mean thread works for work / threads, and
   waits at the region's end for the rest. */
static void write_metrics(struct output *output, const struct regions *regions, int64_t ran_ns)
{
    double waiting_s = 0, regions_s = 0, ran_s = (double)ran_ns / 1e9;
    output_text(output, "<metrics version=\"1\" format=\"openmp\" processes=\"1\" complete=\"true\" "
                        "message_ends=\"0\">\n");
    output_print(output, "<process rank=\"0\" begin_s=\"0\" end_s=\"%.9f\" communication_s=\"0\">\n", ran_s);
    for (size_t i = 0; i < regions->count; i++) {
        const struct region *region = &regions->region[i];
        double time_s = (double)region->time_ns / 1e9, work_s = (double)region->work_ns / 1e9 / region->threads;
        write_state(output, region->name, "user", region->calls, time_s);
        waiting_s += larger(time_s - work_s, 0.0);
        regions_s += time_s;
    }
    write_state(output, "outside parallel regions", "user", 1, larger(ran_s - regions_s, 0.0));
    write_state(output, "threads wait in regions", "user", 1, waiting_s);
    output_text(output, "</process>\n</metrics>\n");
}

bool openmp_take(const char *path, const char *metrics, int64_t ran_ns, enum status *status, struct error *err)
{
    struct regions regions = {0};
    read_regions(path, &regions);
    unlink(path);
    *status = STATUS_OK;
    if (regions.count == 0)
        return false;
    struct output *output = output_open(metrics, (struct output_options){.replace = true}, err);
    *status = STATUS_FAILED;
    if (output) {
        write_metrics(output, &regions, ran_ns);
        *status = output_close(output, true, err);
    }
    free(regions.region);
    return true;
}
