/* SPDX-License-Identifier: BSD-3-Clause */
/* Breaks deadlocks of a replay: finds the location whose next call was entered first in the record. It is a tournament:
   leaf i is location i, each node the winner of the two below it, node 1 the overall winner. */
#include "core/memory.h"
#include "replay/player.h"

/* Leaves beyond the last location count as finished. */
static bool is_done(const struct player *player, uint32_t location)
{
    return location >= player->graph->location_count || player_is_done(player, location);
}

static int64_t next_enter_ns(const struct player *player, uint32_t location)
{
    if (is_done(player, location))
        return INT64_MAX;
    return graph_call(player->graph, location, player->locations[location].at).enter_ns;
}

/* If equal, the lower location, which is on the left. */
static void play_match(struct player *player, size_t node)
{
    uint32_t left = player->winners[2 * node], right = player->winners[2 * node + 1];
    player->winners[node] = next_enter_ns(player, right) < next_enter_ns(player, left) ? right : left;
}

static void begin_tournament(struct player *player)
{
    /* A power of two: then node i has 2i and 2i + 1 below it. */
    player->winner_leaves = 1;
    while (player->winner_leaves < player->graph->location_count)
        player->winner_leaves *= 2;
    player->winners = memory_new(2 * player->winner_leaves * sizeof *player->winners);
    for (size_t location = 0; location < player->winner_leaves; location++)
        player->winners[player->winner_leaves + location] = (uint32_t)location;
    for (size_t node = player->winner_leaves; node-- > 1;)
        play_match(player, node);
}

void player_went_on(struct player *player, uint32_t location)
{
    /* Only once there is a tournament: most replays never force a call. One path to the root, log2(locations)
       matches. */
    for (size_t node = (player->winner_leaves + location) / 2; player->winners && node > 0; node /= 2)
        play_match(player, node);
}

uint32_t player_force(struct player *player)
{
    if (!player->winners)
        begin_tournament(player);
    uint32_t first = player->winners[1];
    if (is_done(player, first))
        return GRAPH_NONE;
    player_leave_list(player, first);
    player->locations[first].message = 0;
    player->forced++;
    return first;
}
