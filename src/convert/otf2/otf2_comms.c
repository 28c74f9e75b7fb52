/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of communicators and windows, which an archive defines once for all processes. */
#include "convert/otf2/otf2_defs.h"

static bool is_member(const uint32_t *world, uint32_t count, uint32_t process, int32_t *rank)
{
    for (uint32_t i = 0; i < count; i++)
        if (world[i] == process) {
            *rank = (int32_t)i;
            return true;
        }
    return false;
}

/* What all events that are given have in common. */
struct giving {
    struct batch *batch;
    int64_t time_ns;
    uint32_t process;
};

static void give_comm(const struct giving *giving, enum comm_step step, int32_t comm, int32_t rank)
{
    struct event *event = &giving->batch->events[giving->batch->count++];
    *event = EVENT_NOTHING;
    event->kind = EVENT_COMM_MADE;
    event->value = step;
    event->time_ns = giving->time_ns;
    event->process = giving->process;
    event->partner_comm = comm;
    event->tag = rank;
}

static void give_window(const struct otf2_defs *otf2, const struct otf2_window *window, const struct giving *giving)
{
    int32_t rank = 0;
    uint32_t on = otf2_index(&otf2->comm_ids, window->comm);
    if (window->window != EVENT_UNKNOWN &&
        is_member(otf2->comm[on].world, otf2->comm[on].count, giving->process, &rank))
        give_comm(giving, COMM_STEP_INTRA, window->window, rank);
}

static void give(const struct otf2_defs *otf2, const struct otf2_comm *comm, const struct giving *giving)
{
    int32_t rank = 0, other = 0;
    if (comm->comm == EVENT_UNKNOWN)
        return;
    bool in = is_member(comm->world, comm->count, giving->process, &rank);
    bool in_other = comm->inter && is_member(comm->other_world, comm->other_count, giving->process, &other);
    if (comm->inter && in_other) {
        give_comm(giving, COMM_STEP_LOCAL, comm->other_comm, other);
        give_comm(giving, COMM_STEP_REMOTE, comm->comm, -1);
    } else if (comm->inter && in) {
        give_comm(giving, COMM_STEP_LOCAL, comm->comm, rank);
        give_comm(giving, COMM_STEP_REMOTE, comm->other_comm, -1);
    } else if (comm->self) {
        give_comm(giving, COMM_STEP_SELF, otf2->selfs + (int32_t)giving->process, 0);
    } else if (in) {
        bool world = otf2->defs->comms[comm->comm].world;
        give_comm(giving, world ? COMM_STEP_WORLD : COMM_STEP_INTRA, comm->comm, rank);
    }
}

bool otf2_give_comms(const struct otf2_defs *otf2, uint32_t process, size_t *next, struct batch *batch, int64_t time_ns)
{
    const struct giving giving = {batch, time_ns, process};
    size_t all = otf2->comm_count + otf2->window_count;
    for (; *next < all && batch->count + 2 < BATCH_EVENTS; ++*next)
        if (*next < otf2->comm_count)
            give(otf2, &otf2->comm[*next], &giving);
        else
            give_window(otf2, &otf2->window[*next - otf2->comm_count], &giving);
    return *next == all;
}
