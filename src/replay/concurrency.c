/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/concurrency.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/computing.h"

struct profile {
    struct analyst *analyst;
    struct computing {
        uint32_t threads; /* of the process that compute */
        int64_t since_ns; /* the first of them */
    } * process;
    size_t count; /* processes that compute */
    int64_t since_ns;
    size_t bin; /* of the latest piece of computing */
};

/* So many have computed since the change before. */
static void note_until(struct profile *profile, int64_t now_ns)
{
    if (now_ns > profile->since_ns && profile->count > 0)
        time_add(&profile->analyst->analysis->concurrency_ns[profile->count - 1],
                 time_since(profile->since_ns, now_ns));
    profile->since_ns = larger(now_ns, profile->since_ns);
}

static void take_change(void *context, int64_t time_ns, uint32_t location, bool begins)
{
    struct profile *profile = context;
    struct analyst *analyst = profile->analyst;
    struct computing *process = &profile->process[analyst->rows[location]];
    note_until(profile, time_ns);
    if (begins && process->threads++ == 0) {
        process->since_ns = time_ns;
        profile->count++;
    }
    if (begins || --process->threads > 0)
        return;
    profile->count--;
    int64_t from_ns = time_since(analyst->begin_ns, process->since_ns);
    profile->bin = course_bin(&analyst->edges, profile->bin, from_ns);
    course_add(analyst->analysis->computing_course_ns, &analyst->edges, profile->bin, from_ns,
               time_since(analyst->begin_ns, time_ns));
}

void concurrency_take(struct analyst *analyst)
{
    struct profile profile = {.analyst = analyst, .since_ns = analyst->begin_ns};
    profile.process = memory_new(analyst->analysis->process_count * sizeof *profile.process);
    computing_each(analyst->graph, take_change, &profile);
    free(profile.process);
}
