/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/finding.h"

#include <stdlib.h>
#include <string.h>

/* A place with less than this share of the time is not worth a word. */
static const double WORTH_NAMING = 0.1;

/* The places of the calls, those with most time first, and the time of all, excluding waiting. */
struct places {
    struct wait_place *place; /* by 1 + index of a site; 0: not recorded */
    size_t count, capacity;
    int64_t all_ns;
};

static void add_place(struct places *places, uint32_t site, int64_t ns)
{
    size_t at = 0;
    time_add(&places->all_ns, ns);
    while (at < places->count && places->place[at].index != site)
        at++;
    if (at == places->count)
        ARRAY_PUSH(places->place, places->count, places->capacity, (struct wait_place){.index = site});
    time_add(&places->place[at].ns, ns);
}

static int by_time(const void *a, const void *b)
{
    const struct wait_place *left = a, *right = b;
    int order = order_by(right->ns, left->ns);
    return order ? order : order_by(left->index, right->index);
}

static struct places places_of(const struct finding_input *input, finding_counts_calls *counts, uint32_t state)
{
    const struct analysis *analysis = input->analysis;
    struct places places = {0};
    for (size_t i = 0; i < analysis->call_site_count; i++) {
        const struct call_site *calls = &analysis->call_sites[i];
        int64_t own_ns = time_since(calls->waiting_ns, calls->ns);
        if (counts(input->metrics->defs, calls, state))
            add_place(&places, calls->site, own_ns);
    }
    if (places.count > 0)
        qsort(places.place, places.count, sizeof *places.place, by_time);
    return places;
}

bool finding_counts_state(const struct defs *defs, const struct call_site *calls, uint32_t state)
{
    (void)defs;
    return calls->state == state;
}

void finding_say_sites(const struct finding_input *input, finding_counts_calls *counts, uint32_t state,
                       struct finding *finding)
{
    struct places places = places_of(input, counts, state);
    size_t named = 0;
    char place[SITE_WHERE_SIZE], share[TEXT_NUMBER_SIZE];
    for (size_t i = 0; i < places.count && places.all_ns > 0 && named < FINDING_SITES; i++) {
        double part = (double)places.place[i].ns / (double)places.all_ns;
        if (places.place[i].index == 0 || part < WORTH_NAMING)
            continue;
        finding->sites[named] = &input->metrics->defs->sites[places.place[i].index - 1];
        site_where(place, finding->sites[named]);
        if (places.count == 1)
            text_append(finding->text, sizeof finding->text, " All these calls are %s", place);
        else
            text_append(finding->text, sizeof finding->text, "%s %s %s",
                        named ? "," : " By place in the source:", text_share(share, part), place);
        named++;
    }
    if (named > 0)
        text_append(finding->text, sizeof finding->text, ".");
    free(places.place);
}
