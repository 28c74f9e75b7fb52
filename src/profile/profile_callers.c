/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/profile_callers.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"

/* Time in the row, and how far up its path has been followed. */
struct climb {
    uint32_t path; /* 1 + index; 0: no further */
    int64_t ns;
};

struct most {
    uint64_t key;
    int64_t ns;
};

static void add(struct map *sums, uint64_t key, int64_t ns, struct most *most)
{
    uint64_t *sum = map_put(sums, key, 0);
    *sum += (uint64_t)ns;
    if ((int64_t)*sum > most->ns)
        *most = (struct most){key, (int64_t)*sum};
}

static size_t begin(const struct profile *profile, const struct profile_rows *rows, uint32_t row, struct climb *climbs)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->cell_count; i++)
        if (rows->row_of[profile->cells[i].path] == row)
            climbs[count++] = (struct climb){profile->cells[i].path + 1, profile->cells[i].ns};
    return count;
}

/* One caller up; what is reached in another way is left behind. False: there is none with more than half of `self_ns`.
 */
static bool climb_on(const struct profile *profile, const struct profile_rows *rows, struct climb *climbs, size_t count,
                     int64_t self_ns, struct profile_step *step)
{
    struct map callers = {0}, lines = {0};
    struct most caller = {0}, line = {0};
    for (size_t i = 0; i < count; i++) {
        struct climb *climb = &climbs[i];
        if (climb->path)
            climb->path = profile_caller(profile, rows, climb->path);
        if (climb->path)
            add(&callers, rows->row_of[climb->path - 1], climb->ns, &caller);
    }
    for (size_t i = 0; i < count; i++) {
        struct climb *climb = &climbs[i];
        if (!climb->path || rows->row_of[climb->path - 1] != caller.key) {
            climb->path = 0;
            continue;
        }
        const struct site_def *site = profile_rows_site(profile, rows, climb->path - 1);
        if (site && site->line > 0)
            add(&lines, (uint64_t)site->line, climb->ns, &line);
    }
    map_clear(&callers);
    map_clear(&lines);
    *step = (struct profile_step){.row = (uint32_t)caller.key};
    if (line.ns > caller.ns / 2)
        step->line = (int32_t)line.key;
    return caller.ns > self_ns / 2;
}

size_t profile_callers(const struct profile *profile, const struct profile_rows *rows, uint32_t row,
                       struct profile_step *steps, size_t most)
{
    struct climb *climbs = memory_new((profile->cell_count + 1) * sizeof *climbs);
    size_t cells = begin(profile, rows, row, climbs), count = 0;
    while (count < most && climb_on(profile, rows, climbs, cells, rows->row[row].self_ns, &steps[count]))
        count++;
    free(climbs);
    return count;
}

/* The outermost path between one and the own code that counts for it. */
static uint32_t outermost(const struct defs *defs, uint32_t path)
{
    uint32_t own = profile_own_path(defs, path);
    while (path != own && defs->paths[path].parent != own + 1)
        path = defs->paths[path].parent - 1;
    return path;
}

const char *profile_called(const struct profile *profile, const struct profile_rows *rows, uint32_t row,
                           const uint32_t *ranks, size_t rank_count)
{
    struct profile_rows functions = profile_rows_of(profile, PROFILE_BY_FUNCTION);
    int64_t all_ns = 0, *called_ns = memory_new((functions.count + 1) * sizeof *called_ns);
    size_t most = 0;
    for (size_t i = 0; i < profile->cell_count; i++) {
        const struct profile_cell *cell = &profile->cells[i];
        if (rows->row_of[cell->path] != row || (ranks && !is_among(cell->rank, ranks, rank_count)))
            continue;
        uint32_t called = outermost(profile->defs, cell->path);
        time_add(&all_ns, cell->ns);
        if (called != profile_own_path(profile->defs, cell->path))
            time_add(&called_ns[functions.row_of[called]], cell->ns);
    }
    for (size_t i = 1; i < functions.count; i++)
        if (called_ns[i] > called_ns[most])
            most = i;
    const char *name = called_ns[most] > all_ns / 2 ? functions.row[most].name : NULL;
    free(called_ns);
    profile_rows_clear(&functions);
    return name;
}
