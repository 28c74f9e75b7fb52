/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/relief.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "replay/balance.h"
#include "replay/sections.h"

#include <math.h>

/* A limit is found in so many passes over a location's pieces, or to a part of a thousand: each pass leaves only those
   above the limit of the one before. */
enum { PASSES = 16 };
static const double NEAR = 1e-3;

/* As heuristics/master.h: an end of nearly every message, three quarters of the others as partners, and at most half of
   their computing. */
static const double MASTER_ENDS = 0.4, MASTER_COMPUTE = 0.5;
enum { MASTER_LOCATIONS = 3 };

struct relief {
    const struct sections *sections;
    double *limits_ns; /* [location * count + section]: no piece is longer */
};

/* Other locations that the location exchanges messages with. */
static size_t partners_of(const struct graph *graph, uint32_t location)
{
    bool *met = memory_new(graph->location_count * sizeof *met);
    size_t partners = 0;
    for (size_t i = 0; i < graph->channel_count; i++) {
        const struct channel *channel = &graph->channels[i];
        bool sends = channel->send_location == location, receives = channel->receive_location == location;
        uint32_t other = sends ? channel->receive_location : channel->send_location;
        if (sends == receives || other >= graph->location_count || met[other])
            continue;
        met[other] = true;
        partners++;
    }
    free(met);
    return partners;
}

/* The location with an end of most messages, if these are nearly all; GRAPH_NONE: there is none. */
static uint32_t hub_of(const struct graph *graph)
{
    uint64_t *ends = memory_new((graph->location_count + 1) * sizeof *ends);
    uint32_t hub = 0;
    for (size_t i = 0; i < graph->message_count; i++) {
        struct message message = graph_message(graph, (uint32_t)i);
        if (message.send_location != GRAPH_NONE)
            ends[message.send_location]++;
        if (message.receive_location != GRAPH_NONE)
            ends[message.receive_location]++;
    }
    for (uint32_t i = 1; i < graph->location_count; i++)
        if (ends[i] > ends[hub])
            hub = i;
    bool has_most = ends[hub] > 0 && (double)ends[hub] >= 2 * MASTER_ENDS * (double)graph->message_count;
    free(ends);
    return has_most ? hub : GRAPH_NONE;
}

/* GRAPH_NONE: there is none. */
static uint32_t master_of_messages(const struct graph *graph, const double *compute)
{
    uint32_t hub = hub_of(graph);
    if (hub == GRAPH_NONE || graph->location_count < MASTER_LOCATIONS)
        return GRAPH_NONE;
    size_t others = graph->location_count - 1;
    double rest = 0;
    for (uint32_t i = 0; i < graph->location_count; i++)
        rest += i == hub ? 0 : compute[i];
    bool is_master =
        4 * partners_of(graph, hub) >= 3 * others && compute[hub] <= MASTER_COMPUTE * rest / (double)others;
    return is_master ? hub : GRAPH_NONE;
}

static double mean_of(const struct graph *graph, const double *compute)
{
    uint32_t master = master_of_messages(graph, compute);
    double limit = balance_limit(compute, graph->location_count), sum = 0, count = 0;
    for (uint32_t i = 0; i < graph->location_count; i++) {
        if (i == master || compute[i] < limit)
            continue;
        sum += compute[i];
        count++;
    }
    return ratio_of(sum, count);
}

/* By section, the mean of all locations: one that never comes to it has nothing to do there. */
static double *section_means(const struct sections *sections)
{
    double *means_ns = memory_new(sections->count * sizeof *means_ns);
    for (size_t cell = 0; cell < sections->graph->location_count * sections->count; cell++)
        means_ns[cell % sections->count] += sections->own_ns[cell] / (double)sections->graph->location_count;
    return means_ns;
}

/* What a piece may last at most, so that those of a section take as much less as is handed on. */
struct cut {
    double handed_ns;        /* 0: nothing, and no limit */
    double above_ns, pieces; /* above the limit so far */
    double limit_ns;
};

struct piece {
    double ns;
    size_t section;
};

/* The pieces of those sections that hand something on. */
struct pieces {
    const struct cut *cuts;
    struct piece *piece;
    size_t count;
};

static void take_piece(void *context, size_t section, int64_t ns)
{
    struct pieces *pieces = context;
    if (pieces->cuts[section].handed_ns > 0)
        pieces->piece[pieces->count++] = (struct piece){(double)ns, section};
}

/* Keeps only the pieces above the limits, fewer each time. False: the limits are known. */
static bool cuts_improve(struct cut *cuts, size_t cut_count, struct pieces *pieces)
{
    bool improved = false;
    size_t left = 0;
    for (size_t s = 0; s < cut_count; s++)
        cuts[s].above_ns = cuts[s].pieces = 0;
    for (size_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->piece[i];
        struct cut *cut = &cuts[piece->section];
        if (piece->ns <= cut->limit_ns)
            continue;
        cut->above_ns += piece->ns;
        cut->pieces++;
        pieces->piece[left++] = *piece;
    }
    pieces->count = left;
    for (size_t s = 0; s < cut_count; s++) {
        double limit_ns = fmax(ratio_of(cuts[s].above_ns - cuts[s].handed_ns, cuts[s].pieces), cuts[s].limit_ns);
        improved |= limit_ns > (1 + NEAR) * cuts[s].limit_ns + 1;
        cuts[s].limit_ns = limit_ns;
    }
    return improved;
}

/* Divides what the location hands on among its sections, and these among their pieces. */
static void relieve(struct relief *relief, uint32_t location, double excess_ns, const double *means_ns)
{
    const struct sections *sections = relief->sections;
    const double *own_ns = &sections->own_ns[location * sections->count];
    struct cut *cuts = memory_new(sections->count * sizeof *cuts);
    double beyond_ns = 0;
    for (size_t s = 0; s < sections->count; s++)
        beyond_ns += fmax(own_ns[s] - means_ns[s], 0);
    for (size_t s = 0; s < sections->count; s++)
        cuts[s].handed_ns = fmin(ratio_of(excess_ns, beyond_ns), 1) * fmax(own_ns[s] - means_ns[s], 0);
    size_t most = sections->graph->locations[location].count + 1;
    struct pieces pieces = {.cuts = cuts, .piece = memory_new(most * sizeof *pieces.piece)};
    sections_walk(sections, location, take_piece, &pieces);
    for (int pass = 0; pass < PASSES && cuts_improve(cuts, sections->count, &pieces); pass++)
        continue;
    free(pieces.piece);
    for (size_t s = 0; s < sections->count; s++)
        if (cuts[s].handed_ns > 0)
            relief->limits_ns[location * sections->count + s] = cuts[s].limit_ns;
    free(cuts);
}

static int64_t pace(const void *context, uint32_t location, uint32_t index, int64_t from_ns, int64_t to_ns)
{
    const struct relief *relief = context;
    int64_t ns = time_since(from_ns, to_ns);
    size_t cell = location * relief->sections->count + section_of(relief->sections, location, index);
    return (double)ns > relief->limits_ns[cell] ? nearest_int(relief->limits_ns[cell]) : ns;
}

static bool find_limits(struct relief *relief, const struct graph *graph, const double *compute)
{
    size_t cells = graph->location_count * relief->sections->count;
    double mean_ns = mean_of(graph, compute), *means_ns = section_means(relief->sections);
    bool found = false;
    relief->limits_ns = memory_new(cells * sizeof *relief->limits_ns);
    for (size_t cell = 0; cell < cells; cell++)
        relief->limits_ns[cell] = INFINITY;
    for (uint32_t location = 0; mean_ns > 0 && location < graph->location_count; location++) {
        if (compute[location] <= mean_ns)
            continue;
        relieve(relief, location, compute[location] - mean_ns, means_ns);
        found = true;
    }
    free(means_ns);
    return found;
}

struct relief *relief_new(const struct sections *sections, const double *compute)
{
    struct relief *relief = memory_new(sizeof *relief);
    relief->sections = sections;
    if (!find_limits(relief, sections->graph, compute)) {
        relief_free(relief);
        return NULL;
    }
    return relief;
}

void relief_take(const struct relief *relief, struct replay_options *options)
{
    options->pace = pace;
    options->pace_context = relief;
}

void relief_free(struct relief *relief)
{
    if (!relief)
        return;
    free(relief->limits_ns);
    free(relief);
}
