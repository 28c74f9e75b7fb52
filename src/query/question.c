/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/question.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "phases/phases.h"
#include "query/question_focus.h"
#include "search/state_track.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct question {
    struct reader *reader;
    struct graph *graph;
    struct state_track *states;
    struct user_spans *spans;
    struct phases *phases;
    struct counters *counters;    /* NULL: not read */
    struct definitions *formulas; /* of them; NULL: they are not read */
};

static struct counters_builder *counting(const struct question *question, const struct engine_request *request,
                                         struct counter_choice **choices)
{
    struct counters_select select = {.choices = request->counters, .choice_count = request->counter_count};
    *choices = NULL;
    if (question->formulas && select.choice_count == 0)
        select.choices = *choices = formulas_choices(question->formulas, &select.choice_count);
    return counters_builder_new(&select);
}

static enum status read_events(struct question *question, const struct engine_request *request, struct error *err)
{
    struct graph_builder *graph = graph_builder_new();
    struct user_spans_builder *spans = user_spans_builder_new();
    struct state_track_builder *states = state_track_builder_new();
    struct counter_choice *choices;
    struct counters_builder *counters = counting(question, request, &choices);
    /* One pass for all: the reader may be a pipe. */
    struct sink *sinks[] = {graph_builder_sink(graph), user_spans_builder_sink(spans), state_track_builder_sink(states),
                            counters_builder_sink(counters)};
    enum status status = engine_stream(request, question->reader, sinks, question->formulas ? 4 : 3, err);
    question->counters = counters_builder_end(counters);
    free(choices);
    question->graph = graph_builder_end(graph);
    question->spans = user_spans_builder_end(spans);
    question->states = state_track_builder_end(states);
    /* Without a graph nothing that is asked for could be answered. */
    if (status == STATUS_OK && question->graph->too_large)
        return error_set(err, ERROR_INPUT, "%s: has more calls than can be looked at together", request->inputs[0]);
    return status;
}

struct question *question_new(const struct engine_request *request, bool counters, struct error *err)
{
    struct question *question = memory_new(sizeof *question);
    if (counters)
        question->formulas = formulas_read(NULL, err);
    if (counters && !question->formulas) {
        question_free(question);
        return NULL;
    }
    question->reader = engine_open(request, err);
    if (!question->reader || read_events(question, request, err) != STATUS_OK) {
        question_free(question);
        return NULL;
    }
    /* Phases are values of an axis: every question may name one. */
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
    counters_free(question->counters);
    definitions_free(question->formulas);
    graph_free(question->graph);
    reader_close(question->reader);
    free(question);
}

const struct trace_end *question_end(const struct question *question)
{
    /* Complete once the trace was read, which the question's making did. */
    return &question->reader->end;
}

/* What a cube is asked for on account of a metric: the focus of the question, that of the metric's constraint as well,
   and each process for itself where they have rows of their own, or are to be aggregated. */
struct variant {
    const char *constraint; /* NULL: none */
    bool apart;             /* a focus for each process */
    struct asked_focus narrow;
    size_t first, count; /* of the foci */
};

/* A question that is being understood. */
struct asked {
    const struct question *question;
    struct error *err;
    struct answer *answer;
    struct question_metrics *known; /* besides those of metrics.def */
    struct cube_meter *meter;
    struct expression *metrics;
    bool uses[METRIC_COUNT + QUESTION_METRICS];
    struct cube *cube;
    struct asked_focus focus;
    enum search_axis axis;    /* that has a row for each value: AXIS_WHY: none */
    bool product;             /* each row for each process, too */
    struct variant *variants; /* the first is that of the question alone */
    size_t variant_count, variant_capacity;
    size_t variant_of[QUESTION_METRICS];
    struct cube_focus *foci;
    size_t focus_count;
    uint32_t *rows; /* processes of the question */
    size_t row_count;
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

/* The user's metric that the expression is, by its name alone; NULL: it is computed, or one of ours. */
static const struct definition *definition_of(const struct asked *asked, const struct expression *expression)
{
    const struct expression_step *step = expression->steps;
    if (expression->count != 1 || step->op != 'm' || step->metric < METRIC_COUNT)
        return NULL;
    return asked->known->list[step->metric - METRIC_COUNT].definition;
}

/* How values of the next metric are shown and judged. */
static void take_looks(struct answer *answer, const char *name, const struct definition *definition)
{
    size_t count = answer->metric_count + 1;
    answer->percent = memory_resize(answer->percent, count * sizeof *answer->percent);
    answer->limits = memory_resize(answer->limits, count * sizeof *answer->limits);
    answer->percent[count - 1] = definition && definition->percent;
    answer->higher = memory_resize(answer->higher, count * sizeof *answer->higher);
    answer->higher[count - 1] = definition && definition->higher;
    answer->titles = memory_resize(answer->titles, count * sizeof *answer->titles);
    answer->titles[count - 1] = memory_copy_string(definition ? definition->title : name);
    for (size_t i = 0; i < 2; i++) {
        answer->limits[count - 1][i] = NAN;
        if (definition)
            answer->limits[count - 1][i] = definition->limits[i];
    }
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
        if (expression_parse(&expression, word, &asked->known->names, "query", asked->err) != STATUS_OK) {
            free(word);
            /* The words are the user's, wherever the fault was found. */
            asked->err->kind = ERROR_USAGE;
            return STATUS_FAILED;
        }
        asked->metrics = memory_resize(asked->metrics, (answer->metric_count + 1) * sizeof *asked->metrics);
        asked->metrics[answer->metric_count] = expression;
        answer->units = memory_resize(answer->units, (answer->metric_count + 1) * sizeof *answer->units);
        answer->units[answer->metric_count] = expression.unit;
        take_looks(answer, word, definition_of(asked, &expression));
        ARRAY_PUSH(answer->metrics, answer->metric_count, capacity, word);
        if (!text[length])
            return STATUS_OK;
        text += length + 1;
    }
}

/* The cube that the metrics need. */

static void find_uses(struct asked *asked)
{
    for (unsigned metric = 0; metric < METRIC_COUNT + QUESTION_METRICS; metric++)
        for (size_t i = 0; i < asked->answer->metric_count; i++)
            /* A cube adds up only what is used: some metrics are costly. */
            asked->uses[metric] = asked->uses[metric] || expression_uses(&asked->metrics[i], metric);
    for (size_t k = 0; k < asked->known->names.count; k++)
        for (unsigned metric = 0; asked->uses[METRIC_COUNT + k] && metric < METRIC_COUNT; metric++)
            asked->uses[metric] =
                asked->uses[metric] || expression_uses(&asked->known->list[k].definition->base, metric);
}

/* Counters of the metrics that are used. */
static enum status make_meter(struct asked *asked)
{
    struct question_metrics *known = asked->known;
    for (size_t k = 0; k < known->names.count; k++)
        if (asked->uses[METRIC_COUNT + k] && !question_metrics_use(known, k))
            return error_set(asked->err, ERROR_USAGE, "a question can be about %d counters at most", METER_COUNTERS);
    if (known->slot_count > 0)
        asked->meter = cube_meter_new(asked->question->graph, known->counters, known->slots);
    asked->cube->meter = asked->meter;
    return STATUS_OK;
}

static void make_cube(struct asked *asked)
{
    const struct question *question = asked->question;
    find_uses(asked);
    /* Some metrics need all calls to be compared across processes: only if one is asked for. */
    asked->cube = cube_new(question->graph, question->states, question->phases,
                           asked->uses[METRIC_alone] || asked->uses[METRIC_serial], true);
    asked->focus = focus_new(question->graph, question->phases, asked->cube);
}

/* Variants. */

static enum status constrain(struct asked *asked, struct variant *variant, const struct definition *definition)
{
    struct asked_focus inner = focus_new(asked->question->graph, asked->question->phases, asked->cube);
    /* Its own error: the words of the constraint are put before it. */
    struct error err = {0};
    enum status status = focus_take(&inner, variant->constraint, &err);
    if (status == STATUS_OK && (inner.by_process || inner.divided != AXIS_WHY))
        status = error_set(&err, ERROR_USAGE, "a constraint cannot have rows");
    else if (status == STATUS_OK && asked->focus.equal_parts && inner.focus.key[AXIS_PHASES] != CUBE_ANY)
        status = error_set(&err, ERROR_USAGE, "/Time and a phase do not go together");
    if (status != STATUS_OK)
        (void)error_set(asked->err, ERROR_USAGE, "%s: constraint of '%s': %s", definition->where, definition->name,
                        err.text);
    focus_meet(&variant->narrow, &inner);
    focus_clear(&inner);
    return status;
}

/* The variant of a constraint, added if there is none yet. */
static enum status add_variant(struct asked *asked, const struct definition *definition, size_t *index)
{
    const char *constraint = definition ? definition->constraint : NULL;
    bool aggregated = definition && definition->aggregate != AGGREGATE_SUM && asked->axis != AXIS_PROCESSES;
    /* A mean, least or most needs the value of each process. */
    bool apart = asked->product || aggregated;
    for (*index = 0; *index < asked->variant_count; (*index)++) {
        const struct variant *known = &asked->variants[*index];
        if (known->apart == apart && (known->constraint == constraint ||
                                      (constraint && known->constraint && !strcmp(constraint, known->constraint))))
            return STATUS_OK;
    }
    struct variant variant = {.constraint = constraint, .apart = apart};
    variant.narrow = focus_new(asked->question->graph, asked->question->phases, asked->cube);
    focus_meet(&variant.narrow, &asked->focus);
    enum status status = constraint ? constrain(asked, &variant, definition) : STATUS_OK;
    ARRAY_PUSH(asked->variants, asked->variant_count, asked->variant_capacity, variant);
    return status;
}

static enum status find_variants(struct asked *asked)
{
    size_t index;
    asked->axis = asked->focus.divided;
    asked->product = asked->focus.by_process && asked->axis != AXIS_WHY;
    if (asked->focus.by_process && !asked->product)
        asked->axis = AXIS_PROCESSES;
    if (add_variant(asked, NULL, &index) != STATUS_OK)
        return STATUS_FAILED;
    for (size_t k = 0; k < asked->known->names.count; k++)
        if (asked->uses[METRIC_COUNT + k] &&
            add_variant(asked, asked->known->list[k].definition, &asked->variant_of[k]) != STATUS_OK)
            return STATUS_FAILED;
    return STATUS_OK;
}

static void list_rows(struct asked *asked)
{
    const struct cube_focus *focus = &asked->focus.focus;
    asked->row_count = focus->rows ? focus->row_count : asked->cube->row_count;
    /* One more, as memory of no size is none. */
    asked->rows = memory_new((asked->row_count + 1) * sizeof *asked->rows);
    for (uint32_t i = 0; i < asked->row_count; i++)
        asked->rows[i] = focus->rows ? focus->rows[i] : i;
}

static bool is_in(const struct cube_focus *focus, uint32_t row)
{
    return !focus->rows || is_among(row, focus->rows, focus->row_count);
}

/* All foci are asked in one pass over the calls. */
static void ask_foci(struct asked *asked, unsigned threads)
{
    for (size_t i = 0; i < asked->variant_count; i++) {
        struct variant *variant = &asked->variants[i];
        variant->first = asked->focus_count;
        variant->count = variant->apart ? asked->row_count : 1;
        asked->focus_count += variant->count;
    }
    asked->foci = memory_new(asked->focus_count * sizeof *asked->foci);
    for (size_t i = 0; i < asked->variant_count; i++) {
        const struct variant *variant = &asked->variants[i];
        for (size_t k = 0; k < variant->count; k++) {
            struct cube_focus *focus = &asked->foci[variant->first + k];
            *focus = variant->narrow.focus;
            memcpy(focus->uses, asked->uses, sizeof focus->uses); /* the first METRIC_COUNT */
            focus->wanted[asked->axis] = asked->axis != AXIS_WHY;
            if (!variant->apart)
                continue;
            focus->rows = &asked->rows[k];
            /* A process that the constraint leaves out has a focus without rows, which is worth nothing. */
            focus->row_count = is_in(&variant->narrow.focus, asked->rows[k]);
        }
    }
    cube_ask(asked->cube, asked->foci, asked->focus_count, threads);
}

/* Values. */

/* The part of a focus with this key; what nothing happened in is all zero. */
static struct cube_cell cell_of(const struct asked *asked, const struct cube_focus *focus, uint32_t key)
{
    const struct cube_table *table = &focus->table[asked->axis];
    if (asked->axis == AXIS_WHY)
        return focus->total;
    for (size_t low = 0, high = table->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (table->cells[middle].key == key)
            return table->cells[middle];
        if (table->cells[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return (struct cube_cell){.key = key};
}

static double base_value(const struct asked *asked, size_t which, const struct cube_focus *focus, uint32_t key)
{
    double values[METRIC_COUNT + DEFINITIONS_MOST], value;
    struct cube_cell cell = cell_of(asked, focus, key);
    cube_values(asked->cube, focus, asked->axis, &cell, values, NULL);
    question_metrics_values(asked->known, which, &cell, values);
    return expression_value(&asked->known->list[which].definition->base, values, &value) ? value : NAN;
}

/* Of the values of the processes that have one. */
static double aggregated(const struct asked *asked, size_t which, const struct variant *variant, uint32_t key)
{
    enum aggregate aggregate = asked->known->list[which].definition->aggregate;
    double sum = 0, least = INFINITY, most = -INFINITY;
    size_t count = 0;
    for (size_t i = 0; i < variant->count; i++) {
        const struct cube_focus *focus = &asked->foci[variant->first + i];
        double value = focus->row_count > 0 ? base_value(asked, which, focus, key) : NAN;
        if (isnan(value))
            continue;
        sum += value;
        least = fmin(least, value);
        most = fmax(most, value);
        count++;
    }
    /* No process has a value: then there is none. */
    if (count == 0)
        return NAN;
    if (aggregate == AGGREGATE_MEAN)
        return sum / (double)count;
    return aggregate == AGGREGATE_MIN ? least : most;
}

/* `process`: which of the rows; of a product. */
static double own_value(const struct asked *asked, size_t which, size_t process, uint32_t key)
{
    const struct variant *variant = &asked->variants[asked->variant_of[which]];
    if (variant->apart && !asked->product)
        return aggregated(asked, which, variant, key);
    return base_value(asked, which, &asked->foci[variant->first + (variant->apart ? process : 0)], key);
}

static void row_values(const struct asked *asked, size_t process, uint32_t key, double *row)
{
    double values[METRIC_COUNT + QUESTION_METRICS];
    const struct cube_focus *focus = &asked->foci[asked->product ? process : 0];
    struct cube_cell cell = cell_of(asked, focus, key);
    cube_values(asked->cube, focus, asked->axis, &cell, values, NULL);
    for (size_t k = 0; k < asked->known->names.count; k++)
        if (asked->uses[METRIC_COUNT + k])
            values[METRIC_COUNT + k] = own_value(asked, k, process, key);
    for (size_t i = 0; i < asked->answer->metric_count; i++)
        if (!expression_value(&asked->metrics[i], values, &row[i]))
            row[i] = NAN;
}

/* Rows of the answer. */

/* "/Machine/3 /Phase/solve". */
static char *row_path(const struct asked *asked, uint32_t rank, uint32_t key)
{
    char path[FOCUS_PATH_SIZE] = "", *text = NULL;
    if (asked->focus.divided != AXIS_WHY)
        focus_path_of_key(&asked->focus, key, path);
    else if (rank == ANSWER_ALL)
        return memory_copy_string(*asked->focus.whole ? asked->focus.whole : "/");
    if (rank == ANSWER_ALL)
        return memory_copy_string(path);
    if (asprintf(&text, "/Machine/%u%s%s", rank, *path ? " " : "", path) < 0)
        return memory_copy_string(path);
    return text;
}

static void add_row(struct asked *asked, size_t process, uint32_t key)
{
    struct answer *answer = asked->answer;
    size_t row = answer->row_count++;
    uint32_t rank = ANSWER_ALL;
    /* A row of a product has a process and a key, one by process only a process. */
    if (asked->product)
        rank = asked->cube->ranks[asked->rows[process]];
    else if (asked->axis == AXIS_PROCESSES)
        rank = asked->cube->ranks[key];
    uint32_t number = key;
    /* Of very many iterations, each key stands for several: its number is that of the first. */
    if (asked->axis == AXIS_ITERATIONS && key != CUBE_ANY)
        number = key * (uint32_t)larger(asked->cube->block, (size_t)1);
    size_t capacity = answer->row_capacity;
    ARRAY_RESERVE(answer->rows, answer->row_capacity, answer->row_count);
    if (answer->row_capacity > capacity)
        answer->values =
            memory_resize(answer->values, answer->row_capacity * answer->metric_count * sizeof *answer->values);
    answer->rows[row] = (struct answer_row){.focus = row_path(asked, rank, key), .rank = rank, .key = number};
    row_values(asked, process, key, &answer->values[row * answer->metric_count]);
}

static void add_rows(struct asked *asked)
{
    size_t count = asked->product ? asked->row_count : 1;
    for (size_t process = 0; process < count; process++) {
        const struct cube_table *table = &asked->foci[process].table[asked->axis];
        /* Not divided: one row for all, or for each process. */
        if (asked->axis == AXIS_WHY) {
            add_row(asked, process, CUBE_ANY);
            continue;
        }
        asked->answer->cut = asked->answer->cut || table->overflow;
        for (size_t i = 0; i < table->count; i++)
            add_row(asked, process, table->cells[i].key);
    }
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
    /* Metrics first: they say what the cube must have, which foci then refer to. */
    if (take_metrics(asked, text) != STATUS_OK)
        return STATUS_FAILED;
    make_cube(asked);
    if (make_meter(asked) != STATUS_OK)
        return STATUS_FAILED;
    if (focus && focus_take(&asked->focus, focus, asked->err) != STATUS_OK)
        return STATUS_FAILED;
    if (phase && focus_take_phase(&asked->focus, phase, asked->err) != STATUS_OK)
        return STATUS_FAILED;
    if (asked->focus.equal_parts && asked->focus.focus.key[AXIS_PHASES] != CUBE_ANY)
        return error_set(asked->err, ERROR_USAGE, "focus: /Time and a phase do not go together");
    return find_variants(asked);
}

static void ask(struct asked *asked, unsigned threads)
{
    struct answer *answer = asked->answer;
    list_rows(asked);
    ask_foci(asked, threads);
    answer->by_time = asked->focus.equal_parts;
    answer->product = asked->product;
    answer->axis = asked->axis;
    answer->key_count = asked->cube->phases.count;
    answer->duration_ns = time_since(asked->cube->begin_ns, asked->cube->end_ns);
    add_rows(asked);
}

static void asked_clear(struct asked *asked)
{
    for (size_t i = 0; i < asked->focus_count; i++)
        cube_focus_clear(&asked->foci[i]);
    for (size_t i = 0; i < asked->variant_count; i++)
        focus_clear(&asked->variants[i].narrow);
    focus_clear(&asked->focus);
    cube_free(asked->cube);
    free(asked->foci);
    free(asked->variants);
    free(asked->rows);
    free(asked->metrics);
    cube_meter_free(asked->meter);
    question_metrics_free(asked->known);
}

enum status question_ask(struct question *question, const char *text, const struct definitions *definitions,
                         unsigned threads, struct answer *answer, struct error *err)
{
    struct asked asked = {.question = question, .err = err, .answer = answer};
    *answer = (struct answer){0};
    char *copy = memory_copy_string(text); /* understand() cuts it into pieces */
    asked.known =
        question_metrics_of(text, definitions, question->formulas, question->formulas ? question->counters : NULL);
    enum status status = understand(&asked, copy);
    if (status == STATUS_OK)
        ask(&asked, threads);
    asked_clear(&asked);
    free(copy);
    if (status != STATUS_OK)
        answer_clear(answer);
    return status;
}

char *answer_text(char buffer[TEXT_NUMBER_SIZE], const struct answer *answer, size_t metric, double value)
{
    return search_unit_text(buffer, answer->units[metric], answer->percent[metric], value);
}

/* Beyond 9e9 s and 1e18 numbers do not fit into ns and int64_t, and stay ratios. NaN is unknown. */
struct value answer_value(const struct answer *answer, size_t row, size_t metric)
{
    double value = answer->values[row * answer->metric_count + metric];
    struct search_unit unit = answer->units[metric];
    if (isnan(value))
        return value_null();
    /* A rate or a product of times has a unit that no kind of value has: it stays a number. */
    if (unit.seconds == 1 && unit.bytes == 0 && unit.counts == 0 && fabs(value) < 9e9)
        return value_time((int64_t)llrint(value * 1e9));
    if (unit.seconds == 0 && unit.bytes + unit.counts == 1 && value >= 0 && value == floor(value) && value < 1e18)
        return unit.bytes ? value_bytes((uint64_t)value) : value_count((uint64_t)value);
    return value_ratio(value);
}

const char *answer_verdict(const struct answer *answer, size_t metric, double value)
{
    return definition_verdict(answer->limits[metric], answer->higher[metric], value);
}

void answer_clear(struct answer *answer)
{
    for (size_t i = 0; i < answer->metric_count; i++) {
        free(answer->metrics[i]);
        free(answer->titles[i]);
    }
    for (size_t i = 0; i < answer->row_count; i++)
        free(answer->rows[i].focus);
    free(answer->metrics);
    free(answer->titles);
    free(answer->units);
    free(answer->percent);
    free(answer->higher);
    free(answer->limits);
    free(answer->rows);
    free(answer->values);
    *answer = (struct answer){0};
}
