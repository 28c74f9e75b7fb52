/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases/user_spans.h"

#include "core/memory.h"

#include <string.h>

struct open_state {
    uint32_t state;
    int64_t begin_ns;
};

struct open_list {
    struct open_state *states;
    size_t depth, capacity;
};

struct user_spans_builder {
    struct sink sink;
    struct user_spans *spans;
    struct open_list *open; /* as spans->processes */
    size_t open_capacity;
    size_t kept; /* spans of all processes */
};

static enum status builder_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    ((struct user_spans_builder *)sink)->spans->defs = defs;
    return STATUS_OK;
}

static void add(struct user_spans_builder *builder, struct user_list *list, struct user_span span)
{
    struct user_span *last = NULL;
    if (list->count > 0)
        last = &list->spans[list->count - 1];
    if (list->overflow)
        return;
    /* A state right after itself is one span that counts twice: loops of the program would fill the list. */
    if (last && last->name == span.name && span.end_ns > span.begin_ns) {
        last->count++;
        last->end_ns = span.end_ns;
        return;
    }
    if (list->count < USER_SPANS_MOST && builder->kept < USER_SPANS_ALL) {
        ARRAY_PUSH(list->spans, list->count, list->capacity, span);
        builder->kept++;
        return;
    }
    /* A list that is too long says nothing about phases: its memory is given back to the others. */
    builder->kept -= list->count;
    list->count = 0;
    list->overflow = true;
}

/* Closes the innermost open state. */
static void close_one(struct user_spans_builder *builder, size_t process, int64_t time_ns)
{
    struct open_list *open = &builder->open[process];
    size_t level = --open->depth;
    const struct open_state *state = &open->states[level];
    if (level < USER_LEVELS)
        add(builder, &builder->spans->processes[process].states[level],
            (struct user_span){state->state, 1, state->begin_ns, time_ns});
}

static void leave(struct user_spans_builder *builder, size_t process, uint32_t state, int64_t time_ns)
{
    struct user_process *at = &builder->spans->processes[process];
    struct open_list *open = &builder->open[process];
    size_t place = open->depth;
    /* The latest open instance, as everywhere (core/open_states.h); what was opened after it ends with it. */
    while (place > 0 && open->states[place - 1].state != state)
        place--;
    if (place > 0) {
        at->crossing += open->depth - place;
        while (open->depth >= place)
            close_one(builder, process, time_ns);
        return;
    }
    /* A leave without an enter: the state was open when the recording began, if nothing was seen before. */
    at->stray++;
    if (open->depth == 0 && at->states[0].count == 0)
        add(builder, &at->states[0], (struct user_span){state, 1, at->begin_ns, time_ns});
}

/* Index of a process. Ranks may be far apart in a damaged trace: only the table of places covers them all. */
static size_t process_of(struct user_spans_builder *builder, uint32_t rank)
{
    struct user_spans *spans = builder->spans;
    if (rank >= spans->place_count) {
        size_t before = spans->place_count;
        ARRAY_RESERVE(spans->places, spans->place_count, (size_t)rank + 1);
        memset(spans->places + before, 0, (spans->place_count - before) * sizeof *spans->places);
    }
    if (spans->places[rank] == 0) {
        ARRAY_RESERVE(builder->open, builder->open_capacity, spans->count + 1);
        builder->open[spans->count] = (struct open_list){0};
        ARRAY_PUSH(spans->processes, spans->count, spans->capacity, (struct user_process){0});
        spans->places[rank] = (uint32_t)spans->count;
    }
    return spans->places[rank] - 1;
}

const struct user_process *user_spans_of(const struct user_spans *spans, uint32_t rank)
{
    uint32_t place = rank < spans->place_count ? spans->places[rank] : 0;
    return place ? &spans->processes[place - 1] : NULL;
}

static void take(struct user_spans_builder *builder, const struct event *event)
{
    const struct defs *defs = builder->spans->defs;
    size_t index = process_of(builder, event->process);
    struct user_process *process = &builder->spans->processes[index];
    if (!process->any)
        process->begin_ns = event->time_ns;
    process->any = true;
    process->end_ns = event->time_ns;
    if (event->kind == EVENT_MARK) {
        const struct mark_def *mark = &defs->marks[event->state];
        if (mark->name && !mark->gives_requests && function_class_of(mark->name) == CLASS_USER)
            add(builder, &process->events, (struct user_span){event->state, 1, event->time_ns, event->time_ns});
        return;
    }
    if (event->kind > EVENT_LEAVE || defs->states[event->state].class != CLASS_USER)
        return;
    uint32_t state = defs->states[event->state].first_of_name;
    if (event->kind == EVENT_LEAVE) {
        leave(builder, index, state, event->time_ns);
        return;
    }
    struct open_list *open = &builder->open[index];
    if (open->depth < DEPTH_LIMIT)
        ARRAY_PUSH(open->states, open->depth, open->capacity, (struct open_state){state, event->time_ns});
}

static enum status builder_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->events[i].thread == 0 && event_counts(&batch->events[i]))
            take((struct user_spans_builder *)sink, &batch->events[i]);
    return STATUS_OK;
}

struct user_spans_builder *user_spans_builder_new(void)
{
    struct user_spans_builder *builder = memory_new(sizeof *builder);
    builder->spans = memory_new(sizeof *builder->spans);
    builder->sink = (struct sink){.begin = builder_begin, .events = builder_events};
    return builder;
}

struct sink *user_spans_builder_sink(struct user_spans_builder *builder)
{
    return &builder->sink;
}

struct user_spans *user_spans_builder_end(struct user_spans_builder *builder)
{
    struct user_spans *spans = builder->spans;
    for (size_t i = 0; i < spans->count; i++) {
        struct open_list *open = &builder->open[i];
        spans->processes[i].unclosed = open->depth;
        while (open->depth > 0)
            close_one(builder, i, spans->processes[i].end_ns);
        free(open->states);
    }
    free(builder->open);
    free(builder);
    return spans;
}

void user_spans_free(struct user_spans *spans)
{
    if (!spans)
        return;
    for (size_t i = 0; i < spans->count; i++) {
        free(spans->processes[i].states[0].spans);
        free(spans->processes[i].states[1].spans);
        free(spans->processes[i].events.spans);
    }
    free(spans->processes);
    free(spans->places);
    free(spans);
}
