/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/search.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "search/search_test.h"
#include "search/word_file.h"

#include <string.h>

enum { NO_TEST = -1 };

/* A node under construction. Tests are an array, and refer to each other by index: it grows while they are made. */
struct test {
    struct search_node node;
    int32_t parent; /* NO_TEST: none */
    uint32_t hypothesis;
    size_t place; /* the next of the hypothesis' axes to narrow by */
    struct cube_focus focus;
    uint32_t asked; /* index of the equal focus that was asked */
};

struct searcher {
    const struct search_input *input;
    struct cube *cube;
    struct test *tests;
    size_t count, capacity;
    uint32_t *open; /* true, and to be narrowed */
    size_t open_count, open_capacity;
    struct cube_focus *foci; /* of this level */
    size_t focus_count, focus_capacity;
    uint32_t **sets; /* of all foci: processes and iterations, which they borrow */
    size_t set_count, set_capacity;
    uint64_t made; /* tests, kept or not */
};

static const struct hypothesis *hypothesis_of(const struct searcher *searcher, const struct test *test)
{
    return &searcher->input->hypotheses->list[test->hypothesis];
}

/* The axes of a hypothesis in their order, and in the end single processes. */
static size_t place_count(const struct hypothesis *hypothesis)
{
    size_t count = hypothesis->axis_count;
    for (size_t i = 0; i < hypothesis->axis_count; i++)
        if (hypothesis->axes[i] == AXIS_PROCESSES)
            count = hypothesis->axis_count + 1;
    return count;
}

static enum search_axis axis_at(const struct hypothesis *hypothesis, size_t place)
{
    if (place >= hypothesis->axis_count)
        return AXIS_PROCESSES;
    return hypothesis->axes[place];
}

/* Why */

/* False until a child is found true (settle_hypotheses). */
static struct search_node virtual_node(const struct hypothesis *hypothesis)
{
    return (struct search_node){.state = SEARCH_FALSE, .hypothesis = memory_copy_string(hypothesis->name)};
}

static struct search_node never_node(const struct hypothesis *hypothesis)
{
    return (struct search_node){.state = SEARCH_NEVER,
                                .hypothesis = memory_copy_string(hypothesis->name),
                                .threshold = hypothesis->threshold,
                                .unit = hypothesis->value.unit};
}

/* True if it is to be tested: a hypothesis that it would explain is true or virtual. */
static bool is_called_for(const struct searcher *searcher, const struct hypothesis *hypothesis)
{
    for (size_t i = 0; i < hypothesis->parent_count; i++) {
        const struct test *parent = &searcher->tests[hypothesis->parents[i]];
        /* A virtual one is not true before one of its children is. */
        bool is_virtual = hypothesis_of(searcher, parent)->is_virtual;
        if (parent->node.state == SEARCH_TRUE || (is_virtual && parent->node.state != SEARCH_NEVER))
            return true;
    }
    return hypothesis->parent_count == 0;
}

/* Tests of hypotheses have their indices. */
static void test_hypotheses(struct searcher *searcher, const struct cube_focus *whole)
{
    const struct hypotheses *all = searcher->input->hypotheses;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct hypothesis *hypothesis = &all->list[i];
        struct test test = {.parent = NO_TEST, .hypothesis = i, .focus = cube_focus_whole()};
        if (!is_called_for(searcher, hypothesis)) {
            test.node = never_node(hypothesis);
        } else if (hypothesis->is_virtual) {
            test.node = virtual_node(hypothesis);
        } else {
            test.node = search_test_node(searcher->input, searcher->cube, hypothesis, whole, AXIS_WHY, &whole->total);
            searcher->made++;
        }
        test.node.title = memory_copy_string(hypothesis->title);
        test.node.advice = memory_copy_string(hypothesis->advice);
        ARRAY_PUSH(searcher->tests, searcher->count, searcher->capacity, test);
    }
}

/* If it explains several, it is placed below the first one that is true, and names the others. */
static void settle_place(struct searcher *searcher, struct test *test)
{
    const struct hypothesis *hypothesis = hypothesis_of(searcher, test);
    const uint32_t *parents = hypothesis->parents;
    char others[HYPOTHESIS_PARENTS * (WORD_NAME_MOST + 2)] = "";
    size_t first = 0;
    if (hypothesis->parent_count == 0)
        return;
    while (first < hypothesis->parent_count && searcher->tests[parents[first]].node.state != SEARCH_TRUE)
        first++;
    if (first == hypothesis->parent_count) /* none is true */
        first = 0;
    test->parent = (int32_t)parents[first];
    for (size_t i = 0; i < hypothesis->parent_count; i++)
        if (i != first)
            text_append(others, sizeof others, "%s%s", *others ? ", " : "",
                        searcher->input->hypotheses->list[parents[i]].name);
    if (*others)
        test->node.also_explains = memory_copy_string(others);
}

/* Virtual ones are true where a child is; true ones without a true one below are to be narrowed. */
static void settle_hypotheses(struct searcher *searcher)
{
    size_t count = searcher->count;
    bool *explained = memory_new(count);
    /* From the end: children come after their parents, so a virtual one is settled before its own parents are. */
    for (size_t i = count; i-- > 0;) {
        const struct hypothesis *hypothesis = hypothesis_of(searcher, &searcher->tests[i]);
        for (size_t k = 0; k < hypothesis->parent_count && searcher->tests[i].node.state == SEARCH_TRUE; k++) {
            struct test *parent = &searcher->tests[hypothesis->parents[k]];
            explained[hypothesis->parents[k]] = true;
            if (hypothesis_of(searcher, parent)->is_virtual)
                parent->node.state = SEARCH_TRUE;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        settle_place(searcher, &searcher->tests[i]);
        if (searcher->tests[i].node.state == SEARCH_TRUE && !explained[i])
            ARRAY_PUSH(searcher->open, searcher->open_count, searcher->open_capacity, i);
    }
    free(explained);
}

/* Where and when */

static struct cube_focus narrowed(const struct cube_focus *focus, enum search_axis axis, const struct search_part *part)
{
    /* Only where and when: what was asked of the focus above, and its tables, stay there. */
    struct cube_focus child = cube_focus_whole();
    memcpy(child.key, focus->key, sizeof child.key);
    child.rows = focus->rows;
    child.row_count = focus->row_count;
    child.iterations = focus->iterations;
    child.iteration_count = focus->iteration_count;
    if (axis == AXIS_PROCESSES) {
        child.rows = part->set;
        child.row_count = part->set_count;
    } else if (axis == AXIS_ITERATIONS) {
        child.iterations = part->set;
        child.iteration_count = part->set_count;
    } else {
        child.key[axis] = part->key;
    }
    return child;
}

/* The set of a part outlives it: foci of all levels below borrow it. */
static void keep_set(struct searcher *searcher, struct search_part *part)
{
    if (part->set)
        ARRAY_PUSH(searcher->sets, searcher->set_count, searcher->set_capacity, part->set);
    part->set = NULL;
}

static void count_more(struct search_node *node, enum search_state state)
{
    node->more_true += state == SEARCH_TRUE;
    node->more_false += state == SEARCH_FALSE;
    node->more_unknown += state == SEARCH_UNKNOWN;
}

static void node_clear(struct search_node *node)
{
    free(node->hypothesis);
    free(node->reason);
    *node = (struct search_node){0};
}

struct ranked {
    struct search_node node;
    struct search_part *part;
};

/* True ones first, then by value, then as they come. */
static int by_truth(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;
    bool left_true = left->node.state == SEARCH_TRUE, right_true = right->node.state == SEARCH_TRUE;
    if (left_true != right_true)
        return order_by(right_true, left_true);
    if (left->node.value != right->node.value)
        return order_by(right->node.value, left->node.value);
    return order_by(left->part, right->part);
}

static void add_child(struct searcher *searcher, uint32_t parent, enum search_axis axis, size_t place,
                      struct ranked *ranked)
{
    const struct test *above = &searcher->tests[parent];
    struct test test = {.node = ranked->node,
                        .parent = (int32_t)parent,
                        .hypothesis = above->hypothesis,
                        .place = place + 1,
                        .focus = narrowed(&above->focus, axis, ranked->part)};
    test.node.title =
        search_part_title(searcher->input, searcher->cube, hypothesis_of(searcher, above), axis, ranked->part);
    ARRAY_PUSH(searcher->tests, searcher->count, searcher->capacity, test);
    keep_set(searcher, ranked->part);
    if (test.node.state == SEARCH_TRUE)
        ARRAY_PUSH(searcher->open, searcher->open_count, searcher->open_capacity, (uint32_t)searcher->count - 1);
}

/* Tests each part; true if any is true. */
static bool test_parts(struct searcher *searcher, uint32_t parent, size_t place, struct search_parts *parts)
{
    const struct hypothesis *hypothesis = hypothesis_of(searcher, &searcher->tests[parent]);
    const struct cube_focus *focus = &searcher->foci[searcher->tests[parent].asked];
    enum search_axis axis = axis_at(hypothesis, place);
    struct ranked *ranked = memory_new(parts->count * sizeof *ranked);
    size_t kept_true = 0, kept_other = 0;
    for (size_t i = 0; i < parts->count; i++) {
        ranked[i].part = &parts->list[i];
        ranked[i].node =
            search_test_node(searcher->input, searcher->cube, hypothesis, focus, axis, &parts->list[i].cell);
    }
    searcher->made += parts->count;
    if (parts->count > 0)
        qsort(ranked, parts->count, sizeof *ranked, by_truth);
    for (size_t i = 0; i < parts->count; i++) {
        /* A few that are false show what was ruled out; the rest are only counted. */
        bool is_true = ranked[i].node.state == SEARCH_TRUE;
        size_t *kept = &kept_other, most = SEARCH_OTHER_MOST;
        if (is_true) {
            kept = &kept_true;
            most = SEARCH_TRUE_MOST;
        }
        if ((*kept)++ < most) {
            add_child(searcher, parent, axis, place, &ranked[i]);
        } else {
            count_more(&searcher->tests[parent].node, ranked[i].node.state);
            node_clear(&ranked[i].node);
        }
    }
    free(ranked);
    return kept_true > 0;
}

/* Iterations are those of the main loop: elsewhere there are none. */
static bool axis_exists(const struct searcher *searcher, const struct test *test, enum search_axis axis)
{
    const struct phases *phases = searcher->input->phases;
    uint32_t phase = test->focus.key[AXIS_PHASES];
    if (axis == AXIS_PHASES || axis == AXIS_ITERATIONS) {
        if (!phases || (axis == AXIS_ITERATIONS && phases->main_loop == PHASE_NONE))
            return false;
        return axis == AXIS_PHASES || phase == CUBE_ANY || phases->phase[phase].loop == phases->main_loop;
    }
    return true;
}

/* By the first of the axes that are left on which any part is true: the rest is narrowed by below that part. */
static void narrow(struct searcher *searcher, uint32_t index)
{
    const struct hypothesis *hypothesis = hypothesis_of(searcher, &searcher->tests[index]);
    bool found = false;
    for (size_t place = searcher->tests[index].place; place < place_count(hypothesis) && !found; place++) {
        const struct test *test = &searcher->tests[index];
        enum search_axis axis = axis_at(hypothesis, place);
        if (!axis_exists(searcher, test, axis))
            continue;
        struct search_parts parts =
            search_parts_of(searcher->input, searcher->cube, hypothesis, &searcher->foci[test->asked], axis,
                            place == hypothesis->axis_count);
        if (parts.is_reported)
            found = test_parts(searcher, index, place, &parts);
        search_parts_clear(&parts);
    }
}

static bool same_set(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count)
{
    /* No set is all, an empty set is none: they differ. */
    return a_count == b_count && !a == !b && (!a || memcmp(a, b, a_count * sizeof *a) == 0);
}

static bool same_focus(const struct cube_focus *a, const struct cube_focus *b)
{
    return memcmp(a->key, b->key, sizeof a->key) == 0 && same_set(a->rows, a->row_count, b->rows, b->row_count) &&
           same_set(a->iterations, a->iteration_count, b->iterations, b->iteration_count);
}

static void add_uses(const struct hypothesis *hypothesis, bool uses[METRIC_COUNT])
{
    for (unsigned metric = 0; metric < METRIC_COUNT; metric++)
        uses[metric] |= expression_uses(&hypothesis->value, metric);
}

/* Puts the test's focus among those to be asked, with the axes that are left to it. Hypotheses often meet in one focus:
   it is asked once. */
static void ask_for(struct searcher *searcher, struct test *test)
{
    const struct hypothesis *hypothesis = hypothesis_of(searcher, test);
    size_t at = 0;
    while (at < searcher->focus_count && !same_focus(&searcher->foci[at], &test->focus))
        at++;
    if (at == searcher->focus_count)
        ARRAY_PUSH(searcher->foci, searcher->focus_count, searcher->focus_capacity, test->focus);
    test->asked = (uint32_t)at;
    for (size_t place = test->place; place < place_count(hypothesis); place++) {
        enum search_axis axis = axis_at(hypothesis, place);
        size_t rows = searcher->cube->row_count;
        if (test->focus.rows)
            rows = test->focus.row_count;
        bool many = place == hypothesis->axis_count && rows > SEARCH_SINGLES;
        if (!many && axis_exists(searcher, test, axis))
            searcher->foci[at].wanted[axis] = true;
    }
    add_uses(hypothesis, searcher->foci[at].uses);
}

static void foci_clear(struct searcher *searcher)
{
    for (size_t i = 0; i < searcher->focus_count; i++)
        cube_focus_clear(&searcher->foci[i]);
    searcher->focus_count = 0;
}

struct timed {
    int64_t ns;
    uint32_t test;
};

static int by_time(const void *a, const void *b)
{
    const struct timed *left = a, *right = b;
    if (left->ns != right->ns)
        return order_by(right->ns, left->ns);
    return order_by(left->test, right->test);
}

/* Only those with the most time; the others are cut: a run with many small problems must not take for ever. */
static void bound_open(struct searcher *searcher)
{
    size_t count = searcher->open_count;
    if (count <= SEARCH_OPEN_MOST)
        return;
    struct timed *timed = memory_new(count * sizeof *timed);
    for (size_t i = 0; i < count; i++)
        timed[i] = (struct timed){searcher->tests[searcher->open[i]].node.ns, searcher->open[i]};
    qsort(timed, count, sizeof *timed, by_time);
    for (size_t i = 0; i < count; i++) {
        searcher->open[i] = timed[i].test;
        searcher->tests[timed[i].test].node.cut = i >= SEARCH_OPEN_MOST;
    }
    searcher->open_count = SEARCH_OPEN_MOST;
    free(timed);
}

static bool is_done(const struct searcher *searcher, const struct test *test)
{
    return test->place >= place_count(hypothesis_of(searcher, test));
}

/* One level: asks for the foci of all open tests in one pass, then narrows each. */
static void go_down(struct searcher *searcher)
{
    size_t kept = 0;
    for (size_t i = 0; i < searcher->open_count; i++)
        if (!is_done(searcher, &searcher->tests[searcher->open[i]]))
            searcher->open[kept++] = searcher->open[i];
    searcher->open_count = kept;
    bound_open(searcher);
    foci_clear(searcher);
    for (size_t i = 0; i < searcher->open_count; i++)
        ask_for(searcher, &searcher->tests[searcher->open[i]]);
    if (searcher->focus_count > 0)
        cube_ask(searcher->cube, searcher->foci, searcher->focus_count, searcher->input->threads);
    /* What is found true now is open at the next level. */
    uint32_t *open = searcher->open;
    size_t count = searcher->open_count;
    searcher->open = NULL;
    searcher->open_count = searcher->open_capacity = 0;
    for (size_t i = 0; i < count; i++)
        narrow(searcher, open[i]);
    free(open);
}

/* The result */

static void flatten(const struct searcher *searcher, struct search *search, const uint32_t *first, const uint32_t *next,
                    uint32_t at, uint32_t parent)
{
    for (; at; at = next[at - 1]) {
        struct search_node node = searcher->tests[at - 1].node;
        node.parent = parent;
        uint32_t index = search_add(search, node);
        flatten(searcher, search, first, next, first[at - 1], index);
    }
}

/* Tests are sorted by level; nodes are in depth-first order. */
static void take_nodes(const struct searcher *searcher, struct search *search)
{
    size_t count = searcher->count;
    uint32_t *first = memory_new(count * sizeof *first), *next = memory_new(count * sizeof *next), roots = 0;
    for (size_t i = count; i-- > 0;) {
        int32_t parent = searcher->tests[i].parent;
        uint32_t *head = &roots;
        if (parent != NO_TEST)
            head = &first[parent];
        next[i] = *head;
        *head = (uint32_t)i + 1;
    }
    flatten(searcher, search, first, next, roots, SEARCH_ROOT);
    free(first);
    free(next);
}

struct search *search_run(const struct search_input *input)
{
    struct searcher searcher = {.input = input};
    struct cube_focus whole = cube_focus_whole();
    for (size_t i = 0; i < input->hypotheses->count; i++)
        add_uses(&input->hypotheses->list[i], whole.uses);
    /* Starting and ending MPI count only if a hypothesis asks about them: in short runs they would hide the rest. */
    searcher.cube =
        cube_new(input->graph, input->states, input->phases, whole.uses[METRIC_alone] || whole.uses[METRIC_serial],
                 whole.uses[METRIC_WAITS + WAIT_AT_INIT] || whole.uses[METRIC_WAITS + WAIT_AT_FINALIZE]);
    cube_ask(searcher.cube, &whole, 1, input->threads);
    test_hypotheses(&searcher, &whole);
    settle_hypotheses(&searcher);
    while (searcher.open_count > 0)
        go_down(&searcher);
    struct search *search = search_new();
    search->source = memory_copy_string(input->source);
    search->tests = searcher.made;
    search->threshold = input->hypotheses->threshold;
    search->least_calls = input->hypotheses->least_calls;
    search->least_ns = input->hypotheses->least_ns;
    take_nodes(&searcher, search);
    foci_clear(&searcher);
    for (size_t i = 0; i < searcher.set_count; i++)
        free(searcher.sets[i]);
    free(searcher.sets);
    free(searcher.foci);
    free(searcher.tests);
    free(searcher.open);
    cube_free(searcher.cube);
    return search;
}
