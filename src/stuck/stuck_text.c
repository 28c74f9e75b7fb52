/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/stuck_text.h"

#include "core/ending.h"
#include "core/numbers.h"
#include "core/text.h"
#include "stuck/stuck_messages.h"
#include "stuck/stuck_place.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* More ranks than this are counted instead of listed. */
enum { LISTED = 4 };

static void say(char text[STUCK_TEXT_SIZE], const char *words)
{
    text_append(text, STUCK_TEXT_SIZE, "%s", words);
}

/* " (sort.c:88)"; false: there is no line. */
static bool say_place(char text[STUCK_TEXT_SIZE], const struct site_def *site)
{
    const char *slash = strrchr(site->file, '/'), *name = site->file;
    if (slash && slash[1])
        name = slash + 1;
    if (site->line > 0)
        text_append(text, STUCK_TEXT_SIZE, " (%.*s:%" PRId32 ")", text_beginning(name, 60), name, site->line);
    return site->line > 0;
}

void say_call(char text[STUCK_TEXT_SIZE], const struct stuck_state *state, uint32_t function, uint32_t site)
{
    say(text, state_name(state, function));
    /* A call whose place in the source is not known has its name only. */
    if (site == 0 || site > state->defs->site_count)
        return;
    const struct site_def *def = &state->defs->sites[site - 1];
    /* Without a line of the source the function that the call is in says where. */
    if (!say_place(text, def) && def->function)
        text_append(text, STUCK_TEXT_SIZE, " (in %.*s)", text_beginning(def->function, 60), def->function);
}

void say_processes(char text[STUCK_TEXT_SIZE], const uint32_t *processes, size_t count)
{
    say(text, count == 1 ? "process " : "processes ");
    /* One less if not all fit, so that "and 1 more" is never said. */
    size_t shown = count <= LISTED ? count : LISTED - 1;
    for (size_t i = 0; i < shown; i++) {
        if (i > 0)
            say(text, i + 1 == count ? " and " : ", ");
        say(text, text_number(processes[i]).text);
    }
    if (shown < count)
        text_append(text, STUCK_TEXT_SIZE, " and %s more", text_number(count - shown).text);
}

void say_comm(char text[STUCK_TEXT_SIZE], const struct stuck_state *state, int32_t comm)
{
    if (comm < 0 || (size_t)comm >= state->defs->comm_count)
        return;
    /* Both sides of an inter-communicator are the same one: it has one name. */
    int32_t one = state_comm(state, comm);
    bool sides = map_find(&state->other_side, (uint64_t)comm) && (size_t)one < state->defs->comm_count;
    const struct comm_def *def = &state->defs->comms[sides ? one : comm];
    /* Index 0 is the world of traces without definitions of communicators. */
    if (comm == 0 || def->world)
        say(text, "MPI_COMM_WORLD");
    else
        text_append(text, STUCK_TEXT_SIZE, "%s%s %" PRId32, sides ? "inter-" : "",
                    def->window ? "window" : "communicator", def->id);
}

/* " (3 of 4 partitions are ready)" */
static void say_ready(char text[STUCK_TEXT_SIZE], const struct item *item)
{
    text_append(text, STUCK_TEXT_SIZE, " (%s of %s partitions %s ready)",
                text_number((uint64_t)larger(item->pending.ready, 0)).text,
                text_number((uint64_t)item->pending.partitions).text, item->pending.ready == 1 ? "is" : "are");
}

static void say_own_parts(char text[STUCK_TEXT_SIZE], const struct stuck_state *state, const struct item *item)
{
    const struct pending *pending = &item->pending;
    text_append(text, STUCK_TEXT_SIZE, " for its own message to process %s with tag %" PRId32,
                text_number((uint64_t)larger(pending->partner, 0)).text, pending->tag);
    if (item->comm > 0) {
        say(text, " on ");
        say_comm(text, state, item->comm);
    }
    say_ready(text, item);
}

static void say_message(char text[STUCK_TEXT_SIZE], const struct stuck_state *state, const struct place *place,
                        const struct item *item)
{
    const struct pending *pending = &item->pending;
    /* A damaged record may have any partner: numbers below 0 are not shown as ranks. */
    if (pending->partner == PENDING_ANYBODY)
        say(text, " for a message from any process");
    else
        text_append(text, STUCK_TEXT_SIZE, " for a message from process %s",
                    text_number((uint64_t)larger(pending->partner, 0)).text);
    if (pending->tag >= 0)
        text_append(text, STUCK_TEXT_SIZE, " with tag %" PRId32, pending->tag);
    /* The world is what is meant where nothing is said. */
    if (item->comm > 0) {
        say(text, " on ");
        say_comm(text, state, item->comm);
    }
    const struct item *begun = NULL;
    if (pending->partner >= 0)
        begun = state_unready(state, (uint32_t)pending->partner, place->process, item->comm, pending->tag);
    if (begun)
        say_ready(text, begun);
}

static void say_send(char text[STUCK_TEXT_SIZE], int32_t partner, int32_t tag)
{
    text_append(text, STUCK_TEXT_SIZE, " for process %s to receive a message",
                text_number((uint64_t)larger(partner, 0)).text);
    if (tag >= 0)
        text_append(text, STUCK_TEXT_SIZE, " with tag %" PRId32, tag);
}

void say_wait(char text[STUCK_TEXT_SIZE], const struct stuck_graph *graph, const struct place *place,
              const struct edge *edge)
{
    const struct item *item = NULL;
    if (edge->item > 0)
        item = &place->items[edge->item - 1];
    const struct node *to = &graph->nodes[edge->to];
    if (edge->kind == EDGE_RECEIVE && item)
        say_message(text, graph->state, place, item);
    else if (edge->kind == EDGE_READY)
        say_own_parts(text, graph->state, item);
    else if (edge->kind == EDGE_SEND && item)
        say_send(text, item->pending.partner, item->pending.tag);
    else if (edge->kind == EDGE_SEND)
        say_send(text, place->send_partner, place->send_tag);
    else if (edge->kind == EDGE_LOCK)
        text_append(text, STUCK_TEXT_SIZE, " for the lock that process %s holds", text_number(to->index).text);
    else if (edge->kind == EDGE_POST && to->kind == NODE_ANYBODY) {
        say(text, " for the epoch of another process on ");
        say_comm(text, graph->state, place->comm);
    } else if (edge->kind == EDGE_POST)
        text_append(text, STUCK_TEXT_SIZE, " for the epoch of process %s", text_number(to->index).text);
    else if (to->kind == NODE_INSTANCE && (item || to->comm > 0)) {
        /* With an item the call is a wait, and the collective is what it waits for. */
        if (item) {
            say(text, to->starts ? " for the collective of " : " for ");
            say(text, state_name(graph->state, to->state));
        }
        say(text, " on ");
        say_comm(text, graph->state, to->comm);
    }
}

/* The first thing that a place waits for and that cannot happen. */
static const struct edge *dead_edge(const struct stuck_graph *graph, const struct place *place)
{
    const struct node *node = &graph->nodes[place - graph->state->places];
    const struct edge *dead = NULL;
    for (uint32_t i = 0; i < node->edge_count; i++) {
        const struct edge *edge = &graph->edges[node->first_edge + i];
        if (graph->nodes[edge->to].live)
            continue;
        /* What the process itself has to do explains more than what others wait for. */
        if (edge->kind == EDGE_READY)
            return edge;
        if (!dead)
            dead = edge;
    }
    if (dead)
        return dead;
    /* Nothing dead: what it waits for first explains it best. */
    return node->edge_count > 0 ? &graph->edges[node->first_edge] : NULL;
}

/* "in MPI_Recv (x.c:3)", or after it. */
static void say_where(char text[STUCK_TEXT_SIZE], const struct stuck_state *state, const struct place *place)
{
    say(text, place->depth > 0 ? " in " : " after ");
    say_call(text, state, place->state, place->site);
}

void say_died(char text[STUCK_TEXT_SIZE], const struct stuck_state *state, const struct place *place)
{
    char ending[ENDING_TEXT_SIZE];
    say(text, ending_text(ending, PENDING_DIED, place->code));
    say_where(text, state, place);
}

static void say_end(char text[STUCK_TEXT_SIZE], const struct stuck_state *state, const struct place *place)
{
    char ending[ENDING_TEXT_SIZE];
    say(text, ending_text(ending, place->ended, place->code));
    say_where(text, state, place);
}

/* ", in spin (loop.c:12)": what it computes, by samples. */
static void say_code(char text[STUCK_TEXT_SIZE], const struct stuck_state *state, const struct place *place)
{
    const struct defs *defs = state->defs;
    const char *name = place->votes > 0 ? defs_path_name(defs, place->sampled) : NULL;
    if (!name)
        return;
    text_append(text, STUCK_TEXT_SIZE, ", in %.*s", text_beginning(name, 60), name);
    uint32_t site = defs->paths[place->sampled].site;
    if (site > 0 && site <= defs->site_count)
        say_place(text, &defs->sites[site - 1]);
}

void say_doing(char text[STUCK_TEXT_SIZE], const struct stuck_graph *graph, const struct place *place)
{
    const struct stuck_state *state = graph->state;
    char time[TEXT_NUMBER_SIZE];
    bool finalizes = strcmp(state_name(state, place->state), "MPI_Finalize") == 0;
    if (place_has_ended(place)) {
        say_end(text, state, place);
    } else if (place->finalized || (finalizes && place->depth > 0)) {
        say(text, place->finalized ? "has left MPI" : "is in MPI_Finalize");
    } else if (place_polls(state, place)) {
        say(text, "loops over ");
        say_call(text, state, place->state, place->site);
        const struct edge *edge = dead_edge(graph, place);
        if (edge)
            say_wait(text, graph, place, edge);
    } else if (place->depth > 0) {
        say(text, "is in ");
        say_call(text, state, place->state, place->site);
        const struct edge *edge = dead_edge(graph, place);
        if (edge)
            say_wait(text, graph, place, edge);
    } else {
        /* Without samples it may as well sleep, or wait for a file or a lock. */
        text_append(text, STUCK_TEXT_SIZE, "has been %s for %s since ", place->votes > 0 ? "computing" : "outside MPI",
                    text_duration(time, time_since(place->left_ns, state->end_ns)));
        say_call(text, state, place->state, place->site);
        say(text, " returned");
        say_code(text, state, place);
    }
}

static bool fits(const struct stuck_state *state, const struct channel_balance *channel, const struct item *item)
{
    return (item->pending.tag == PENDING_ANYBODY || item->pending.tag == channel->tag) &&
           (item->pending.partner == PENDING_ANYBODY || item->pending.partner == (int32_t)channel->sender) &&
           state_comm(state, item->comm) == channel->comm;
}

bool say_taken(char text[STUCK_TEXT_SIZE], const struct stuck_state *state, const struct place *place,
               const struct item *item)
{
    for (size_t i = 0; i < state->outstanding_count; i++) {
        const struct channel_balance *channel = &state->channels[state->outstanding[i]];
        if (channel->taken <= 0 || channel->receiver != place->process || !fits(state, channel, item))
            continue;
        /* Without a text the question is only whether there is one. */
        if (text)
            text_append(text, STUCK_TEXT_SIZE,
                        " A message from process %s with tag %" PRId32
                        " is there, but process %s has taken it with MPI_Mprobe or MPI_Improbe: only MPI_Mrecv or "
                        "MPI_Imrecv can receive it.",
                        text_number(channel->sender).text, channel->tag, text_number(place->process).text);
        return true;
    }
    return false;
}

/* The only difference between a message and the expected one; NULL: none, or several. */
static const char *difference(const struct stuck_state *state, const struct channel_balance *channel,
                              const struct item *item)
{
    bool tag = item->pending.tag != PENDING_ANYBODY && item->pending.tag != channel->tag;
    bool comm = state_comm(state, item->comm) != channel->comm;
    bool source = item->pending.partner >= 0 && (uint32_t)item->pending.partner != channel->sender;
    /* With two differences or more, it is just another message. */
    if (tag + comm + source != 1)
        return NULL;
    if (tag)
        return "a different tag";
    return comm ? "a different communicator" : "a different source";
}

bool say_near_misses(char text[STUCK_TEXT_SIZE], const struct stuck_state *state, const struct place *place,
                     const struct item *item, bool of_anybody)
{
    if (say_taken(text, state, place, item))
        return true;
    bool of_partner = !of_anybody && item->pending.partner >= 0;
    /* Only channels with messages that nobody received. */
    for (size_t i = 0; i < state->outstanding_count; i++) {
        const struct channel_balance *channel = &state->channels[state->outstanding[i]];
        if (channel->left <= 0 || channel->receiver != place->process ||
            (of_partner && (uint32_t)item->pending.partner != channel->sender))
            continue;
        const char *what = difference(state, channel, item);
        /* Another receive, which is posted already, is for that message. */
        if (!what || messages_wanted(state, channel->sender, channel->receiver, channel->comm, channel->tag))
            continue;
        /* Without a text the question is only whether there are any. */
        if (text) {
            text_append(text, STUCK_TEXT_SIZE,
                        " A message with %s was sent to process %s and never received: from process %s, tag %" PRId32
                        ", on ",
                        what, text_number(place->process).text, text_number(channel->sender).text, channel->tag);
            say_comm(text, state, channel->comm);
            say(text, ", by ");
            say_call(text, state, channel->send_state, channel->send_site);
            say(text, ".");
        }
        return true;
    }
    return false;
}
