/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/hot_code.h"

#include "core/text.h"
#include "heuristics/efficiency.h"
#include "heuristics/finding.h"
#include "profile/profile_callers.h"

#include <string.h>

/* Where MPI takes more of the time, findings about MPI say more than the code between its calls. */
static const double MPI_MOST = 0.5;

/* A function with less of the computing is one of several. With so few samples, shares are uncertain by several
 * percent. */
static const double SHARE_LEAST = 0.25;
enum { SAMPLES_LEAST = 100, NAME_MOST = 120 };

static struct hot_place place_of(const struct profile_row *row, int32_t line)
{
    return (struct hot_place){.function = row->name, .file = row->file, .line = line};
}

static void find_callers(const struct profile *profile, const struct profile_rows *rows, uint32_t row,
                         struct hot_code *hot)
{
    struct profile_step steps[HOT_CALLERS];
    hot->caller_count = profile_callers(profile, rows, row, steps, HOT_CALLERS);
    for (size_t i = 0; i < hot->caller_count; i++)
        hot->caller[i] = place_of(&rows->row[steps[i].row], steps[i].line);
}

struct hot_code hot_code_of(const struct metrics *metrics)
{
    const struct profile *profile = metrics->profile;
    struct hot_code hot = {0};
    if (!profile || profile->samples == 0 || profile->ns <= 0 || communication_share(metrics) > MPI_MOST)
        return hot;
    struct profile_rows rows = profile_rows_of(profile, PROFILE_BY_OWN_FUNCTION);
    uint32_t hottest = 0; /* rows come with the hottest first */
    while (hottest < rows.count && profile_is_waiting(rows.row[hottest].name))
        hottest++;
    if (hottest < rows.count && rows.row[hottest].samples >= SAMPLES_LEAST) {
        const struct profile_row *row = &rows.row[hottest];
        hot.share = (double)row->self_ns / (double)profile->ns;
        hot.self_ns = row->self_ns;
        hot.place = place_of(row, row->line);
        hot.known = hot.share >= SHARE_LEAST;
    }
    if (hot.known) {
        hot.called = profile_called(profile, &rows, hottest, NULL, 0);
        find_callers(profile, &rows, hottest, &hot);
    }
    profile_rows_clear(&rows);
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
    if (hot.called)
        text_append(buffer, HOT_CODE_SIZE, " and %.*s, which it calls", text_beginning(hot.called, NAME_MOST),
                    hot.called);
    /* As a path is read: from the outside in. */
    for (size_t i = hot.caller_count; i-- > 0;) {
        text_append(buffer, HOT_CODE_SIZE, i + 1 == hot.caller_count ? ", mostly reached through " : " → ");
        add_place(buffer, &hot.caller[i]);
    }
    text_append(buffer, HOT_CODE_SIZE, ".");
    return buffer;
}
