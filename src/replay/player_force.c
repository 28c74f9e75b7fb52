/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes on in a replay when nothing can: of all lanes the one whose next call was entered first in the record.
   Found by a tournament: leaf i is lane i, each node the winner of the two below it, node 1 that of all. */
#include "core/memory.h"
#include "replay/player.h"

static bool is_done(const struct player *player, uint32_t lane)
{
    return lane >= player->graph->lane_count || player->lanes[lane].at >= player->graph->lanes[lane].count;
}

static int64_t next_enter_ns(const struct player *player, uint32_t lane)
{
    return is_done(player, lane) ? INT64_MAX : graph_call(player->graph, lane, player->lanes[lane].at).enter_ns;
}

/* Of equals the lower lane, which is on the left. */
static void play_match(struct player *player, size_t node)
{
    uint32_t left = player->winners[2 * node], right = player->winners[2 * node + 1];
    player->winners[node] = next_enter_ns(player, right) < next_enter_ns(player, left) ? right : left;
}

static void begin_tournament(struct player *player)
{
    player->winner_leaves = 1;
    while (player->winner_leaves < player->graph->lane_count)
        player->winner_leaves *= 2;
    player->winners = memory_new(2 * player->winner_leaves * sizeof *player->winners);
    for (size_t lane = 0; lane < player->winner_leaves; lane++)
        player->winners[player->winner_leaves + lane] = (uint32_t)lane;
    for (size_t node = player->winner_leaves; node-- > 1;)
        play_match(player, node);
}

void player_went_on(struct player *player, uint32_t lane)
{
    for (size_t node = (player->winner_leaves + lane) / 2; player->winners && node > 0; node /= 2)
        play_match(player, node);
}

uint32_t player_first_lane(struct player *player)
{
    if (!player->winners)
        begin_tournament(player);
    return is_done(player, player->winners[1]) ? GRAPH_NONE : player->winners[1];
}
