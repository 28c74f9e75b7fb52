/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/host_rows.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "metrics/process_resources.h"

#include <stdlib.h>
#include <string.h>

/* Of locations, or of a metrics file's facts about the run. */
static void find_hosts(struct host_rows *rows)
{
    size_t count = rows->metrics->process_count;
    for (size_t i = 0; i < count; i++)
        rows->host[i] = SIZE_MAX;
    for (size_t k = 0; k < rows->facts.count; k++) {
        const struct property *fact = &rows->facts.rows[k];
        bool any = false;
        for (size_t i = 0; strcmp(fact->name, PROPERTY_HOST) == 0 && i < count; i++)
            if (rows->host[i] == SIZE_MAX && property_has_rank(fact, rows->metrics->process[i].rank)) {
                rows->host[i] = rows->count;
                any = true;
            }
        if (any)
            rows->name[rows->count++] = fact->value;
    }
    for (size_t i = 0; i < count; i++)
        if (rows->host[i] == SIZE_MAX)
            rows->host[i] = rows->count++;
}

static void find_processes(struct host_rows *rows)
{
    const struct resources *resources = rows->metrics->resources;
    for (size_t i = 0; resources && i < resources->count; i++) {
        size_t row = metrics_row_of(rows->metrics, resources->process[i].rank);
        if (row != SIZE_MAX)
            rows->process[row] = &resources->process[i];
    }
}

struct host_rows host_rows_of(const struct metrics *metrics)
{
    size_t count = metrics->process_count;
    struct host_rows rows = {.metrics = metrics,
                             .process = memory_new(count * sizeof *rows.process),
                             .host = memory_new(count * sizeof *rows.host),
                             .name = memory_new(count * sizeof *rows.name),
                             .facts = property_list_of(metrics->defs)};
    find_hosts(&rows);
    find_processes(&rows);
    return rows;
}

void host_rows_clear(struct host_rows *rows)
{
    free(rows->process);
    free(rows->host);
    free(rows->name);
    property_list_clear(&rows->facts);
}

int64_t host_rows_value(const struct host_rows *rows, size_t row, enum resource_counter counter)
{
    return rows->process[row] ? resources_used(rows->process[row], counter) : -1;
}

static bool is_on(const struct host_rows *rows, size_t row, size_t host)
{
    return host == HOST_UNKNOWN ? !rows->name[rows->host[row]] : rows->host[row] == host;
}

int64_t host_rows_cores(const struct host_rows *rows, size_t host)
{
    int64_t bound = 0, most = -1;
    size_t *here = memory_new(rows->metrics->process_count * sizeof *here), count = 0;
    for (size_t i = 0; i < rows->metrics->process_count; i++)
        if (is_on(rows, i, host))
            here[count++] = i;
    for (size_t i = 0; i < count; i++) {
        int64_t core = host_rows_value(rows, here[i], RESOURCE_FIRST_CORE),
                usable = host_rows_value(rows, here[i], RESOURCE_USABLE);
        bool first = core >= 0;
        for (size_t j = 0; j < i && first; j++)
            first = host_rows_value(rows, here[j], RESOURCE_FIRST_CORE) != core;
        if (first)
            bound += larger(usable, INT64_C(0));
        most = larger(usable, most);
    }
    free(here);
    return most < 0 ? -1 : larger(bound, most);
}

static void look_for_crowd(const struct host_rows *rows, size_t host, struct crowd *worst)
{
    struct crowd crowd = {.cores = host_rows_cores(rows, host)};
    for (size_t i = 0; i < rows->metrics->process_count; i++)
        crowd.processes += is_on(rows, i, host) && rows->process[i];
    int64_t lacking = (int64_t)crowd.processes - crowd.cores, most = (int64_t)worst->processes - worst->cores;
    if (crowd.cores > 0 && lacking > most)
        *worst = crowd;
}

bool host_rows_crowded(const struct host_rows *rows, struct crowd *crowd)
{
    *crowd = (struct crowd){0};
    for (size_t host = 0; host < rows->count; host++)
        if (rows->name[host])
            look_for_crowd(rows, host, crowd);
    look_for_crowd(rows, HOST_UNKNOWN, crowd);
    return crowd->processes > 0;
}
