/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/tau/tau_defs.h"

#include "convert/spelled_state.h"
#include "convert/text_lines.h"
#include "core/memory.h"
#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MOST = 1 << 16, SEND_TAG = -7, RECEIVE_TAG = -8 };

/* A line: "id group tag "name type" parameter". */
struct definition {
    uint64_t id;
    char *group, *name, *parameter; /* owned */
    long tag;
};

static void definition_clear(struct definition *definition)
{
    free(definition->group);
    free(definition->name);
    free(definition->parameter);
}

static void skip_blanks(const char **at, const char *end)
{
    while (*at < end && (**at == ' ' || **at == '\t'))
        ++*at;
}

/* Names may have quotes of their own: the last one of the line ends it. */
static bool definition_parse(struct definition *definition, const char *at, const char *end)
{
    const char *open = memchr(at, '"', (size_t)(end - at)), *close = memrchr(at, '"', (size_t)(end - at));
    if (!open || close <= open || !text_take_u64(&at, end, &definition->id) || definition->id >= UINT32_MAX)
        return false;
    skip_blanks(&at, open);
    const char *word = at;
    while (at < open && *at != ' ')
        at++;
    if (at == word || at == open)
        return false;
    definition->group = text_from_bytes(word, (size_t)(at - word));
    definition->tag = strtol(at, NULL, 10);
    definition->name = text_from_bytes(open + 1, (size_t)(close - open - 1));
    at = close + 1;
    skip_blanks(&at, end);
    while (end > at && (end[-1] == '\r' || end[-1] == ' '))
        end--;
    definition->parameter = text_from_bytes(at, (size_t)(end - at));
    return true;
}

/* What TAU's primary group says of a function; groups may be joined by |. */
static enum paradigm paradigm_of(const char *group, const char *name)
{
    static const struct {
        const char *group;
        enum paradigm paradigm;
    } groups[] = {{"MPI", PARADIGM_MPI},         {"TAU_IO", PARADIGM_IO},         {"IO", PARADIGM_IO},
                  {"OpenMP", PARADIGM_OPENMP},   {"TAU_OPENMP", PARADIGM_OPENMP}, {"OPENMP", PARADIGM_OPENMP},
                  {"PTHREAD", PARADIGM_PTHREAD}, {"CUDA", PARADIGM_CUDA},         {"CUPTI", PARADIGM_CUDA},
                  {"ROCM", PARADIGM_HIP},        {"OPENCL", PARADIGM_OPENCL},     {"OPENACC", PARADIGM_OPENACC},
                  {"SHMEM", PARADIGM_SHMEM},     {"TRACER", PARADIGM_MEASUREMENT}};
    /* "MPI Collective Sync" is TAU's own barrier before a collective, and no function of MPI. */
    if (strcmp(group, "MPI") == 0 && strncmp(name, "MPI_", 4) != 0)
        return PARADIGM_MEASUREMENT;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        size_t length = strlen(groups[i].group);
        if (strncmp(group, groups[i].group, length) == 0 && (group[length] == '\0' || group[length] == '|'))
            return groups[i].paradigm;
    }
    return PARADIGM_COMPILER;
}

static uint32_t define_counter(struct defs *defs, const struct definition *definition)
{
    struct mark_def mark = {
        .name = definition->name,
        .id = EVENT_UNKNOWN,
        .defined = true,
        .counter = {.type = COUNTER_INT64, .mode = COUNTER_MODE_ABSOLUTE, .scope = COUNTER_OF_THREAD}};
    return defs_add_mark(defs, &mark);
}

static enum tau_kind kind_of(const struct definition *definition)
{
    static const struct {
        const char *name;
        enum tau_kind kind;
    } named[] = {{"FLUSH_CLOSE", TAU_CLOSE}, {"WALL_CLOCK", TAU_CLOCK}};
    if (definition->tag == SEND_TAG)
        return TAU_SEND;
    if (definition->tag == RECEIVE_TAG)
        return TAU_RECEIVE;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(definition->name, named[i].name) == 0)
            return named[i].kind;
    if (strcmp(definition->parameter, "EntryExit") == 0)
        return TAU_STATE;
    /* Facts are events "name | value" that occur once; TAU's offsets of clocks are applied to its times already. */
    bool counts = strcmp(definition->parameter, "TriggerValue") == 0 && definition->id != 0 &&
                  !strstr(definition->name, " | ") && strncmp(definition->name, "TauTraceClockOffset", 19) != 0 &&
                  strncmp(definition->name, "ONESIDED_", 9) != 0 &&
                  strcmp(definition->name, ".TAU <unknown event>") != 0;
    return counts ? TAU_COUNTER : TAU_NOTHING;
}

/* One definition for all nodes. */
static uint32_t event_of(struct tau_defs *tau, struct defs *defs, const struct definition *definition)
{
    char *text;
    bool added;
    if (asprintf(&text, "%s %s", definition->group, definition->name) < 0)
        memory_failed();
    size_t index = text_index_put(&tau->texts, text, &added);
    free(text);
    if (!added)
        return (uint32_t)index;
    struct tau_event event = {.kind = kind_of(definition)};
    if (event.kind == TAU_STATE)
        event.index = spelled_state_add(defs, definition->name, paradigm_of(definition->group, definition->name));
    else if (event.kind == TAU_COUNTER)
        event.index = define_counter(defs, definition);
    ARRAY_PUSH(tau->event, tau->event_count, tau->event_capacity, event);
    return (uint32_t)index;
}

/* "Command Line | ./app": what TAU notes of a run. */
static void take_fact(struct defs *defs, const char *name, uint32_t node, bool merged, char **host)
{
    static const struct {
        const char *name, *property;
    } facts[] = {{"Command Line", PROPERTY_PROGRAM}, {"CWD", PROPERTY_DIRECTORY}};
    const char *bar = strstr(name, " | ");
    if (!bar || !bar[3])
        return;
    size_t length = (size_t)(bar - name);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (length == strlen(facts[i].name) && strncmp(name, facts[i].name, length) == 0 && (node == 0 || merged))
            property_add(&defs->properties, facts[i].property, bar + 3);
    if (length == 8 && strncmp(name, "Hostname", 8) == 0 && !merged && !*host)
        *host = memory_copy_string(bar + 3);
    if (length == 11 && strncmp(name, "TAU Version", 11) == 0 && !defs->creator &&
        asprintf(&defs->creator, "TAU %s", bar + 3) < 0)
        memory_failed();
}

static void take_line(struct tau_defs *tau, struct defs *defs, const struct text_line *line, uint32_t node, bool merged,
                      char **host)
{
    struct definition definition = {0};
    if (line->at == line->end || *line->at == '#' || *line->at == '\r')
        return;
    if (definition_parse(&definition, line->at, line->end)) {
        take_fact(defs, definition.name, node, merged, host);
        map_put(&tau->ids, map_pair(node, (uint32_t)definition.id), event_of(tau, defs, &definition));
    } else {
        tau->damaged++;
    }
    definition_clear(&definition);
}

enum status tau_defs_read(struct tau_defs *tau, struct defs *defs, const char *path, uint32_t node, bool merged,
                          char **host, struct error *err)
{
    struct input *input = input_open_found(path, err);
    struct text_line line;
    bool first = true;
    if (!input)
        return STATUS_FAILED;
    enum status status;
    while ((status = text_line_next(input, LINE_MOST, &line, err)) == STATUS_OK) {
        /* The first line counts the others. */
        if (!first)
            take_line(tau, defs, &line, node, merged, host);
        first = false;
    }
    input_close(input);
    return status == STATUS_FAILED ? status : STATUS_OK;
}

const struct tau_event *tau_defs_find(const struct tau_defs *tau, uint32_t node, uint64_t id)
{
    const uint64_t *index = id < UINT32_MAX ? map_find(&tau->ids, map_pair(node, (uint32_t)id)) : NULL;
    return index ? &tau->event[*index] : NULL;
}

void tau_defs_clear(struct tau_defs *tau)
{
    free(tau->event);
    text_index_clear(&tau->texts);
    map_clear(&tau->ids);
}
