/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/question.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "phases/phases.h"
#include "search/cube.h"
#include "search/state_track.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* More equal parts than this are more rows than anybody reads, and each has times for each process. */
enum { WORD_SIZE = 300, PARTS_MOST = 1000 };

struct question {
    struct reader *reader;
    struct graph *graph;
    struct state_track *states;
    struct user_spans *spans;
    struct phases *phases;
};

static enum status read_events(struct question *question, const struct engine_request *request, struct error *err)
{
    struct graph_builder *graph = graph_builder_new();
    struct user_spans_builder *spans = user_spans_builder_new();
    struct state_track_builder *states = state_track_builder_new();
    /* One pass for all three: the reader may be a pipe. */
    struct sink *sinks[] = {graph_builder_sink(graph), user_spans_builder_sink(spans),
                            state_track_builder_sink(states)};
    enum status status = engine_stream(request, question->reader, sinks, 3, err);
    question->graph = graph_builder_end(graph);
    question->spans = user_spans_builder_end(spans);
    question->states = state_track_builder_end(states);
    if (status == STATUS_OK && question->graph->too_large)
        return error_set(err, ERROR_INPUT, "%s: has more calls than can be looked at together", request->inputs[0]);
    return status;
}

struct question *question_new(const struct engine_request *request, struct error *err)
{
    struct question *question = memory_new(sizeof *question);
    question->reader = engine_open(request, err);
    if (!question->reader || read_events(question, request, err) != STATUS_OK) {
        question_free(question);
        return NULL;
    }
    question->phases = phases_of(question->graph, question->spans);
    return question;
}

void question_free(struct question *question)
{
    if (!question)
        return;
    if (question->phases)
        phases_free(question->phases);
    if (question->states)
        state_track_free(question->states);
    user_spans_free(question->spans);
    graph_free(question->graph);
    reader_close(question->reader);
    free(question);
}

const struct trace_end *question_end(const struct question *question)
{
    return &question->reader->end;
}

/* A question that is being understood. */
struct asked {
    const struct question *question;
    struct error *err;
    struct expression *metrics;
    struct answer *answer;
    struct cube *cube;
    struct cube_focus focus;
    enum search_axis divided; /* AXIS_WHY: by none */
    int class;                /* of functions; -1: any */
    uint32_t *rows, *iterations;
    int64_t *borders; /* of equal parts of the run */
    bool equal_parts;
    char whole[WORD_SIZE]; /* the path of a row that is not divided */
};

/* Metrics: up to a comma that is in no parentheses. */

static size_t metric_length(const char *text)
{
    size_t depth = 0, at = 0;
    for (; text[at] && !(text[at] == ',' && depth == 0); at++) {
        if (text[at] == '(')
            depth++;
        else if (text[at] == ')' && depth > 0) /* one too many is a fault of expression_parse */
            depth--;
    }
    return at;
}

static enum status take_metrics(struct asked *asked, const char *text)
{
    struct answer *answer = asked->answer;
    size_t capacity = 0;
    for (;;) {
        size_t length = metric_length(text), from = strspn(text, " \t\n"), to = length;
        while (to > from && strchr(" \t\n", text[to - 1]))
            to--;
        struct expression expression;
        char *word = memory_new(length + 1); /* zeroed: it ends after what is copied */
        if (from < to)
            memcpy(word, text + from, to - from);
        if (expression_parse(&expression, word, "metric", asked->err) != STATUS_OK) {
            free(word);
            asked->err->kind = ERROR_USAGE;
            return STATUS_FAILED;
        }
        asked->metrics = memory_resize(asked->metrics, (answer->metric_count + 1) * sizeof *asked->metrics);
        asked->metrics[answer->metric_count] = expression;
        answer->units = memory_resize(answer->units, (answer->metric_count + 1) * sizeof *answer->units);
        answer->units[answer->metric_count] = expression.unit;
        ARRAY_PUSH(answer->metrics, answer->metric_count, capacity, word);
        if (!text[length])
            return STATUS_OK;
        text += length + 1;
    }
}

/* Foci. */

static enum status unknown(const struct asked *asked, const char *what, const char *word)
{
    return error_set(asked->err, ERROR_USAGE, "focus: there is no %s '%s' (sight resources lists them)", what, word);
}

/* Asks for a row for each value of the axis; only one axis can be divided: the cube has a table for each, not for their
   combinations. */
static enum status divide(struct asked *asked, enum search_axis axis)
{
    if (asked->divided != AXIS_WHY)
        return error_set(asked->err, ERROR_USAGE, "focus: only one path can have a row for each value");
    asked->divided = axis;
    asked->focus.wanted[axis] = true;
    return STATUS_OK;
}

static enum status narrow(struct asked *asked, enum search_axis axis, uint32_t key)
{
    asked->focus.key[axis] = key;
    return STATUS_OK;
}

/* Marks the numbers of a list such as 0-3,7. */
static bool parse_list(const char *word, bool *marked, size_t count)
{
    while (*word) {
        char *end;
        unsigned long first = strtoul(word, &end, 10), last = first;
        if (end == word || *word == '-') /* strtoul takes a sign */
            return false;
        if (*end == '-') {
            word = end + 1;
            last = strtoul(word, &end, 10);
            if (end == word)
                return false;
        }
        if (first > last || last >= count)
            return false;
        for (size_t i = first; i <= last; i++)
            marked[i] = true;
        if (*end && *end != ',')
            return false;
        word = end + (*end == ',');
    }
    return true;
}

/* The processes of a list, or of a host. */
static bool mark_processes(const struct asked *asked, const char *word, bool *marked, size_t count)
{
    const struct defs *defs = asked->question->graph->defs;
    bool host = false;
    for (size_t i = 0; i < defs->location_count; i++)
        if (defs->locations[i].host && strcmp(defs->locations[i].host, word) == 0 && defs->locations[i].process < count)
            host = marked[defs->locations[i].process] = true;
    return host || parse_list(word, marked, count);
}

static enum status focus_machine(struct asked *asked, char *const *word, size_t count)
{
    const struct cube *cube = asked->cube;
    if (count == 0)
        return STATUS_OK;
    if (count > 1)
        return unknown(asked, "process", word[1]);
    if (strcmp(word[0], "*") == 0)
        return divide(asked, AXIS_PROCESSES);
    /* Ranks are ascending and may have gaps: metrics of a part of the processes. */
    size_t ranks = 0, found = 0;
    if (cube->row_count > 0)
        ranks = cube->ranks[cube->row_count - 1] + 1;
    bool *marked = memory_new(ranks);
    bool good = mark_processes(asked, word[0], marked, ranks);
    free(asked->rows);
    asked->rows = memory_new(cube->row_count * sizeof *asked->rows);
    for (uint32_t i = 0; good && i < cube->row_count; i++)
        if (marked[cube->ranks[i]])
            asked->rows[found++] = i;
    free(marked);
    asked->focus.rows = asked->rows;
    asked->focus.row_count = found;
    if (!good || found == 0)
        return unknown(asked, "process or host", word[0]);
    return STATUS_OK;
}

static int class_find(const char *word)
{
    for (int class = CLASS_P2P; class <= CLASS_TOOL; class ++)
        if (strcmp(function_class_name((enum function_class) class), word) == 0)
            return class;
    return -1;
}

/* "sort.c:88", as sight resources writes it: without the directory, which a path of words cannot have. */
static void site_word(const struct site_def *site, char word[WORD_SIZE])
{
    const char *slash = strrchr(site->file, '/');
    snprintf(word, WORD_SIZE, "%s:%d", slash ? slash + 1 : site->file, site->line);
}

static enum status focus_site(struct asked *asked, const char *word)
{
    const struct defs *defs = asked->question->graph->defs;
    if (strcmp(word, "*") == 0)
        return divide(asked, AXIS_SITES);
    for (uint32_t i = 0; i < defs->site_count; i++) {
        char name[WORD_SIZE];
        site_word(&defs->sites[i], name);
        if (strcmp(name, word) == 0)
            return narrow(asked, AXIS_SITES, i);
    }
    return unknown(asked, "place", word);
}

static enum status focus_code(struct asked *asked, char *const *word, size_t count)
{
    const struct defs *defs = asked->question->graph->defs;
    if (count == 0)
        return STATUS_OK;
    if (strcmp(word[0], "site") == 0 && count == 2)
        return focus_site(asked, word[1]);
    int class = class_find(word[0]);
    const char *name = word[count - 1];
    if (count > 2 || (count == 2 && class < 0))
        return unknown(asked, "class of functions", word[0]);
    /* A class alone is one row, its functions together; with * it is a row for each of them. */
    if (strcmp(name, "*") == 0) {
        asked->class = class;
        return divide(asked, AXIS_FUNCTIONS);
    }
    if (count == 1 && class >= 0) {
        asked->class = class;
        return STATUS_OK;
    }
    int32_t state = defs_find_state(defs, name);
    if (state < 0)
        return unknown(asked, "function", name);
    return narrow(asked, AXIS_FUNCTIONS, (uint32_t)state);
}

static enum status focus_tag(struct asked *asked, const char *word)
{
    int64_t tag;
    if (strcmp(word, "*") == 0)
        return divide(asked, AXIS_TAGS);
    for (uint32_t i = 0; text_parse_i64(word, INT32_MIN, INT32_MAX, &tag) && i < asked->cube->tag_count; i++)
        if (asked->cube->tags[i] == tag)
            return narrow(asked, AXIS_TAGS, i);
    return unknown(asked, "tag", word);
}

static enum status focus_sync(struct asked *asked, char *const *word, size_t count)
{
    int64_t id;
    if (count == 0)
        return STATUS_OK;
    if (count > 2)
        return unknown(asked, "tag", word[2]);
    if (strcmp(word[0], "*") == 0 && count == 1)
        return divide(asked, AXIS_COMMUNICATORS);
    int32_t comm = EVENT_UNKNOWN;
    if (text_parse_i64(word[0], INT32_MIN, INT32_MAX, &id))
        comm = defs_find_comm(asked->question->graph->defs, (int32_t)id);
    if (comm < 0)
        return unknown(asked, "communicator", word[0]);
    (void)narrow(asked, AXIS_COMMUNICATORS, (uint32_t)comm); /* cannot fail: it only sets a key */
    if (count == 2)
        return focus_tag(asked, word[1]);
    return STATUS_OK;
}

/* The word that is one too many of a path with one; "" where there is none at all. */
static const char *second_of(char *const *word, size_t count)
{
    return count > 1 ? word[1] : "";
}

static enum status focus_state(struct asked *asked, char *const *word, size_t count)
{
    if (count != 1)
        return unknown(asked, "state", second_of(word, count));
    if (strcmp(word[0], "*") == 0)
        return divide(asked, AXIS_STATES);
    int32_t state = defs_find_state(asked->question->graph->defs, word[0]);
    if (state < 0)
        return unknown(asked, "state", word[0]);
    return narrow(asked, AXIS_STATES, (uint32_t)state);
}

static enum status focus_phase(struct asked *asked, char *const *word, size_t count)
{
    const struct phases *phases = asked->question->phases;
    int64_t number;
    if (count != 1)
        return unknown(asked, "phase", second_of(word, count));
    if (strcmp(word[0], "*") == 0)
        return divide(asked, AXIS_PHASES);
    /* Names first: a program may name its phases by numbers. */
    for (uint32_t i = 0; i < phases->count; i++)
        if (strcmp(phases->phase[i].name, word[0]) == 0)
            return narrow(asked, AXIS_PHASES, i);
    if (text_parse_i64(word[0], 0, (int64_t)phases->count - 1, &number))
        return narrow(asked, AXIS_PHASES, (uint32_t)number);
    return unknown(asked, "phase", word[0]);
}

static enum status focus_iteration(struct asked *asked, char *const *word, size_t count)
{
    size_t parts = asked->cube->iterations.count;
    if (count != 1 || parts == 0)
        return unknown(asked, "iteration", count ? word[count - 1] : "");
    if (strcmp(word[0], "*") == 0)
        return divide(asked, AXIS_ITERATIONS);
    bool *marked = memory_new(parts);
    /* Of very many iterations a cube has blocks: single ones cannot be asked for. */
    bool good = asked->cube->block < 2 && parse_list(word[0], marked, parts);
    free(asked->iterations);
    asked->iterations = memory_new(parts * sizeof *asked->iterations);
    for (uint32_t i = 0; good && i < parts; i++)
        if (marked[i])
            asked->iterations[asked->focus.iteration_count++] = i;
    asked->focus.iterations = asked->iterations;
    free(marked);
    if (!good)
        return unknown(asked, "iteration", word[0]);
    return STATUS_OK;
}

/* Equal parts of the run in the place of its phases. */
static enum status focus_time(struct asked *asked, char *const *word, size_t count)
{
    int64_t parts;
    struct cube *cube = asked->cube;
    if (count != 1 || !text_parse_i64(word[0], 1, PARTS_MOST, &parts))
        return error_set(asked->err, ERROR_USAGE, "focus: /Time takes a number of parts from 1 to %d", PARTS_MOST);
    size_t borders = (size_t)parts + 1;
    /* Borders are the same for all processes; a cube has them for each, as phases need it. */
    double length_ns = (double)time_since(cube->begin_ns, cube->end_ns);
    free(asked->borders);
    asked->borders = memory_new(cube->row_count * borders * sizeof *asked->borders);
    for (size_t row = 0; row < cube->row_count; row++)
        for (size_t i = 0; i < borders; i++)
            asked->borders[row * borders + i] = cube->begin_ns + (int64_t)(length_ns * (double)i / (double)parts);
    cube->phases = (struct cube_cuts){(size_t)parts, asked->borders};
    asked->equal_parts = true;
    return divide(asked, AXIS_PHASES);
}

static const struct {
    const char *name;
    enum status (*take)(struct asked *asked, char *const *word, size_t count);
} hierarchies[] = {{"Machine", focus_machine}, {"Code", focus_code},   {"SyncObject", focus_sync},
                   {"State", focus_state},     {"Phase", focus_phase}, {"Iteration", focus_iteration},
                   {"Time", focus_time}};

/* Adds a path to the name of the row that all of them make, if it is one. */
static void name_part(struct asked *asked, const char *hierarchy, const char *path)
{
    if (*asked->whole)
        text_append(asked->whole, sizeof asked->whole, " ");
    text_append(asked->whole, sizeof asked->whole, "%s%s", hierarchy, path);
}

/* "/Machine/0-3": its words. */
static enum status take_path(struct asked *asked, char *path)
{
    enum { WORDS = 8 };
    char *word[WORDS], *rest;
    size_t count = 0;
    name_part(asked, "", path); /* before strtok_r cuts it */
    for (char *at = strtok_r(path, "/", &rest); at && count < WORDS; at = strtok_r(NULL, "/", &rest))
        word[count++] = at;
    for (size_t i = 0; count > 0 && i < sizeof hierarchies / sizeof *hierarchies; i++)
        if (strcmp(hierarchies[i].name, word[0]) == 0)
            return hierarchies[i].take(asked, word + 1, count - 1);
    if (count == 0)
        return STATUS_OK;
    return error_set(asked->err, ERROR_USAGE,
                     "focus: '/%s' is none of /Machine, /Code, /SyncObject, /State, /Phase, /Iteration and /Time",
                     word[0]);
}

/* Paths end where blanks, or a comma, and "/" follow: names may have blanks. */
static size_t path_length(const char *text)
{
    for (size_t at = 1;; at++) {
        size_t blanks = strspn(text + at, " ,\t\n");
        if (!text[at + blanks] || (blanks > 0 && text[at + blanks] == '/'))
            return at;
    }
}

static enum status take_focus(struct asked *asked, const char *text)
{
    enum status status = STATUS_OK;
    text += strspn(text, " ,\t\n");
    while (*text && status == STATUS_OK) {
        if (*text != '/')
            return error_set(asked->err, ERROR_USAGE, "focus: '%s' does not begin with /", text);
        size_t length = path_length(text);
        char *path = memory_new(length + 1);
        memcpy(path, text, length);
        status = take_path(asked, path);
        free(path);
        text += length;
        text += strspn(text, " ,\t\n");
    }
    return status;
}

static enum status take_phase(struct asked *asked, char *name)
{
    name += strspn(name, " \t\n");
    size_t length = strlen(name);
    while (length > 0 && strchr(" \t\n", name[length - 1]))
        name[--length] = '\0';
    name_part(asked, "/Phase/", name);
    return focus_phase(asked, &name, 1);
}

/* The cube that the metrics need. */
static void make_cube(struct asked *asked)
{
    const struct question *question = asked->question;
    /* Some metrics need all calls to be compared across processes: only if one is asked for. */
    bool uses[METRIC_COUNT] = {false};
    for (unsigned metric = 0; metric < METRIC_COUNT; metric++)
        for (size_t i = 0; i < asked->answer->metric_count; i++)
            uses[metric] = uses[metric] || expression_uses(&asked->metrics[i], metric);
    asked->cube =
        cube_new(question->graph, question->states, question->phases, uses[METRIC_alone] || uses[METRIC_serial], true);
    asked->focus = cube_focus_whole();
    memcpy(asked->focus.uses, uses, sizeof uses);
}

static enum status understand(struct asked *asked, char *text)
{
    char *focus = strchr(text, '@'), *phase = NULL;
    if (focus) {
        *focus++ = '\0';
        phase = strchr(focus, '@');
    }
    if (phase)
        *phase++ = '\0';
    if (take_metrics(asked, text) != STATUS_OK)
        return STATUS_FAILED;
    make_cube(asked);
    if (focus && take_focus(asked, focus) != STATUS_OK)
        return STATUS_FAILED;
    if (phase && take_phase(asked, phase) != STATUS_OK)
        return STATUS_FAILED;
    if (asked->equal_parts && asked->focus.key[AXIS_PHASES] != CUBE_ANY)
        return error_set(asked->err, ERROR_USAGE, "focus: /Time and a phase do not go together");
    return STATUS_OK;
}

/* Answers. */

static void path_of_key(const struct asked *asked, uint32_t key, char path[WORD_SIZE])
{
    const struct defs *defs = asked->question->graph->defs;
    char site[WORD_SIZE];
    switch (asked->divided) {
    case AXIS_PROCESSES:
        snprintf(path, WORD_SIZE, "/Machine/%u", asked->cube->ranks[key]);
        break;
    case AXIS_FUNCTIONS:
        snprintf(path, WORD_SIZE, "/Code/%s/%s", function_class_name(defs->states[key].class), defs->states[key].name);
        break;
    case AXIS_SITES:
        site_word(&defs->sites[key], site);
        snprintf(path, WORD_SIZE, "/Code/site/%.*s", WORD_SIZE - 12, site);
        break;
    case AXIS_COMMUNICATORS:
        snprintf(path, WORD_SIZE, "/SyncObject/%d", defs->comms[key].id);
        break;
    case AXIS_TAGS:
        snprintf(path, WORD_SIZE, "/SyncObject/%d/%d", defs->comms[asked->focus.key[AXIS_COMMUNICATORS]].id,
                 asked->cube->tags[key]);
        break;
    case AXIS_STATES:
        snprintf(path, WORD_SIZE, "/State/%s", defs->states[key].name);
        break;
    case AXIS_PHASES:
        if (asked->equal_parts)
            snprintf(path, WORD_SIZE, "/Time/%u", key);
        else
            snprintf(path, WORD_SIZE, "/Phase/%s", asked->question->phases->phase[key].name);
        break;
    default:
        snprintf(path, WORD_SIZE, "/Iteration/%zu", key * larger(asked->cube->block, 1));
        break;
    }
}

static void add_row(struct asked *asked, const char *path, enum search_axis axis, const struct cube_cell *cell)
{
    struct answer *answer = asked->answer;
    double values[METRIC_COUNT];
    size_t row = answer->row_count++;
    cube_values(asked->cube, &asked->focus, axis, cell, values, NULL);
    answer->foci = memory_resize(answer->foci, answer->row_count * sizeof *answer->foci);
    answer->foci[row] = memory_copy_string(path);
    answer->values = memory_resize(answer->values, answer->row_count * answer->metric_count * sizeof *answer->values);
    for (size_t i = 0; i < answer->metric_count; i++) {
        double *value = &answer->values[row * answer->metric_count + i];
        if (!expression_value(&asked->metrics[i], values, value))
            *value = NAN;
    }
}

static bool is_of_class(const struct asked *asked, uint32_t state)
{
    return asked->class < 0 || asked->question->graph->defs->states[state].class == (enum function_class)asked->class;
}

static void add_divided(struct asked *asked)
{
    const struct cube_table *table = &asked->focus.table[asked->divided];
    asked->answer->cut = table->overflow;
    for (size_t i = 0; i < table->count; i++) {
        char path[WORD_SIZE];
        if (asked->divided == AXIS_FUNCTIONS && !is_of_class(asked, table->cells[i].key))
            continue;
        path_of_key(asked, table->cells[i].key, path);
        add_row(asked, path, asked->divided, &table->cells[i]);
    }
}

/* All functions of a class together. */
static void add_class(struct asked *asked)
{
    const struct cube_table *table = &asked->focus.table[AXIS_FUNCTIONS];
    struct cube_cell sum = {0};
    for (size_t i = 0; i < table->count; i++)
        if (is_of_class(asked, table->cells[i].key))
            cube_cell_add(AXIS_FUNCTIONS, &sum, &table->cells[i]);
    add_row(asked, asked->whole, AXIS_FUNCTIONS, &sum);
}

static enum status ask(struct asked *asked, unsigned threads)
{
    /* A class has no key of its own: it is the sum of the rows of its functions. */
    bool class = asked->class >= 0 && asked->divided != AXIS_FUNCTIONS;
    if (class && asked->divided != AXIS_WHY)
        return error_set(asked->err, ERROR_USAGE, "focus: a class of functions has one row");
    asked->focus.wanted[AXIS_FUNCTIONS] = asked->focus.wanted[AXIS_FUNCTIONS] || class;
    cube_ask(asked->cube, &asked->focus, 1, threads);
    if (class)
        add_class(asked);
    else if (asked->divided != AXIS_WHY)
        add_divided(asked);
    else if (*asked->whole)
        add_row(asked, asked->whole, AXIS_WHY, &asked->focus.total);
    else
        add_row(asked, "/", AXIS_WHY, &asked->focus.total);
    cube_focus_clear(&asked->focus);
    return STATUS_OK;
}

enum status question_ask(struct question *question, const char *text, unsigned threads, struct answer *answer,
                         struct error *err)
{
    struct asked asked = {.question = question, .err = err, .answer = answer, .class = -1};
    char *copy = memory_copy_string(text); /* understand() cuts it into pieces */
    *answer = (struct answer){0};
    enum status status = understand(&asked, copy);
    if (status == STATUS_OK)
        status = ask(&asked, threads);
    if (asked.cube)
        cube_free(asked.cube);
    free(asked.metrics);
    free(asked.rows);
    free(asked.iterations);
    free(asked.borders);
    free(copy);
    if (status != STATUS_OK)
        answer_clear(answer);
    return status;
}

void answer_clear(struct answer *answer)
{
    for (size_t i = 0; i < answer->metric_count; i++)
        free(answer->metrics[i]);
    for (size_t i = 0; i < answer->row_count; i++)
        free(answer->foci[i]);
    free(answer->metrics);
    free(answer->units);
    free(answer->foci);
    free(answer->values);
    *answer = (struct answer){0};
}
