/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/hot_code.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/efficiency.h"
#include "heuristics/finding.h"
#include "profile/profile_rows.h"

#include <string.h>

/* Where MPI takes more of the time, findings about MPI say more than the code between its calls. */
static const double MPI_MOST = 0.5;

/* A function with less of the computing is one of several. With so few samples, shares are uncertain by several
 * percent. */
static const double SHARE_LEAST = 0.25;
enum { SAMPLES_LEAST = 100, NAME_MOST = 60 };

/* The path that ends in the row and has most of the time, 1 + index; 0: there is none. Cells come by path. */
static uint32_t heaviest_path(const struct profile *profile, const struct profile_rows *rows, uint32_t row)
{
    uint32_t heaviest = 0;
    int64_t most = 0, ns = 0;
    for (size_t i = 0; i < profile->cell_count; i++) {
        const struct profile_cell *cell = &profile->cells[i];
        if (i == 0 || cell->path != cell[-1].path)
            ns = 0;
        ns += cell->ns;
        if (rows->row_of[cell->path] == row && ns > most) {
            most = ns;
            heaviest = cell->path + 1;
        }
    }
    return heaviest;
}

static void find_callers(const struct profile *profile, const struct profile_rows *rows, uint32_t row,
                         struct hot_code *hot)
{
    const struct defs *defs = profile->defs;
    uint32_t path = heaviest_path(profile, rows, row), below = row;
    while (path && hot->caller_count < HOT_CALLERS) {
        path = defs->paths[path - 1].parent;
        /* A function that calls itself is not called from elsewhere. */
        if (!path || rows->row_of[path - 1] == below)
            continue;
        below = rows->row_of[path - 1];
        const struct site_def *site = profile_site(defs, path - 1);
        hot->caller[hot->caller_count++] = (struct hot_place){.function = profile_function(defs, path - 1),
                                                              .file = site ? site->file : "",
                                                              .line = site ? site->line : 0};
    }
}

struct hot_code hot_code_of(const struct metrics *metrics)
{
    const struct profile *profile = metrics->profile;
    struct hot_code hot = {0};
    if (!profile || profile->samples == 0 || profile->ns <= 0 || communication_share(metrics) > MPI_MOST)
        return hot;
    struct profile_rows functions = profile_rows_of(profile, PROFILE_BY_FUNCTION);
    /* The hottest comes first. */
    if (functions.count > 0 && functions.row[0].samples >= SAMPLES_LEAST) {
        const struct profile_row *row = &functions.row[0];
        hot.share = (double)row->self_ns / (double)profile->ns;
        hot.self_ns = row->self_ns;
        hot.place = (struct hot_place){.function = row->name, .file = row->file, .line = row->line};
        hot.known = hot.share >= SHARE_LEAST;
    }
    if (hot.known)
        find_callers(profile, &functions, 0, &hot);
    profile_rows_clear(&functions);
    return hot;
}

static void add_place(char buffer[HOT_CODE_SIZE], const struct hot_place *place)
{
    char site[SITE_TEXT_SIZE];
    text_append(buffer, HOT_CODE_SIZE, "%.*s", text_beginning(place->function, NAME_MOST), place->function);
    if (*place->file)
        text_append(buffer, HOT_CODE_SIZE, " (%s)",
                    site_text(site, &(struct site_def){.file = (char *)(uintptr_t)place->file, .line = place->line}));
}

char *hot_code_sentence(char buffer[HOT_CODE_SIZE], const struct metrics *metrics)
{
    struct hot_code hot = hot_code_of(metrics);
    char share[TEXT_NUMBER_SIZE];
    *buffer = '\0';
    if (!hot.known)
        return buffer;
    text_append(buffer, HOT_CODE_SIZE, "%s of the computing is in ", text_share(share, hot.share));
    add_place(buffer, &hot.place);
    /* As a path is read: from the outside in. */
    for (size_t i = hot.caller_count; i-- > 0;) {
        text_append(buffer, HOT_CODE_SIZE, i + 1 == hot.caller_count ? ", mostly reached through " : " → ");
        add_place(buffer, &hot.caller[i]);
    }
    text_append(buffer, HOT_CODE_SIZE, ".");
    return buffer;
}
