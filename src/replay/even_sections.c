/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/even_sections.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "replay/balance.h"
#include "replay/replay.h"
#include "replay/sections.h"

struct even_sections {
    const struct sections *sections;
    double *means_ns; /* by section: of the locations that have it */
    bool *works;      /* by location: it has work */
};

static void find_means(struct even_sections *even)
{
    const struct sections *sections = even->sections;
    for (size_t s = 0; s < sections->count; s++) {
        double all_ns = 0, locations = 0;
        for (size_t location = 0; location < sections->graph->location_count; location++) {
            size_t cell = location * sections->count + s;
            /* A location that never makes the call has no part in it: counting it as 0 would give its work to the
               others. */
            if (!even->works[location] || sections->gaps[cell] == 0)
                continue;
            all_ns += sections->own_ns[cell];
            locations++;
        }
        even->means_ns[s] = ratio_of(all_ns, locations);
    }
}

/* Stretches each piece by the factor; if there is hardly anything to stretch, all pieces become equal. */
static int64_t pace(const void *context, uint32_t location, uint32_t index, int64_t from_ns, int64_t to_ns)
{
    const struct even_sections *even = context;
    const struct sections *sections = even->sections;
    int64_t ns = time_since(from_ns, to_ns);
    if (!even->works[location])
        return ns;
    size_t section = section_of(sections, location, index), cell = location * sections->count + section;
    double mean_ns = even->means_ns[section], own_ns = sections->own_ns[cell];
    if (own_ns < BALANCE_IDLE * mean_ns)
        return nearest_int(mean_ns / sections->gaps[cell]);
    if (own_ns <= 0)
        return ns;
    return nearest_int((double)ns * mean_ns / own_ns);
}

static void fill(struct even_sections *even, const double *compute)
{
    size_t locations = even->sections->graph->location_count;
    double limit_ns = balance_limit(compute, locations);
    even->means_ns = memory_new(even->sections->count * sizeof *even->means_ns);
    even->works = memory_new(locations * sizeof *even->works);
    for (uint32_t location = 0; location < locations; location++)
        even->works[location] = compute[location] >= limit_ns;
    find_means(even);
}

struct even_sections *even_sections_new(const struct sections *sections, const double *compute,
                                        struct replay_options *options)
{
    struct even_sections *even = memory_new(sizeof *even);
    even->sections = sections;
    fill(even, compute);
    options->pace = pace;
    options->pace_context = even;
    return even;
}

void even_sections_free(struct even_sections *even)
{
    if (!even)
        return;
    free(even->means_ns);
    free(even->works);
    free(even);
}
