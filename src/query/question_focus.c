/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/question_focus.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

/* More equal parts than this are more rows than anybody reads, and each has times for each process. */
enum { PARTS_MOST = 1000 };

struct asked_focus focus_new(const struct graph *graph, const struct phases *phases, struct cube *cube)
{
    return (struct asked_focus){
        .graph = graph, .phases = phases, .cube = cube, .focus = cube_focus_whole(), .divided = AXIS_WHY};
}

void focus_clear(struct asked_focus *asked)
{
    free(asked->rows);
    free(asked->iterations);
    free(asked->functions);
    free(asked->borders);
    *asked = (struct asked_focus){0};
}

static enum status unknown(const struct asked_focus *asked, const char *what, const char *word)
{
    return error_set(asked->err, ERROR_USAGE, "focus: there is no %s '%s' (sight resources lists them)", what, word);
}

/* Asks for a row for each value of the axis. The cube has a table for each axis, not for their combinations; processes
   can have a focus each. */
static enum status divide(struct asked_focus *asked, enum search_axis axis)
{
    if (axis == AXIS_PROCESSES) {
        asked->by_process = true;
        return STATUS_OK;
    }
    if (asked->divided != AXIS_WHY)
        return error_set(asked->err, ERROR_USAGE,
                         "focus: besides /Machine only one path can have a row for each value");
    asked->divided = axis;
    return STATUS_OK;
}

static enum status narrow(struct asked_focus *asked, enum search_axis axis, uint32_t key)
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

/* Calls of the functions of a class. */
static void narrow_to_class(struct asked_focus *asked, int class)
{
    const struct defs *defs = asked->graph->defs;
    free(asked->functions);
    asked->functions = memory_new(defs->state_count * sizeof *asked->functions);
    for (size_t i = 0; i < defs->state_count; i++)
        asked->functions[i] = defs->states[i].class == (enum function_class) class;
    asked->focus.functions = asked->functions;
}

/* The processes of a list, or of a host. */
static bool mark_processes(const struct asked_focus *asked, const char *word, bool *marked, size_t count)
{
    const struct defs *defs = asked->graph->defs;
    bool host = false;
    for (size_t i = 0; i < defs->location_count; i++)
        if (defs->locations[i].host && strcmp(defs->locations[i].host, word) == 0 && defs->locations[i].process < count)
            host = marked[defs->locations[i].process] = true;
    return host || parse_list(word, marked, count);
}

static enum status focus_machine(struct asked_focus *asked, char *const *word, size_t count)
{
    const struct cube *cube = asked->cube;
    if (count == 0)
        return STATUS_OK;
    if (count > 2 || (count == 2 && strcmp(word[1], "*") != 0))
        return unknown(asked, "process", word[count - 1]);
    if (strcmp(word[count - 1], "*") == 0)
        (void)divide(asked, AXIS_PROCESSES); /* cannot fail: it only asks for rows */
    if (strcmp(word[0], "*") == 0)
        return STATUS_OK;
    /* Ranks are ascending and may have gaps: metrics of a part of the processes. */
    size_t ranks = 0, found = 0;
    if (cube->row_count > 0)
        ranks = cube->ranks[cube->row_count - 1] + 1;
    bool *marked = memory_new(ranks);
    bool except = *word[0] == '!';
    bool good = word[0][except] && mark_processes(asked, word[0] + except, marked, ranks);
    free(asked->rows);
    asked->rows = memory_new(cube->row_count * sizeof *asked->rows);
    for (uint32_t i = 0; good && i < cube->row_count; i++)
        if (marked[cube->ranks[i]] != except)
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

/* "!MPI_Recv" and "!collective": calls of all functions but these. */
static enum status focus_code_except(struct asked_focus *asked, const char *name)
{
    const struct defs *defs = asked->graph->defs;
    int class = class_find(name);
    int32_t state = defs_find_state(defs, name);
    if (class < 0 && state < 0)
        return unknown(asked, "function", name);
    free(asked->functions);
    asked->functions = memory_new(defs->state_count * sizeof *asked->functions);
    for (size_t i = 0; i < defs->state_count; i++)
        asked->functions[i] = class >= 0 ? defs->states[i].class != (enum function_class) class
                                         : (int32_t)defs->states[i].first_of_name != state;
    asked->focus.functions = asked->functions;
    return STATUS_OK;
}

/* "sort.c:88", as sight resources writes it: without the directory, which a path of words cannot have. */
static void site_word(const struct site_def *site, char word[FOCUS_PATH_SIZE])
{
    const char *slash = strrchr(site->file, '/');
    snprintf(word, FOCUS_PATH_SIZE, "%s:%d", slash ? slash + 1 : site->file, site->line);
}

static enum status focus_site(struct asked_focus *asked, const char *word)
{
    const struct defs *defs = asked->graph->defs;
    if (strcmp(word, "*") == 0)
        return divide(asked, AXIS_SITES);
    for (uint32_t i = 0; i < defs->site_count; i++) {
        char name[FOCUS_PATH_SIZE];
        site_word(&defs->sites[i], name);
        if (strcmp(name, word) == 0)
            return narrow(asked, AXIS_SITES, i);
    }
    return unknown(asked, "place", word);
}

static enum status focus_code(struct asked_focus *asked, char *const *word, size_t count)
{
    const struct defs *defs = asked->graph->defs;
    if (count == 0)
        return STATUS_OK;
    if (strcmp(word[0], "site") == 0 && count == 2)
        return focus_site(asked, word[1]);
    if (count == 1 && *word[0] == '!')
        return focus_code_except(asked, word[0] + 1);
    int class = class_find(word[0]);
    const char *name = word[count - 1];
    if (count > 2 || (count == 2 && class < 0))
        return unknown(asked, "class of functions", word[0]);
    /* A class alone is one row, its functions together; with * it is a row for each of them. */
    if (class >= 0 && (count == 1 || strcmp(name, "*") == 0))
        narrow_to_class(asked, class);
    if (strcmp(name, "*") == 0)
        return divide(asked, AXIS_FUNCTIONS);
    if (count == 1 && class >= 0)
        return STATUS_OK;
    int32_t state = defs_find_state(defs, name);
    if (state < 0)
        return unknown(asked, "function", name);
    return narrow(asked, AXIS_FUNCTIONS, (uint32_t)state);
}

static enum status focus_tag(struct asked_focus *asked, const char *word)
{
    int64_t tag;
    if (strcmp(word, "*") == 0)
        return divide(asked, AXIS_TAGS);
    for (uint32_t i = 0; text_parse_i64(word, INT32_MIN, INT32_MAX, &tag) && i < asked->cube->tag_count; i++)
        if (asked->cube->tags[i] == tag)
            return narrow(asked, AXIS_TAGS, i);
    return unknown(asked, "tag", word);
}

static enum status focus_sync(struct asked_focus *asked, char *const *word, size_t count)
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
        comm = defs_find_comm(asked->graph->defs, (int32_t)id);
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

static enum status focus_state(struct asked_focus *asked, char *const *word, size_t count)
{
    if (count != 1)
        return unknown(asked, "state", second_of(word, count));
    if (strcmp(word[0], "*") == 0)
        return divide(asked, AXIS_STATES);
    int32_t state = defs_find_state(asked->graph->defs, word[0]);
    if (state < 0)
        return unknown(asked, "state", word[0]);
    return narrow(asked, AXIS_STATES, (uint32_t)state);
}

static enum status focus_phase(struct asked_focus *asked, char *const *word, size_t count)
{
    const struct phases *phases = asked->phases;
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

static enum status focus_iteration(struct asked_focus *asked, char *const *word, size_t count)
{
    size_t parts = asked->cube->iterations.count;
    if (count != 1 || parts == 0)
        return unknown(asked, "iteration", count ? word[count - 1] : "");
    if (strcmp(word[0], "*") == 0)
        return divide(asked, AXIS_ITERATIONS);
    bool *marked = memory_new(parts);
    /* Of very many iterations a cube has blocks: single ones cannot be asked for. */
    asked->focus.iteration_count = 0;
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
static enum status focus_time(struct asked_focus *asked, char *const *word, size_t count)
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
    enum status (*take)(struct asked_focus *asked, char *const *word, size_t count);
} hierarchies[] = {{"Machine", focus_machine}, {"Code", focus_code},   {"SyncObject", focus_sync},
                   {"State", focus_state},     {"Phase", focus_phase}, {"Iteration", focus_iteration},
                   {"Time", focus_time}};

/* Adds a path to the name of the row that all of them make, if it is one. */
static void name_part(struct asked_focus *asked, const char *hierarchy, const char *path)
{
    if (*asked->whole)
        text_append(asked->whole, sizeof asked->whole, " ");
    text_append(asked->whole, sizeof asked->whole, "%s%s", hierarchy, path);
}

/* "/Machine/0-3": its words. */
static enum status take_path(struct asked_focus *asked, char *path)
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

enum status focus_take(struct asked_focus *asked, const char *text, struct error *err)
{
    enum status status = STATUS_OK;
    asked->err = err;
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

enum status focus_take_phase(struct asked_focus *asked, const char *name, struct error *err)
{
    name += strspn(name, " \t\n");
    size_t length = strlen(name);
    while (length > 0 && strchr(" \t\n", name[length - 1]))
        length--;
    char *word = memory_new(length + 1);
    memcpy(word, name, length);
    asked->err = err;
    name_part(asked, "/Phase/", word);
    enum status status = focus_phase(asked, &word, 1);
    free(word);
    return status;
}

/* Numbers of both lists, in the place of the first. */
static size_t common(uint32_t *numbers, size_t count, const uint32_t *others, size_t other_count)
{
    size_t kept = 0;
    for (size_t i = 0, k = 0; i < count; i++) {
        while (k < other_count && others[k] < numbers[i])
            k++;
        if (k < other_count && others[k] == numbers[i])
            numbers[kept++] = numbers[i];
    }
    return kept;
}

/* A list narrowed by another: that of both, or the other where there was none. */
static void meet_list(uint32_t **list, const uint32_t **used, size_t *count, const uint32_t *others, size_t other_count)
{
    if (!others)
        return;
    if (*used) {
        *count = common(*list, *count, others, other_count);
        return;
    }
    *list = memory_new((other_count + 1) * sizeof **list);
    memcpy(*list, others, other_count * sizeof **list);
    *used = *list;
    *count = other_count;
}

static void meet_functions(struct asked_focus *asked, const struct asked_focus *other)
{
    size_t count = asked->graph->defs->state_count;
    if (!other->functions)
        return;
    bool *functions = memory_new(count * sizeof *functions);
    for (size_t i = 0; i < count; i++)
        functions[i] = other->functions[i] && (!asked->functions || asked->functions[i]);
    free(asked->functions);
    asked->focus.functions = asked->functions = functions;
}

void focus_meet(struct asked_focus *asked, const struct asked_focus *other)
{
    struct cube_focus *focus = &asked->focus;
    bool nothing = false;
    for (int axis = 0; axis < SEARCH_AXIS_COUNT; axis++) {
        uint32_t key = other->focus.key[axis];
        nothing = nothing || (key != CUBE_ANY && focus->key[axis] != CUBE_ANY && focus->key[axis] != key);
        if (key != CUBE_ANY)
            focus->key[axis] = key;
    }
    meet_functions(asked, other);
    meet_list(&asked->iterations, &focus->iterations, &focus->iteration_count, other->focus.iterations,
              other->focus.iteration_count);
    meet_list(&asked->rows, &focus->rows, &focus->row_count, other->focus.rows, other->focus.row_count);
    if (!nothing)
        return;
    /* Two values of an axis have nothing in common: that is a focus without processes. */
    if (!asked->rows)
        asked->rows = memory_new(sizeof *asked->rows);
    focus->rows = asked->rows;
    focus->row_count = 0;
}

void focus_path_of_key(const struct asked_focus *asked, uint32_t key, char path[FOCUS_PATH_SIZE])
{
    const struct defs *defs = asked->graph->defs;
    char site[FOCUS_PATH_SIZE];
    switch (asked->divided) {
    case AXIS_FUNCTIONS:
        snprintf(path, FOCUS_PATH_SIZE, "/Code/%s/%s", function_class_name(defs->states[key].class),
                 defs->states[key].name);
        break;
    case AXIS_SITES:
        site_word(&defs->sites[key], site);
        snprintf(path, FOCUS_PATH_SIZE, "/Code/site/%.*s", FOCUS_PATH_SIZE - 12, site);
        break;
    case AXIS_COMMUNICATORS:
        snprintf(path, FOCUS_PATH_SIZE, "/SyncObject/%d", defs->comms[key].id);
        break;
    case AXIS_TAGS:
        snprintf(path, FOCUS_PATH_SIZE, "/SyncObject/%d/%d", defs->comms[asked->focus.key[AXIS_COMMUNICATORS]].id,
                 asked->cube->tags[key]);
        break;
    case AXIS_STATES:
        snprintf(path, FOCUS_PATH_SIZE, "/State/%s", defs->states[key].name);
        break;
    case AXIS_PHASES:
        if (asked->equal_parts)
            snprintf(path, FOCUS_PATH_SIZE, "/Time/%u", key);
        else
            snprintf(path, FOCUS_PATH_SIZE, "/Phase/%s", asked->phases->phase[key].name);
        break;
    default:
        snprintf(path, FOCUS_PATH_SIZE, "/Iteration/%zu", key * larger(asked->cube->block, 1));
        break;
    }
}
