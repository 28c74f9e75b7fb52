/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/search_report.h"

#include "render/facts.h"
#include "render/field.h"
#include "render/reports/stuck_report.h"
#include "render/terminal.h"
#include "render/terminal_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Values */

/* "B/s", "s²": powers above and below the line. */
static void unit_text(char buffer[TEXT_NUMBER_SIZE], struct search_unit unit)
{
    static const char *const names[] = {"B", "s", ""};
    const int powers[] = {unit.bytes, unit.seconds, unit.counts};
    char below[TEXT_NUMBER_SIZE] = "";
    buffer[0] = '\0';
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++) {
        char *part = buffer;
        int power = powers[i];
        if (power <= 0) {
            part = below;
            power = -power;
        }
        size_t used = strlen(part);
        /* A count has no unit; only a power of it is written. */
        if (power == 1 || (power > 1 && !*names[i]))
            snprintf(part + used, TEXT_NUMBER_SIZE - used, "%s", names[i]);
        else if (power > 1)
            snprintf(part + used, TEXT_NUMBER_SIZE - used, "%s^%d", names[i], power);
    }
    size_t used = strlen(buffer);
    if (*below && used == 0)
        snprintf(buffer, TEXT_NUMBER_SIZE, "1/%.29s", below);
    else if (*below)
        snprintf(buffer + used, TEXT_NUMBER_SIZE - used, "/%s", below);
}

static bool is_share(struct search_unit unit)
{
    return unit.seconds == 0 && unit.bytes == 0 && unit.counts == 0;
}

static char *number_text(char buffer[TEXT_NUMBER_SIZE], double value, struct search_unit unit)
{
    char name[TEXT_NUMBER_SIZE];
    /* A ratio that is no share, such as calls for a message, can be anything: it has no per cent. */
    if (is_share(unit) && value >= 0 && value < 10)
        return text_share(buffer, value);
    if (is_share(unit))
        snprintf(buffer, TEXT_NUMBER_SIZE, "%.3g", value);
    else if (unit.seconds == 1 && unit.bytes == 0 && unit.counts == 0 && fabs(value) < 9e9)
        return text_duration(buffer, llround(value * 1e9));
    else {
        unit_text(name, unit);
        snprintf(buffer, TEXT_NUMBER_SIZE, "%.3g %.12s", value, name);
    }
    return buffer;
}

char *search_value_text(char buffer[TEXT_NUMBER_SIZE], const struct search_node *node)
{
    if (node->has_value)
        return number_text(buffer, node->value, node->unit);
    snprintf(buffer, TEXT_NUMBER_SIZE, "-");
    return buffer;
}

/* Words */

/* The deepest true node below this (itself if there is none), always the one with most time; not one process or part of
   many. */
static size_t deepest_true(const struct search *search, size_t node)
{
    size_t behind = search_behind(search, node), best = SIZE_MAX;
    /* Siblings only: each step passes over all below the last one. */
    for (size_t i = node + 1; i < behind; i = search_behind(search, i)) {
        const struct search_node *child = &search->nodes[i];
        if (child->state == SEARCH_TRUE && (best == SIZE_MAX || child->ns > search->nodes[best].ns))
            best = i;
    }
    if (best == SIZE_MAX)
        return node;
    /* A refinement of why always explains more; a part of where or when only if it has most of the time. */
    bool most =
        search->nodes[best].axis == AXIS_WHY || (double)search->nodes[best].ns * 2 > (double)search->nodes[node].ns;
    return most ? deepest_true(search, best) : node;
}

char *search_path_text(char text[SEARCH_SENTENCE_SIZE], const struct search *search, size_t node)
{
    size_t path[32], depth = 0;
    for (uint32_t at = (uint32_t)node; at != SEARCH_ROOT && depth < 32; at = search->nodes[at].parent) {
        path[depth++] = at;
        /* The last hypothesis above is where the sentence begins: those above it are more general. */
        if (search->nodes[at].axis == AXIS_WHY)
            break;
    }
    snprintf(text, SEARCH_SENTENCE_SIZE, "%s", search->nodes[path[depth - 1]].title);
    for (size_t i = depth - 1; i-- > 0;) {
        size_t used = strlen(text);
        const char *mark = i + 2 == depth ? ":" : ",";
        snprintf(text + used, SEARCH_SENTENCE_SIZE - used, "%s %s", mark, search->nodes[path[i]].title);
    }
    text_end_whole(text);
    return text;
}

/* The true root with most time. */
static size_t main_root(const struct search *search)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < search->count; i = search_behind(search, i))
        if (search->nodes[i].state == SEARCH_TRUE && (best == SIZE_MAX || search->nodes[i].ns > search->nodes[best].ns))
            best = i;
    return best;
}

size_t search_main_node(const struct search *search)
{
    size_t root = main_root(search);
    if (root == SIZE_MAX)
        return SIZE_MAX;
    return deepest_true(search, root);
}

/* Whether more than the threshold may be lost to what could not be tested. */
static bool might_hold(const struct search *search)
{
    for (size_t i = 0; i < search->count; i++)
        if (search->nodes[i].state == SEARCH_UNKNOWN && search->nodes[i].value > search->nodes[i].threshold)
            return true;
    return false;
}

char *search_sentence(char sentence[SEARCH_SENTENCE_SIZE], const struct search *search)
{
    char number[TEXT_NUMBER_SIZE], path[SEARCH_SENTENCE_SIZE];
    size_t deepest = search_main_node(search);
    if (deepest == SIZE_MAX && might_hold(search)) {
        snprintf(sentence, SEARCH_SENTENCE_SIZE,
                 "no hypothesis is known to hold; some above %s of the time cannot be tested"
                 "the time need",
                 text_share(number, search->threshold));
        return sentence;
    }
    if (deepest == SIZE_MAX) {
        snprintf(sentence, SEARCH_SENTENCE_SIZE, "no hypothesis holds: nothing takes more than %s of the time",
                 text_share(number, search->threshold));
        return sentence;
    }
    search_path_text(path, search, deepest);
    snprintf(sentence, SEARCH_SENTENCE_SIZE, "%.480s (%s)", path, search_value_text(number, &search->nodes[deepest]));
    return sentence;
}

/* Text */

enum { COLUMNS = 80, TIME_WIDTH = 10, VALUE_WIDTH = 10 };

static const char *const marks[SEARCH_STATE_COUNT] = {
    [SEARCH_TRUE] = "●", [SEARCH_FALSE] = "○", [SEARCH_UNKNOWN] = "?", [SEARCH_NEVER] = "·"};

struct writer {
    struct output *output;
    const struct search *search;
    bool all;         /* also tests that are not true */
    char branch[160]; /* the prefix of the lines of a node's children */
};

/* A cut title ends with a whole word, and not with half of "and 25 more". */
static void end_at_word(char *title)
{
    enum { WORD = 16 };
    char *mark = strrchr(title, ' ');
    size_t length = strlen(title), cut = sizeof "…" - 1;
    if (length < cut || strcmp(title + length - cut, "…") != 0 || !mark || length - (size_t)(mark - title) > WORD)
        return;
    *mark = '\0';
    for (char *at = title; (at = strstr(at, " and")); at++)
        if (at[strspn(at + 4, " 0123456789") + 4] == '\0') {
            *at = '\0';
            break;
        }
    strcat(title, " …");
}

/* A title on as many lines as it needs would hide the tree: one line, cut. */
static void write_node(const struct writer *writer, const struct search_node *node, const char *branch)
{
    char value[TEXT_NUMBER_SIZE] = "", time[TEXT_NUMBER_SIZE] = "", title[VALUE_TEXT_SIZE];
    /* The mark and a blank come before the title. */
    size_t used = terminal_columns(branch) + 2, room = COLUMNS - TIME_WIDTH - VALUE_WIDTH;
    /* Deep in the tree a title has eight characters left, and the numbers give way. */
    size_t left = 8;
    if (room > used + 8)
        left = room - used;
    text_for_terminal(title, sizeof title, node->title ? node->title : "", left);
    end_at_word(title);
    /* What was not tested has no value, which is not the same as 0. */
    if (node->state != SEARCH_NEVER && (node->has_value || node->state == SEARCH_UNKNOWN))
        search_value_text(value, node);
    if (node->has_time && node->state != SEARCH_NEVER)
        text_duration(time, node->ns);
    used += terminal_columns(title);
    output_print(writer->output, "%s%s %s", branch, marks[node->state], title);
    int gap = used < room ? (int)(room - used) : 0;
    if (*value)
        output_print(writer->output, "%*s%*s%s%*s%s", gap, "", TIME_WIDTH - (int)terminal_columns(time), "", time,
                     VALUE_WIDTH - (int)terminal_columns(value), "", value);
    output_text(writer->output, "\n");
}

static bool is_shown(const struct writer *writer, const struct search_node *node)
{
    return writer->all || node->state == SEARCH_TRUE;
}

/* "… 3 more are true", if there are more. */
static void more_text(char text[TEXT_NUMBER_SIZE * 4], const struct writer *writer, const struct search_node *node)
{
    char true_text[TEXT_NUMBER_SIZE], other[TEXT_NUMBER_SIZE];
    uint64_t others = 0;
    if (writer->all)
        others = node->more_false + node->more_unknown;
    text[0] = '\0';
    text_thousands(true_text, node->more_true);
    text_thousands(other, others);
    /* Where the search stopped, numbers of what it did not look at would mislead. */
    if (node->cut)
        snprintf(text, TEXT_NUMBER_SIZE * 4, "… not refined further: too many parts");
    else if (node->more_true > 0 && others > 0)
        snprintf(text, TEXT_NUMBER_SIZE * 4, "… %s more true, %s not", true_text, other);
    else if (node->more_true > 0)
        snprintf(text, TEXT_NUMBER_SIZE * 4, "… %s more true", true_text);
    else if (others > 0)
        snprintf(text, TEXT_NUMBER_SIZE * 4, "… %s more not true", other);
}

/* The next sibling that is shown, or the parent's end. */
static size_t next_shown(const struct writer *writer, size_t at, size_t end)
{
    while (at < end && !is_shown(writer, &writer->search->nodes[at]))
        at = search_behind(writer->search, at);
    return at;
}

/* Nodes from `begin` to `end`, siblings, with all below them; then a line for those not kept. */
static void write_nodes(struct writer *writer, size_t begin, size_t end, const char *more)
{
    const struct search *search = writer->search;
    size_t branch = strlen(writer->branch);
    bool is_root = branch == 0;
    for (size_t at = next_shown(writer, begin, end); at < end;) {
        char line[sizeof writer->branch + 16], below[TEXT_NUMBER_SIZE * 4];
        /* The next sibling is looked for before this one is written: the last has another corner. */
        size_t behind = search_behind(search, at), next = next_shown(writer, behind, end);
        bool is_last = next == end && !*more;
        const char *joint = "├─ ", *below_it = "│  ";
        if (is_last) {
            joint = "└─ ";
            below_it = "   ";
        }
        /* Roots have no line to a parent: they are moved in a little instead. */
        if (is_root) {
            joint = "";
            below_it = "  ";
        }
        snprintf(line, sizeof line, "%s%s", is_root ? "  " : writer->branch, joint);
        write_node(writer, &search->nodes[at], line);
        snprintf(writer->branch + branch, sizeof writer->branch - branch, "%s", below_it);
        const char *stem = "  ";
        if (next_shown(writer, at + 1, behind) < behind)
            stem = "│ ";
        if (search->nodes[at].also_explains)
            output_print(writer->output, "%s%s also explains %s\n", writer->branch, stem,
                         search->nodes[at].also_explains);
        more_text(below, writer, &search->nodes[at]);
        write_nodes(writer, at + 1, behind, below);
        writer->branch[branch] = '\0';
        at = next;
    }
    if (*more)
        output_print(writer->output, "%s└─ %s\n", writer->branch, more);
}

static void write_tree(struct writer *writer)
{
    if (next_shown(writer, 0, writer->search->count) == writer->search->count)
        return;
    output_print(writer->output, "\n%*s\n", COLUMNS, "time     value");
    write_nodes(writer, 0, writer->search->count, "");
}

/* The names of hypotheses in this state, as far as they fit. */
static void write_hypotheses(const struct writer *writer, enum search_state state, const char *words)
{
    const struct search *search = writer->search;
    char list[2000] = "", first[80];
    size_t count = 0;
    for (size_t i = 0; i < search->count; i++) {
        const struct search_node *node = &search->nodes[i];
        /* Tests of parts have the name of the hypothesis that they narrow: each is listed once. */
        if (node->axis != AXIS_WHY || node->state != state)
            continue;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", count++ > 0 ? ", " : "", node->hypothesis);
    }
    if (count == 0)
        return;
    snprintf(first, sizeof first, "  %s %s (%zu): ", marks[state], words, count);
    paragraph_write(writer->output, first, "    ", list);
}

/* Hypotheses without a result, each with its reason. */
static void write_reasons(const struct writer *writer)
{
    const struct search *search = writer->search;
    for (size_t i = 0; i < search->count; i++) {
        const struct search_node *node = &search->nodes[i];
        char line[700];
        if (node->axis != AXIS_WHY || node->state != SEARCH_UNKNOWN)
            continue;
        snprintf(line, sizeof line, "not known: %.300s — %.300s", node->title, node->reason ? node->reason : "");
        paragraph_write(writer->output, "  ? ", "    ", line);
    }
}

static void write_parts(const struct writer *writer)
{
    const struct search *search = writer->search;
    uint64_t not_true = 0, unknown = 0;
    char number[2][TEXT_NUMBER_SIZE];
    for (size_t i = 0; i < search->count; i++) {
        const struct search_node *node = &search->nodes[i];
        /* Those that the search counted but did not keep are added. */
        not_true += (node->axis != AXIS_WHY && node->state == SEARCH_FALSE) + node->more_false;
        unknown += (node->axis != AXIS_WHY && node->state == SEARCH_UNKNOWN) + node->more_unknown;
    }
    if (not_true + unknown > 0)
        output_print(writer->output, "  for parts of the run: %s tested and not true, %s not known  (--all)\n",
                     text_thousands(number[0], not_true), text_thousands(number[1], unknown));
}

/* Advice of the true hypotheses that none explains further. */
static void write_advice(const struct writer *writer)
{
    const struct search *search = writer->search;
    for (size_t i = 0; i < search->count; i++) {
        const struct search_node *node = &search->nodes[i];
        bool explained = false;
        /* A hypothesis that another explains has its advice there. */
        for (size_t k = i + 1; k < search_behind(search, i); k++)
            explained |= search->nodes[k].axis == AXIS_WHY && search->nodes[k].state == SEARCH_TRUE;
        if (node->axis != AXIS_WHY || node->state != SEARCH_TRUE || explained || !node->advice)
            continue;
        char line[2100];
        snprintf(line, sizeof line, "%.1000s: %.1000s", node->title, node->advice);
        text_end_whole(line);
        paragraph_write(writer->output, "  → ", "    ", line);
    }
}

void search_write_text(struct output *output, const struct metrics *metrics, const char *title, bool all)
{
    const struct search *search = metrics->search;
    char facts[FACTS_SIZE], shown[VALUE_TEXT_SIZE], sentence[SEARCH_SENTENCE_SIZE];
    struct writer writer = {.output = output, .search = search, .all = all};
    text_for_terminal(shown, sizeof shown, title, 100);
    headline_write(output, shown, facts_text(facts, metrics));
    stuck_write_note(output, metrics->stuck);
    output_text(output, "\n");
    search_sentence(sentence, search);
    /* The sentence has room: it is cut to 480 characters and a value. */
    strcat(sentence, ".");
    terminal_style(output, TERMINAL_BOLD);
    paragraph_write(output, "  ", "  ", sentence);
    terminal_style(output, NULL);
    write_tree(&writer);
    output_text(output, "\n");
    write_advice(&writer);
    if (!all) {
        write_hypotheses(&writer, SEARCH_FALSE, "not true");
        write_hypotheses(&writer, SEARCH_NEVER, "not tested, because what they would explain is not true");
        write_parts(&writer);
    }
    write_reasons(&writer);
}

/* JSON */

#define GETTER(name, ...)                                                                                              \
    static struct value name(const void *context, const void *row)                                                     \
    {                                                                                                                  \
        const struct search_node *node = row;                                                                          \
        const struct search *search = context;                                                                         \
        (void)search;                                                                                                  \
        return __VA_ARGS__;                                                                                            \
    }
/* A node's number is its place in the tree. */
GETTER(node_id, value_count((uint64_t)(node - search->nodes)))
GETTER(node_parent, value_if(node->parent != SEARCH_ROOT, value_count(node->parent)))
GETTER(node_hypothesis, value_text(node->hypothesis))
GETTER(node_axis, value_text(search_axis_name(node->axis)))
GETTER(node_title, value_text(node->title))
GETTER(node_state, value_text(search_state_name(node->state)))
GETTER(node_value, value_if(node->has_value, value_ratio(node->value)))
GETTER(node_threshold, value_ratio(node->threshold))
GETTER(node_time, value_if(node->has_time, value_time(node->ns)))
GETTER(node_calls, value_count(node->calls))
GETTER(node_also, value_text(node->also_explains))
GETTER(node_reason, value_text(node->reason))
GETTER(node_advice, value_text(node->advice))
GETTER(node_more_true, value_count(node->more_true))
GETTER(node_more_false, value_count(node->more_false))
GETTER(node_more_unknown, value_count(node->more_unknown))
GETTER(node_cut, value_bool(node->cut))

static const struct field node_fields[] = {
    {"id", NULL, node_id},
    {"parent", NULL, node_parent},
    {"hypothesis", NULL, node_hypothesis},
    {"axis", NULL, node_axis},
    {"title", NULL, node_title},
    {"state", NULL, node_state},
    {"value", NULL, node_value},
    {"threshold", NULL, node_threshold},
    {"time_s", NULL, node_time},
    {"calls", NULL, node_calls},
    {"also_explains", NULL, node_also},
    {"reason", NULL, node_reason},
    {"advice", NULL, node_advice},
    {"more_true", NULL, node_more_true},
    {"more_false", NULL, node_more_false},
    {"more_unknown", NULL, node_more_unknown},
    {"cut", NULL, node_cut},
};

/* Nodes are a list, each with the number of its parent: the tree can be rebuilt, and rows filtered. */
void search_write_json(struct output *output, const struct metrics *metrics)
{
    const struct search *search = metrics->search;
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-search/1"));
    json_value(&json, "hypotheses", value_text(search->source));
    json_value(&json, "threshold", value_ratio(search->threshold));
    json_value(&json, "least_calls", value_count(search->least_calls));
    json_value(&json, "least_time_s", value_time(search->least_ns));
    json_value(&json, "tests", value_count(search->tests));
    json_open(&json, "nodes", '[');
    for (size_t i = 0; i < search->count; i++)
        json_row(&json, node_fields, sizeof node_fields / sizeof *node_fields, search, &search->nodes[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    output_text(output, "\n");
}

/* DOT, for Graphviz: the search history graph of Paradyn. */

static void dot_text(struct output *output, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            output_text(output, "\\");
        output_write(output, (unsigned char)*text < ' ' ? " " : text, 1);
    }
}

/* A whole word of a list. */
static bool is_listed(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (at[length] == '\0' || at[length] == ','))
            return true;
    return false;
}

/* The hypothesis that a node would also explain: it is drawn once, with two parents. */
static void dot_also(struct output *output, const struct search *search, size_t node)
{
    const char *also = search->nodes[node].also_explains;
    for (size_t i = 0; also && i < search->count; i++) {
        const struct search_node *other = &search->nodes[i];
        if (other->axis == AXIS_WHY && i != node && is_listed(also, other->hypothesis))
            output_print(output, "  n%zu -> n%zu [style=dashed];\n", i, node);
    }
}

static void dot_node(struct output *output, const struct search_node *node, size_t number)
{
    char value[TEXT_NUMBER_SIZE] = "";
    if (node->has_value && is_share(node->unit))
        text_share(value, node->value);
    else if (node->has_value)
        snprintf(value, sizeof value, "%.4g", node->value);
    output_print(output, "  n%zu [label=\"", number);
    dot_text(output, node->title);
    output_print(output, "\\n%s%s%s\", fillcolor=\"%s\"];\n", search_state_name(node->state), *value ? ", " : "", value,
                 node->state == SEARCH_TRUE ? "#f4b6ae" : "#ffffff");
    if (node->parent != SEARCH_ROOT)
        output_print(output, "  n%u -> n%zu;\n", node->parent, number);
}

void search_write_dot(struct output *output, const struct metrics *metrics)
{
    const struct search *search = metrics->search;
    output_text(output, "digraph search {\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n");
    for (size_t i = 0; i < search->count; i++) {
        dot_node(output, &search->nodes[i], i);
        dot_also(output, search, i);
    }
    output_text(output, "}\n");
}

/* XML */

static void xml_count(struct output *output, const char *name, uint64_t count)
{
    if (count > 0)
        output_print(output, " %s=\"%llu\"", name, (unsigned long long)count);
}

/* Values with all digits, to be read back exactly. */
static void xml_node(struct output *output, const struct search_node *node)
{
    output_text(output, "<test");
    /* The root is no node: a test without a parent is a hypothesis of the first level. */
    if (node->parent != SEARCH_ROOT)
        output_print(output, " parent=\"%u\"", node->parent);
    xml_attribute(output, "state", value_text(search_state_name(node->state)));
    xml_attribute(output, "axis", value_text(search_axis_name(node->axis)));
    xml_attribute(output, "hypothesis", value_text(node->hypothesis));
    xml_attribute(output, "title", value_text(node->title));
    if (node->has_value)
        output_print(output, " value=\"%.17g\"", node->value);
    output_print(output, " threshold=\"%.17g\"", node->threshold);
    /* Shares are what most values are; other units are written. */
    if (!is_share(node->unit))
        output_print(output, " unit=\"%d %d %d\"", node->unit.seconds, node->unit.bytes, node->unit.counts);
    if (node->has_time)
        xml_attribute(output, "time_s", value_time(node->ns));
    xml_count(output, "calls", node->calls);
    xml_attribute(output, "also_explains", value_text(node->also_explains));
    xml_attribute(output, "reason", value_text(node->reason));
    xml_attribute(output, "advice", value_text(node->advice));
    xml_count(output, "more_true", node->more_true);
    xml_count(output, "more_false", node->more_false);
    xml_count(output, "more_unknown", node->more_unknown);
    if (node->cut)
        xml_attribute(output, "cut", value_text("true"));
    output_text(output, "/>\n");
}

void search_write_xml(struct output *output, const struct metrics *metrics)
{
    const struct search *search = metrics->search;
    if (!search)
        return;
    output_text(output, "<search");
    xml_attribute(output, "source", value_text(search->source));
    output_print(output, " tests=\"%llu\" threshold=\"%.17g\" least_calls=\"%llu\"", (unsigned long long)search->tests,
                 search->threshold, (unsigned long long)search->least_calls);
    xml_attribute(output, "least_time_s", value_time(search->least_ns));
    output_text(output, ">\n");
    for (size_t i = 0; i < search->count; i++)
        xml_node(output, &search->nodes[i]);
    output_text(output, "</search>\n");
}
