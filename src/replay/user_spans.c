/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/user_spans.h"

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
    struct open_list *open; /* by world rank */
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
    struct user_span *last = list->count > 0 ? &list->spans[list->count - 1] : NULL;
    if (list->overflow)
        return;
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
    builder->kept -= list->count;
    list->count = 0;
    list->overflow = true;
}

/* Closes the innermost open state. */
static void close_one(struct user_spans_builder *builder, uint32_t process, int64_t time_ns)
{
    struct open_list *open = &builder->open[process];
    size_t level = --open->depth;
    const struct open_state *state = &open->states[level];
    if (level < USER_LEVELS)
        add(builder, &builder->spans->processes[process].states[level],
            (struct user_span){state->state, 1, state->begin_ns, time_ns});
}

static void leave(struct user_spans_builder *builder, uint32_t process, uint32_t state, int64_t time_ns)
{
    struct user_process *at = &builder->spans->processes[process];
    struct open_list *open = &builder->open[process];
    size_t place = open->depth;
    while (place > 0 && open->states[place - 1].state != state)
        place--;
    if (place > 0) {
        at->crossing += open->depth - place;
        while (open->depth >= place)
            close_one(builder, process, time_ns);
        return;
    }
    at->stray++;
    if (open->depth == 0 && at->states[0].count == 0)
        add(builder, &at->states[0], (struct user_span){state, 1, at->begin_ns, time_ns});
}

static struct user_process *process_of(struct user_spans_builder *builder, uint32_t process)
{
    struct user_spans *spans = builder->spans;
    if (process >= spans->count) {
        size_t before = spans->capacity, open_before = builder->open_capacity;
        ARRAY_RESERVE(spans->processes, spans->capacity, (size_t)process + 1);
        ARRAY_RESERVE(builder->open, builder->open_capacity, (size_t)process + 1);
        memset(spans->processes + before, 0, (spans->capacity - before) * sizeof *spans->processes);
        memset(builder->open + open_before, 0, (builder->open_capacity - open_before) * sizeof *builder->open);
        spans->count = (size_t)process + 1;
    }
    return &spans->processes[process];
}

static void take(struct user_spans_builder *builder, const struct event *event)
{
    const struct defs *defs = builder->spans->defs;
    struct user_process *process = process_of(builder, event->process);
    if (!process->any)
        process->begin_ns = event->time_ns;
    process->any = true;
    process->end_ns = event->time_ns;
    if (event->kind == EVENT_MARK) {
        const struct mark_def *mark = &defs->marks[event->state];
        if (mark->name && !mark->tells_requests && function_class_of(mark->name) == CLASS_USER)
            add(builder, &process->events, (struct user_span){event->state, 1, event->time_ns, event->time_ns});
        return;
    }
    if (event->kind > EVENT_LEAVE || defs->states[event->state].class != CLASS_USER)
        return;
    uint32_t state = defs->states[event->state].first_of_name;
    if (event->kind == EVENT_LEAVE) {
        leave(builder, event->process, state, event->time_ns);
        return;
    }
    struct open_list *open = &builder->open[event->process];
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
    for (uint32_t i = 0; i < spans->count; i++) {
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
    free(spans);
}
