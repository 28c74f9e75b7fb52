/* SPDX-License-Identifier: BSD-3-Clause */
/* The bookkeeping of replays: what is announced when a location enters a call, which locations that wakes, and which
   one continues in a deadlock. */
#include "replay/player.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

/* The announcements and the locations woken, as text: "s0", "r1", "p2", "w3". */
static char said[200];

static void say(char what, uint32_t number)
{
    size_t length = strlen(said);
    snprintf(said + length, sizeof said - length, "%s%c%u", length ? " " : "", what, number);
}

static void note_send(struct player *player, uint32_t location, const struct call *call, uint32_t message)
{
    (void)player, (void)location, (void)call;
    say('s', message);
}

static void note_receive(struct player *player, uint32_t location, uint32_t message)
{
    (void)player, (void)location;
    say('r', message);
}

static void note_post(struct player *player, uint32_t location, uint32_t message)
{
    (void)player, (void)location;
    say('p', message);
}

static void note_wake(struct player *player, uint32_t location)
{
    (void)player;
    say('w', location);
}

static const struct player_rules EACH = {note_send, note_receive, note_post, note_wake, false},
                                 TOGETHER = {note_send, note_receive, note_post, note_wake, true};

/* graph_of() adds the processes from the last to the first: location 0 is the last one. */
static void enter(struct player *player, uint32_t location, int64_t now_ns)
{
    struct call call = graph_call(player->graph, location, player->locations[location].at);
    *player_now(player, location) = now_ns;
    said[0] = 0;
    player_enter(player, location, &call);
}

static void leave(struct player *player, uint32_t location, int64_t now_ns)
{
    struct call call = graph_call(player->graph, location, player->locations[location].at);
    player_leave(player, location, &call, &now_ns);
}

static void test_messages(void)
{
    struct trace trace = {0};
    moment(&trace, 1, 5);
    put(&trace, 1, EVENT_ENTER, 10, SEND);
    for (int i = 0; i < 3; i++) {
        struct event *event = put(&trace, 1, EVENT_SEND, 10, 0);
        event->partner = 0;
        event->tag = 0;
    }
    put(&trace, 1, EVENT_LEAVE, 12, SEND);
    moment(&trace, 0, 0);
    for (int i = 0; i < 3; i++)
        message(&trace, 0, RECV, 20 + 10 * i, 21 + 10 * i, 1);
    struct graph *graph = graph_of(&trace, 2);
    struct player player;
    player_begin(&player, graph, &EACH, 1);
    tap_equal_int(*player_now(&player, 0), 5, "a location begins with its first event");
    tap_equal_int(player_wait_for_message(&player, 1, graph_call(graph, 1, 0).received - 1), NOT_YET,
                  "a location waits for a message");
    enter(&player, 0, 10);
    char want[sizeof said];
    uint32_t first = graph_call(graph, 1, 0).received - 1, second = graph_call(graph, 1, 1).received - 1,
             third = graph_call(graph, 1, 2).received - 1;
    snprintf(want, sizeof want, "s%u s%u s%u", first, second, third);
    tap_equal_string(said, want, "messages leave in their order");
    tap_ok(player_has_entered(&player, 0, 0) && !player_has_entered(&player, 1, 0), "who has entered its call");
    said[0] = 0;
    player_wake_for_message(&player, 1, second);
    tap_equal_string(said, "", "another message wakes nobody");
    player_wake_for_message(&player, 1, first);
    player_wake_for_message(&player, 1, first);
    tap_equal_string(said, "w1", "its message does, once");
    enter(&player, 1, 20);
    snprintf(want, sizeof want, "r%u", first);
    tap_equal_string(said, want, "a receive");
    leave(&player, 0, 12);
    tap_ok(player_is_done(&player, 0) && player_has_entered(&player, 0, 0), "a location after its last call");
    player_clear(&player);
    graph_free(graph);
}

static struct graph *collectives(void)
{
    static const int64_t enters[] = {20, 40, 10}; /* location 0 comes first */
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++) {
        moment(&trace, p, 0);
        rooted(&trace, p, BCAST, enters[p], 50, 1);
        call(&trace, p, BARRIER, 60 + 10 * p, 90);
    }
    return graph_of(&trace, 3);
}

static void test_collectives(const struct player_rules *rules)
{
    struct graph *graph = collectives();
    struct player player;
    player_begin(&player, graph, rules, 1);
    uint32_t bcast = graph_call(graph, 0, 0).instance - 1, barrier = graph_call(graph, 0, 1).instance - 1;
    uint32_t *waiting = &player.instances[bcast].waiting;
    enter(&player, 0, 10);
    player_wait_in(&player, 0, waiting);
    tap_equal_int(player_wait_in(&player, 0, waiting), NOT_YET, "a location waits in a list once");
    tap_ok(player.instances[bcast].present == 1 && player.root_ns[bcast] == NOT_YET, "one has come");
    enter(&player, 1, 40);
    tap_equal_string(said, rules->together ? "" : "w0", "the root has come: %s",
                     rules->together ? "all wait for all" : "that is enough for a broadcast");
    tap_equal_int(player.root_ns[bcast], 40, "when the root came");
    enter(&player, 2, 20);
    tap_equal_string(said, rules->together ? "w0" : "", "the last has come");
    tap_ok(player.latest_ns[bcast] == 40 && player.instances[bcast].present == 3, "when the last came");
    for (uint32_t p = 0; p < 3; p++)
        leave(&player, p, 50);
    for (uint32_t p = 0; p < 2; p++) {
        enter(&player, p, 60 + 10 * p);
        player_wait_in(&player, p, &player.instances[barrier].waiting);
    }
    player_leave_list(&player, 1);
    enter(&player, 2, 80);
    tap_equal_string(said, "w0", "who has left the list is not woken");
    player_clear(&player);
    graph_free(graph);
}

static void test_force(void)
{
    struct graph *graph = collectives();
    struct player player;
    player_begin(&player, graph, &EACH, 1);
    for (uint32_t p = 0; p < 3; p++)
        enter(&player, p, 10);
    player_wait_in(&player, 0, &player.instances[0].waiting);
    player_wait_for_message(&player, 0, 7);
    tap_equal_int(player_force(&player), 0, "of all that wait the one that was first in the record");
    tap_ok(player.forced == 1 && !player.locations[0].waiting_in && player.locations[0].message == 0 &&
               player.instances[0].waiting == 0,
           "it is counted, and waits no more");
    leave(&player, 0, 50);
    player_went_on(&player, 0);
    tap_equal_int(player_force(&player), 2, "then the next");
    leave(&player, 2, 50);
    player_went_on(&player, 2);
    tap_equal_int(player_force(&player), 1, "and the next");
    for (uint32_t p = 0; p < 3; p++)
        while (!player_is_done(&player, p)) {
            leave(&player, p, 90);
            player_went_on(&player, p);
        }
    tap_equal_int(player_force(&player), GRAPH_NONE, "until all are done");
    player_clear(&player);
    graph_free(graph);
}

/* Processes that call nothing have nothing to wait for. */
static void test_idle(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 2; p++)
        moment(&trace, p, 10 + 5 * p);
    call(&trace, 0, BARRIER, 30, 40);
    struct graph *graph = graph_of(&trace, 2);
    uint32_t idle = graph->locations[0].process == 1 ? 0 : 1, busy = 1 - idle;
    struct player player;
    player_begin(&player, graph, &EACH, 1);
    tap_ok(player_is_done(&player, idle) && !player_is_done(&player, busy), "a process without calls is done at once");
    tap_ok(*player_now(&player, idle) == 5 && *player_now(&player, busy) == 0,
           "times are counted from the first event of all");
    tap_equal_int(player_force(&player), busy, "only the other can be forced");
    leave(&player, busy, 30);
    tap_equal_int(player_force(&player), GRAPH_NONE, "and then nobody");
    player_clear(&player);
    graph_free(graph);
}

int main(void)
{
    defs_make();
    test_messages();
    test_collectives(&EACH);
    test_collectives(&TOGETHER);
    test_force();
    test_idle();
    defs_free(defs);
    return tap_done();
}
