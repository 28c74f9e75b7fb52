/* SPDX-License-Identifier: BSD-3-Clause */
#include "clocks/logical_clock.h"

#include "core/memory.h"
#include "core/numbers.h"

/* Of a message: its send has its corrected time. Links are below 2^30, timelines below 2^24. */
static const uint32_t SENT = UINT32_C(1) << 31;

/* A receive, or a leave, that was moved. */
struct jumped_event {
    size_t event;         /* of the timeline */
    int64_t internal_ns;  /* where it would be */
    int64_t corrected_ns; /* where it is */
};

struct walker {
    size_t at; /* next event of the timeline */
    struct jumped_event *jumped;
    size_t count, capacity;
    uint32_t waiting_for;  /* link of the event that it waits with; CAUSAL_NONE */
    uint32_t next_waiting; /* for the same collective: 1 + timeline */
};

struct gate_state {
    uint32_t needed;  /* enters still missing, plus gates that lead to it and are not open yet */
    uint32_t waiting; /* 1 + timeline */
    int64_t latest_enter_ns, earliest_leave_ns;
};

struct logical_clock {
    struct causality *causality;
    struct clock_map *maps;
    const struct clock_scale *scale;
    struct logical_clock_options options;
    struct walker *walkers;
    struct gate_state *gates;
    uint32_t *opened; /* scratch: gates that lead on */
    size_t opened_count, opened_capacity;
    uint32_t *ready;
    size_t ready_count;
    uint64_t left;
};

/* The time of the event after earlier jumps. */
static int64_t internal_ns(const struct logical_clock *clock, uint32_t timeline, int64_t time_ns)
{
    const struct clock_map *map = &clock->maps[timeline];
    size_t begun = clock_jumps_begun(map->jumps, map->jump_count, time_ns);
    if (begun == 0)
        return time_ns;
    return time_plus(time_ns, clock_jump_shift(&map->jumps[begun - 1], clock->scale, time_ns));
}

/* The corrected time of an event that must not lie before `least_ns`. */
static int64_t move_up(struct logical_clock *clock, uint32_t timeline, int64_t time_ns, int64_t least_ns)
{
    struct clock_map *map = &clock->maps[timeline];
    struct walker *walker = &clock->walkers[timeline];
    int64_t internal = internal_ns(clock, timeline, time_ns);
    if (internal >= least_ns)
        return internal;
    /* Jumps are in the order of recorded times: an event that was recorded before an earlier one cannot have one of
       its own. It is counted as left. */
    if (map->jump_count > 0 && map->jumps[map->jump_count - 1].time_ns > time_ns) {
        clock->left++;
        return internal;
    }
    const struct causal_event *event = &clock->causality->timelines[timeline].events[walker->at];
    ARRAY_PUSH(map->jumps, map->jump_count, map->jump_capacity,
               (struct clock_jump){time_ns, time_minus(least_ns, time_ns), event->ordinal});
    ARRAY_PUSH(walker->jumped, walker->count, walker->capacity, (struct jumped_event){walker->at, internal, least_ns});
    return least_ns;
}

static void wake(struct logical_clock *clock, uint32_t timeline)
{
    clock->walkers[timeline].waiting_for = CAUSAL_NONE;
    clock->ready[clock->ready_count++] = timeline;
}

/* Woken ones may wait again at another gate: each is taken out of the list first. */
static void wake_waiting(struct logical_clock *clock, struct gate_state *gate)
{
    while (gate->waiting) {
        uint32_t timeline = gate->waiting - 1;
        gate->waiting = clock->walkers[timeline].next_waiting;
        wake(clock, timeline);
    }
}

static void raise_gate(struct gate_state *gate, int64_t enter_ns)
{
    gate->latest_enter_ns = larger(gate->latest_enter_ns, enter_ns);
}

/* All enters of the gate have arrived: the gates that it leads to may open, too. A list and no recursion: a prefix
   reduction leads through as many gates as it has processes. */
static void open_gate(struct logical_clock *clock, uint32_t first)
{
    const struct causality *causality = clock->causality;
    ARRAY_PUSH(clock->opened, clock->opened_count, clock->opened_capacity, first);
    while (clock->opened_count > 0) {
        uint32_t gate = clock->opened[--clock->opened_count];
        wake_waiting(clock, &clock->gates[gate]);
        for (size_t i = causality->gates[gate].next; i < causal_nexts_end(causality, gate); i++) {
            struct gate_state *next = &clock->gates[causality->nexts[i]];
            raise_gate(next, clock->gates[gate].latest_enter_ns);
            if (--next->needed == 0)
                ARRAY_PUSH(clock->opened, clock->opened_count, clock->opened_capacity, causality->nexts[i]);
        }
    }
}

static void take_send(struct logical_clock *clock, uint32_t timeline, uint32_t index)
{
    struct causal_message *message = &clock->causality->messages[index];
    if (!causal_matched(message))
        return;
    /* Corrected in place: the receiver needs the corrected time, and nobody the recorded one. */
    message->send_ns = internal_ns(clock, timeline, message->send_ns);
    message->sender |= SENT;
    if (clock->walkers[message->receiver].waiting_for == (index << 2 | CAUSAL_RECEIVE))
        wake(clock, message->receiver);
}

/* False: its send has not been processed yet. */
static bool take_receive(struct logical_clock *clock, uint32_t timeline, uint32_t index, bool forced)
{
    struct causal_message *message = &clock->causality->messages[index];
    if (!causal_matched(message))
        return true;
    bool sent = message->sender & SENT;
    if (!sent && !forced)
        return false;
    int64_t least_ns = INT64_MIN;
    if (sent)
        least_ns = time_plus(message->send_ns, clock->options.latency_ns);
    message->receive_ns = move_up(clock, timeline, message->receive_ns, least_ns);
    return true;
}

static void take_enter(struct logical_clock *clock, uint32_t timeline, uint32_t index)
{
    struct causal_point *point = &clock->causality->points[index];
    struct gate_state *gate = &clock->gates[point->gate];
    point->time_ns = internal_ns(clock, timeline, point->time_ns);
    raise_gate(gate, point->time_ns);
    if (--gate->needed == 0)
        open_gate(clock, point->gate);
}

/* False: enters that it depends on have not been processed yet. */
static bool take_leave(struct logical_clock *clock, uint32_t timeline, uint32_t index, bool forced)
{
    struct causal_point *point = &clock->causality->points[index];
    struct gate_state *gate = &clock->gates[point->gate];
    if (gate->needed > 0 && !forced)
        return false;
    /* Forced, or a gate without enters: nothing is known that it must come after. */
    int64_t least_ns = INT64_MIN;
    if (gate->needed == 0 && gate->latest_enter_ns != INT64_MIN)
        least_ns = time_plus(gate->latest_enter_ns, clock->options.latency_ns);
    point->time_ns = move_up(clock, timeline, point->time_ns, least_ns);
    if (point->time_ns < gate->earliest_leave_ns)
        gate->earliest_leave_ns = point->time_ns;
    return true;
}

static bool take_event(struct logical_clock *clock, uint32_t timeline, uint32_t link, bool forced)
{
    switch ((enum causal_kind)(link & 3)) {
    case CAUSAL_SEND:
        take_send(clock, timeline, link >> 2);
        return true;
    case CAUSAL_RECEIVE:
        return take_receive(clock, timeline, link >> 2, forced);
    case CAUSAL_ENTER:
        take_enter(clock, timeline, link >> 2);
        return true;
    default:
        return take_leave(clock, timeline, link >> 2, forced);
    }
}

/* Processes events until one has to wait. `forced`: the next event is processed whatever it waits for. */
static void walk(struct logical_clock *clock, uint32_t timeline, bool forced)
{
    struct walker *walker = &clock->walkers[timeline];
    const struct causal_timeline *where = &clock->causality->timelines[timeline];
    for (; walker->at < where->count; walker->at++) {
        uint32_t link = where->events[walker->at].link;
        if (!take_event(clock, timeline, link, forced)) {
            walker->waiting_for = link;
            if ((link & 3) == CAUSAL_LEAVE) {
                struct gate_state *gate = &clock->gates[clock->causality->points[link >> 2].gate];
                walker->next_waiting = gate->waiting;
                gate->waiting = timeline + 1;
            }
            return;
        }
        /* Only the event that it was forced past: the next one waits as usual. */
        forced = false;
    }
}

static void walk_ready(struct logical_clock *clock)
{
    while (clock->ready_count > 0)
        walk(clock, clock->ready[--clock->ready_count], false);
}

/* Removes a timeline from those that wait for its collective. */
static void leave_waiting(struct logical_clock *clock, uint32_t timeline)
{
    uint32_t link = clock->walkers[timeline].waiting_for;
    if ((link & 3) != CAUSAL_LEAVE)
        return;
    uint32_t *at = &clock->gates[clock->causality->points[link >> 2].gate].waiting;
    while (*at != timeline + 1)
        at = &clock->walkers[*at - 1].next_waiting;
    *at = clock->walkers[timeline].next_waiting;
}

static void force_one(struct logical_clock *clock, uint32_t timeline)
{
    if (clock->walkers[timeline].waiting_for == CAUSAL_NONE)
        return;
    clock->left++;
    leave_waiting(clock, timeline);
    clock->walkers[timeline].waiting_for = CAUSAL_NONE;
    walk(clock, timeline, true);
    walk_ready(clock);
}

/* In impossible traces processes wait for each other in a circle: each in turn continues without waiting. */
static void force(struct logical_clock *clock)
{
    const struct causality *causality = clock->causality;
    uint32_t *unfinished = memory_new(causality->timeline_count * sizeof *unfinished);
    size_t count = 0;
    for (uint32_t i = 0; i < causality->timeline_count; i++)
        if (clock->walkers[i].at < causality->timelines[i].count)
            unfinished[count++] = i;
    /* Rounds over those that are left: each forced event may let many others walk on, so that few are forced. */
    while (count > 0) {
        size_t kept = 0;
        for (size_t i = 0; i < count; i++) {
            force_one(clock, unfinished[i]);
            if (clock->walkers[unfinished[i]].at < causality->timelines[unfinished[i]].count)
                unfinished[kept++] = unfinished[i];
        }
        count = kept;
    }
    free(unfinished);
}

static void begin_gates(struct logical_clock *clock)
{
    const struct causality *causality = clock->causality;
    for (size_t i = 0; i < causality->gate_count; i++)
        clock->gates[i] = (struct gate_state){.latest_enter_ns = INT64_MIN, .earliest_leave_ns = INT64_MAX};
    for (size_t i = 0; i < causality->point_count; i++)
        clock->gates[causality->points[i].gate].needed += !causality->points[i].leaves;
    for (size_t i = 0; i < causality->next_count; i++)
        clock->gates[causality->nexts[i]].needed++;
    /* Gates without enters are open, and so are those that only such gates lead to. */
    for (uint32_t i = 0; i < causality->gate_count; i++)
        for (size_t k = causality->gates[i].next; clock->gates[i].needed == 0 && k < causal_nexts_end(causality, i);
             k++)
            clock->gates[causality->nexts[k]].needed--;
}

/* An enter must not be moved beyond the leaves of the gates that it leads to, either. */
static void end_gates(struct logical_clock *clock)
{
    const struct causality *causality = clock->causality;
    /* Gates lead only to later ones, so that this order carries the earliest leave back through all of them. */
    for (size_t i = causality->gate_count; i-- > 0;)
        for (size_t k = causality->gates[i].next; k < causal_nexts_end(causality, i); k++) {
            int64_t leave_ns = clock->gates[causality->nexts[k]].earliest_leave_ns;
            if (leave_ns < clock->gates[i].earliest_leave_ns)
                clock->gates[i].earliest_leave_ns = leave_ns;
        }
}

static void forward(struct logical_clock *clock)
{
    const struct causality *causality = clock->causality;
    begin_gates(clock);
    /* From the last to the first, so that the first is on top of the list: only the order of work depends on it. */
    for (uint32_t i = (uint32_t)causality->timeline_count; i-- > 0;)
        wake(clock, i);
    walk_ready(clock);
    force(clock);
    for (size_t i = 0; i < causality->message_count; i++)
        if (causal_matched(&causality->messages[i]))
            causality->messages[i].sender &= ~SENT;
    end_gates(clock);
}

/* Backward: corners are found from the last to the first, and reversed at the end. */

struct ramp {
    struct clock_map *map;
    double slope;
    bool rising;   /* back in time: a ramp is being drawn, down from the latest corner */
    size_t anchor; /* corners before this one stay: it is that of a jump */
};

static struct clock_corner *top(const struct ramp *ramp)
{
    return &ramp->map->corners[ramp->map->corner_count - 1];
}

static void add_corner(struct ramp *ramp, int64_t time_ns, int64_t shift_ns)
{
    struct clock_map *map = ramp->map;
    ARRAY_PUSH(map->corners, map->corner_count, map->corner_capacity, (struct clock_corner){time_ns, shift_ns});
}

/* The time at which the ramp reaches 0, if nothing forces it lower. */
static int64_t foot_of(const struct ramp *ramp)
{
    double length = (double)top(ramp)->shift_ns / ramp->slope;
    int64_t length_ns = INT64_MAX;
    if (length < 9e18)
        length_ns = (int64_t)length + 1;
    return time_minus(top(ramp)->time_ns, length_ns);
}

/* Its height at a time not after the latest corner. */
static int64_t height(const struct ramp *ramp, int64_t time_ns)
{
    if (!ramp->rising)
        return 0;
    struct clock_corner ends[2] = {{foot_of(ramp), 0}, *top(ramp)};
    if (time_ns >= ends[1].time_ns)
        return ends[1].shift_ns;
    if (time_ns <= ends[0].time_ns)
        return 0;
    return clock_corner_shift(ends, time_ns);
}

static double rise(struct clock_corner from, struct clock_corner to)
{
    return (double)(to.shift_ns - from.shift_ns) / (double)time_minus(to.time_ns, from.time_ns);
}

/* The shift at a time may not be more than the limit: the ramp becomes steeper after it. */
static void limit_ramp(struct ramp *ramp, int64_t time_ns, int64_t limit_ns)
{
    struct clock_map *map = ramp->map;
    struct clock_corner corner = {time_ns, larger(limit_ns, INT64_C(0))};
    if (corner.shift_ns >= height(ramp, time_ns))
        return;
    while (map->corner_count > ramp->anchor + 1 &&
           (top(ramp)->time_ns <= time_ns || rise(top(ramp)[0], top(ramp)[-1]) < rise(corner, top(ramp)[0])))
        map->corner_count--;
    if (top(ramp)->time_ns <= time_ns)
        map->corner_count--; /* the jump's own corner: no event is between them */
    add_corner(ramp, corner.time_ns, corner.shift_ns);
}

/* Ends a ramp that has reached 0 before this time. */
static void end_ramp(struct ramp *ramp, int64_t time_ns)
{
    if (!ramp->rising || foot_of(ramp) < time_ns)
        return;
    if (top(ramp)->shift_ns > 0)
        add_corner(ramp, foot_of(ramp), 0);
    ramp->rising = false;
}

/* Events before the jump may be moved by the jump plus its own shift: rounded down, so that events between it and the
   latest corner are not moved further than planned. */
static void begin_ramp(struct ramp *ramp, const struct jumped_event *jumped)
{
    int64_t moved_ns = height(ramp, jumped->corrected_ns);
    moved_ns -= moved_ns > 0;
    add_corner(ramp, jumped->corrected_ns, moved_ns);
    add_corner(ramp, jumped->internal_ns, time_plus(moved_ns, time_minus(jumped->corrected_ns, jumped->internal_ns)));
    ramp->rising = true;
    ramp->anchor = ramp->map->corner_count - 1;
}

static int64_t message_time(const struct logical_clock *clock, uint32_t index, bool send, int64_t *limit_ns)
{
    const struct causal_message *message = &clock->causality->messages[index];
    if (send && causal_matched(message))
        *limit_ns = time_minus(time_minus(message->receive_ns, clock->options.latency_ns), message->send_ns);
    return send ? message->send_ns : message->receive_ns;
}

static int64_t point_time(const struct logical_clock *clock, uint32_t index, int64_t *limit_ns)
{
    const struct causal_point *point = &clock->causality->points[index];
    int64_t leave_ns = clock->gates[point->gate].earliest_leave_ns;
    if (!point->leaves && leave_ns != INT64_MAX)
        *limit_ns = time_minus(time_minus(leave_ns, clock->options.latency_ns), point->time_ns);
    return point->time_ns;
}

/* The time of an event, and how far it may be moved: INT64_MAX for no limit. */
static int64_t event_time(const struct logical_clock *clock, uint32_t link, int64_t *limit_ns)
{
    *limit_ns = INT64_MAX;
    uint32_t kind = link & 3;
    return kind == CAUSAL_SEND || kind == CAUSAL_RECEIVE ? message_time(clock, link >> 2, kind == CAUSAL_SEND, limit_ns)
                                                         : point_time(clock, link >> 2, limit_ns);
}

static void backward(struct logical_clock *clock, uint32_t timeline)
{
    const struct causal_timeline *where = &clock->causality->timelines[timeline];
    struct walker *walker = &clock->walkers[timeline];
    struct clock_map *map = &clock->maps[timeline];
    struct ramp ramp = {.map = map, .slope = clock->options.slope};
    for (size_t i = where->count; i-- > 0;) {
        int64_t limit_ns, time_ns = event_time(clock, where->events[i].link, &limit_ns);
        end_ramp(&ramp, time_ns);
        if (walker->count > 0 && walker->jumped[walker->count - 1].event == i)
            begin_ramp(&ramp, &walker->jumped[--walker->count]);
        else if (ramp.rising && limit_ns != INT64_MAX)
            limit_ramp(&ramp, time_ns, limit_ns);
    }
    if (ramp.rising) {
        int64_t begin_ns = clock_line_time(map, clock->scale, where->begin_ns);
        limit_ramp(&ramp, begin_ns, 0);
        end_ramp(&ramp, begin_ns);
    }
    for (size_t low = 0, high = map->corner_count; low + 1 < high; low++) {
        struct clock_corner swap = map->corners[low];
        map->corners[low] = map->corners[--high];
        map->corners[high] = swap;
    }
}

uint64_t logical_clock_run(struct causality *causality, struct clock_map *maps, const struct clock_scale *scale,
                           struct logical_clock_options options)
{
    size_t count = causality->timeline_count;
    struct logical_clock clock = {.causality = causality,
                                  .maps = maps,
                                  .scale = scale,
                                  .options = options,
                                  .walkers = memory_new(count * sizeof *clock.walkers),
                                  .gates = memory_new(causality->gate_count * sizeof *clock.gates),
                                  .ready = memory_new(count * sizeof *clock.ready)};
    forward(&clock);
    for (uint32_t i = 0; i < count; i++) {
        /* If time goes back, events are not in order of time: no ramps. */
        if (options.slope > 0 && !causality->timelines[i].goes_back)
            backward(&clock, i);
        free(clock.walkers[i].jumped);
    }
    free(clock.walkers);
    free(clock.gates);
    free(clock.opened);
    free(clock.ready);
    return clock.left;
}
