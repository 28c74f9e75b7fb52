/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops: the strings of the rules of diagnosis (5.2, 5.3) and the tables of Paradyn's extension to loops, random
   programs whose loops are known, and what finding them costs. */
#include "phases/loops.h"

#include "core/memory.h"
#include "graph/graph_storage.h"
#include "graph/wait_table.h"
#include "phases/anchor.h"
#include "unit/tap.h"

#include <math.h>
#include <stdlib.h>

/* A body as the rules write it: x^3 is a loop that was entered once, x^3,4,2 one that was entered three times. */
static void write_loop(const struct loop_tree *tree, const struct loop *loop, char *text, size_t size)
{
    for (uint32_t i = 0; i < loop->item_count; i++) {
        const struct loop_item *item = &tree->items[loop->item + i];
        size_t at = strlen(text);
        if (item->loop == LOOP_NONE) {
            snprintf(text + at, size - at, "%c", (int)item->symbol);
            continue;
        }
        const struct loop *inner = &tree->loops[item->loop];
        bool single = inner->item_count == 1;
        snprintf(text + at, size - at, "%s", single ? "" : "(");
        write_loop(tree, inner, text, size);
        at = strlen(text);
        at += (size_t)snprintf(text + at, size - at, "%s", single ? "^" : ")^");
        for (uint32_t k = 0, turns = 0; k < inner->count; k++) {
            const struct loop_iteration *of = &tree->iterations[inner->iteration + k];
            turns++;
            if (k + 1 == inner->count || of[1].entry != of[0].entry) {
                at += (size_t)snprintf(text + at, size - at, "%s%u", of->entry ? "," : "", turns);
                turns = 0;
            }
        }
        snprintf(text + at, size - at, " ");
    }
}

static struct loop_tree loops_of_text(const char *text, const char *ends, bool anchors)
{
    size_t count = strlen(text);
    uint32_t *symbols = memory_new(count * sizeof *symbols);
    bool *are_ends = memory_new(count * sizeof *are_ends);
    for (size_t i = 0; i < count; i++) {
        symbols[i] = (uint32_t)text[i];
        are_ends[i] = strchr(ends, text[i]) != NULL;
    }
    struct loop_sequence sequence = {.symbols = symbols, .count = count, .ends = are_ends};
    struct loop_tree tree = anchors ? loops_in(&sequence) : loops_folded(&sequence);
    free(symbols);
    free(are_ends);
    return tree;
}

static void expect(const char *text, const char *ends, bool anchors, const char *want)
{
    struct loop_tree tree = loops_of_text(text, ends, anchors);
    char got[512] = "";
    write_loop(&tree, &tree.loops[0], got, sizeof got);
    tap_equal_string(got, want, "%s: %s", anchors ? "loops" : "folded", text);
    loop_tree_clear(&tree);
}

/* The strings of 5.2. */
static void test_folding(void)
{
    expect("IBaxxxbaxxxxbaxxbF", "", false, "IB(ax^3,4,2 b)^3 F");
    expect("IabababcababcabcF", "", false, "I((ab)^3,2,1 c)^3 F");
    expect("IiisswriisswriisswrF", "", false, "I(i^2,2,2 s^2,2,2 wr)^3 F");
    expect("IabacabacabacF", "", false, "I(abac)^3 F");
    expect("pbababab", "", false, "p(ba)^3 b");
    expect("pbababab", "b", false, "pb(ab)^3 ");
    expect("xsrwAxsrwAxsrwoAxsrwAxsrwAxsrwoAF", "", false, "(xsrwA)^2 xsrwo(Axsrw)^3 oAF");
    expect("abcdefghijkl", "", false, "abcdefghijkl");
    expect("", "", false, "");
    expect("a", "", false, "a");
    expect("aa", "", false, "a^2 ");
    expect("IaabacF", "", false, "Ia^2 bacF");
    expect("aaaaa", "", true, "a^5 ");
}

/* Iterations that vary, and those that do not. */
static void test_anchors(void)
{
    const char *text = "xsrwAxsrwAxsrwoAxsrwAxsrwAxsrwoAF";
    struct loop_tree tree = loops_of_text(text, "", true);
    tap_equal_int((long long)tree.count, 2, "anchor: one loop");
    const struct loop *loop = &tree.loops[1];
    tap_equal_int(loop->count, 6, "anchor: six iterations");
    tap_ok(fabs(loop->similarity - (4 + 10. / 11) / 5) < 1e-12, "anchor: mean similarity 0.982 (%.3f)",
           loop->similarity);
    tap_equal_int(loop->period, 3, "anchor: the order of types is (X X Y)^2");
    static const uint32_t begins[] = {0, 5, 10, 16, 21, 26}, types[] = {0, 0, 1, 0, 0, 1};
    for (uint32_t i = 0; i < 6; i++) {
        const struct loop_iteration *iteration = &tree.iterations[loop->iteration + i];
        tap_equal_int(iteration->begin, begins[i], "anchor: begin of iteration %u", i);
        tap_equal_int(iteration->end, i < 5 ? begins[i + 1] : 32, "anchor: end of iteration %u", i);
        tap_equal_int(iteration->type, types[i], "anchor: type of iteration %u", i);
    }
    loop_tree_clear(&tree);
    expect(text, "", true, "(xsrwA)^6 F");
    expect("IBaxxxbaxxxxbaxxbF", "", true, "IB(ax^3,4,2 b)^3 F");
    expect("IabacabacabacF", "", true, "I(abac)^3 F");
    expect("abcdefghijkl", "", true, "abcdefghijkl");
    expect("axxxxxxxxxxaxxxxxxxxxxaxxxxxxxxxxaxxxxxxxxxxaxxxxxxxxxx", "", true, "(ax^10,10,10,10,10 )^5 ");
    /* Trips that may be none. */
    expect("IaxxbcabcaxbcaxxxbcabcaxbcF", "", true, "I(ax^2,1,3,1 bc)^6 F");
}

/* Three levels, and that a child lies in its parent. */
static void test_nesting(void)
{
    expect("ssIabbcabbcabbcdabbcabbcdabbcabbcabbcabbcdF", "", false, "s^2 I((ab^2,2,2,2,2,2,2,2,2 c)^3,2,4 d)^3 F");
    struct loop_tree tree = loops_of_text("ssIabbcabbcabbcdabbcabbcdabbcabbcabbcabbcdF", "", false);
    tap_equal_int((long long)tree.count, 5, "nested: loops");
    for (uint32_t i = 1; i < tree.count; i++) {
        const struct loop *loop = &tree.loops[i], *parent = &tree.loops[loop->parent];
        bool inside = loop->parent < i && loop->depth == parent->depth + 1 && loop->entries <= parent->count;
        for (uint32_t k = 0; k < loop->count; k++) {
            const struct loop_iteration *of = &tree.iterations[loop->iteration + k];
            bool found = false;
            for (uint32_t p = 0; p < parent->count; p++) {
                const struct loop_iteration *around = &tree.iterations[parent->iteration + p];
                found |= around->begin <= of->begin && of->end <= around->end;
            }
            inside &= found && of->begin < of->end;
        }
        tap_ok(inside, "nested: loop %u lies in iterations of its parent", i);
    }
    loop_tree_clear(&tree);
}

static uint64_t random_state = 1;
static uint32_t chance(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

/* A random program: a loop with two inner loops, each iteration with a variation. Returns how many iterations. */
static uint32_t random_program(char *text, uint32_t least, bool extra)
{
    uint32_t iterations = 5 + chance(16), at = 0, before = chance(3);
    for (uint32_t i = 0; i < before; i++)
        text[at++] = (char)('P' + (int)i);
    uint32_t heads = 1 + chance(3), tails = 1 + chance(3);
    for (uint32_t k = 0; k < iterations; k++) {
        for (uint32_t i = 0; i < heads; i++)
            text[at++] = (char)('a' + (int)i);
        for (uint32_t trips = least + chance(5 - least); trips > 0; trips--) {
            text[at++] = 'x';
            text[at++] = 'y';
        }
        for (uint32_t i = 0; i < tails; i++)
            text[at++] = (char)('m' + (int)i);
        if (extra && k % 3 == 2)
            text[at++] = 'o';
    }
    text[at++] = 'F';
    text[at] = '\0';
    return iterations;
}

/* The document's calibration, with programs of our own: shares of the right count of iterations. */
static void test_random(void)
{
    static const struct {
        uint32_t least;
        bool extra;
        double share;
        const char *name;
    } rows[] = {{1, false, 1.00, "inner trips 1 to 4"},
                {2, false, 1.00, "inner trips 2 to 4"},
                {0, false, 0.85, "inner trips 0 to 4"},
                {1, true, 0.95, "a call more in every third iteration"}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        uint32_t right = 0;
        for (int i = 0; i < 300; i++) {
            char text[1024];
            uint32_t want = random_program(text, rows[r].least, rows[r].extra);
            struct loop_tree tree = loops_of_text(text, "", true);
            uint32_t outermost = 0, turns = 0;
            for (size_t l = 1; l < tree.count; l++)
                if (tree.loops[l].depth == 1) {
                    outermost++;
                    turns = tree.loops[l].count;
                }
            right += outermost == 1 && turns == want;
            loop_tree_clear(&tree);
        }
        tap_ok(right >= rows[r].share * 300, "random: %s: %.2f are right", rows[r].name, right / 300.);
    }
}

/* True if iterations of an entry follow each other and lie, loop by loop, in one iteration of the parent. */
static bool is_sound(const struct loop_tree *tree, size_t count)
{
    bool sound = tree->count > 0 && tree->loops[0].count == 1 && tree->iterations[0].end == count;
    for (uint32_t l = 1; l < tree->count; l++) {
        const struct loop *loop = &tree->loops[l], *parent = &tree->loops[loop->parent];
        const struct loop_iteration *of = tree->iterations + loop->iteration;
        uint32_t around = 0;
        sound &= loop->count > 0 && loop->item_count > 0 && of[loop->count - 1].entry + 1 == loop->entries;
        for (uint32_t k = 0; k < loop->count; k++) {
            bool next = k > 0 && of[k].entry == of[k - 1].entry;
            sound &= of[k].begin < of[k].end && (!next || of[k - 1].end == of[k].begin);
            while (around < parent->count && tree->iterations[parent->iteration + around].end < of[k].end)
                around++;
            sound &= around < parent->count && tree->iterations[parent->iteration + around].begin <= of[k].begin;
        }
    }
    return sound;
}

/* Whatever the sequence, the tree is one; and rotating for the symbols that end iterations keeps it so. */
static void test_sound(void)
{
    size_t sound = 0, all = 3000;
    for (size_t i = 0; i < all; i++) {
        char text[200], ends[3] = {(char)('a' + (int)chance(5)), (char)('a' + (int)chance(5)), 0};
        size_t length = 1 + chance(sizeof text - 1);
        uint32_t letters = 1 + chance(5), copied = 1 + chance(20);
        for (size_t k = 0; k < length; k++)
            text[k] = k >= copied && chance(12) ? text[k - copied] : (char)('a' + (int)chance(letters));
        text[length - 1] = 0;
        struct loop_tree exact = loops_of_text(text, ends, false), tree = loops_of_text(text, ends, true);
        if (length == 1)
            sound += exact.count == 1 && tree.count == 1;
        else
            sound += is_sound(&exact, length - 1) && is_sound(&tree, length - 1);
        loop_tree_clear(&exact);
        loop_tree_clear(&tree);
    }
    tap_equal_int((long long)sound, (long long)all, "random: iterations follow each other and lie in their parents");
}

/* Steps of folding per call do not grow with the number of calls. */
static size_t steps_of(size_t count, int kind)
{
    uint32_t *symbols = memory_new(count * sizeof *symbols);
    for (size_t i = 0; i < count; i++)
        symbols[i] = kind == 0 ? (uint32_t)(i % 7) : kind == 1 ? chance(3) : chance(1000);
    for (size_t i = 0, k = 0; kind == 3 && i < count; k++) {
        symbols[i++] = 1;
        for (uint32_t trips = 1 + chance(4); trips > 0 && i < count; trips--)
            symbols[i++] = 2;
        if (i < count)
            symbols[i++] = k % 10 == 9 ? 3 : 4;
    }
    struct fold *fold = fold_new(symbols, count, 1000, NULL, 0);
    size_t steps = fold->steps;
    tap_ok(fold->node_count <= 3 * count && fold->body_count <= 2 * count, "cost: memory of %zu calls, kind %d", count,
           kind);
    fold_free(fold);
    free(symbols);
    return steps;
}

static void test_cost(void)
{
    static const char *const names[] = {"one loop", "three symbols at random", "a thousand symbols at random",
                                        "iterations that vary"};
    for (int kind = 0; kind < 4; kind++) {
        size_t few = steps_of(20000, kind), many = steps_of(320000, kind);
        double growth = (double)many / (double)few / 16;
        printf("# %s: %.1f and %.1f steps for each call\n", names[kind], (double)few / 20000, (double)many / 320000);
        tap_ok(growth < 1.5 && many <= (FOLD_EFFORT + 2) * (size_t)321024,
               "cost: %s: 16 times the calls cost %.1f times", names[kind], 16 * growth);
    }
}

/* T-Fig 4.2 and its kin: which loop lies in which, in any order of insertion. */
static void test_nest(void)
{
    static const struct loop_interval tree[] = {{0x10730, 0x10808}, {0x1074c, 0x107f4}, {0x10750, 0x10774},
                                                {0x10780, 0x107d4}, {0x1079c, 0x107c0}, {0x10814, 0x10840}};
    static const uint32_t want[] = {LOOP_NONE, 0, 1, 1, 3, LOOP_NONE};
    uint32_t parents[6];
    loop_nest(tree, 6, parents);
    for (size_t i = 0; i < 6; i++)
        tap_equal_int(parents[i], want[i], "nest: parent of loop %zu of T-Fig 4.2", i);
    struct loop_interval backwards[6];
    for (size_t i = 0; i < 6; i++)
        backwards[i] = tree[5 - i];
    loop_nest(backwards, 6, parents);
    for (size_t i = 0; i < 6; i++)
        tap_equal_int(parents[5 - i], want[i] == LOOP_NONE ? LOOP_NONE : 5 - want[i], "nest: inner ones first, %zu", i);
    static const struct loop_interval two[] = {{0x107bc, 0x10800}, {0x10820, 0x10864}};
    loop_nest(two, 2, parents);
    tap_ok(parents[0] == LOOP_NONE && parents[1] == LOOP_NONE, "nest: two siblings (C2)");
    static const struct loop_interval crossing[] = {{100, 200}, {150, 250}, {160, 180}};
    loop_nest(crossing, 3, parents);
    tap_ok(parents[0] == LOOP_NONE && parents[1] == LOOP_NONE && parents[2] == 0,
           "nest: intertwined are siblings, what lies in both is the first one's (C3)");
    loop_nest(NULL, 0, parents);
}

/* T-Tab 4.1, and that exactly the threshold is none. */
static void test_bottleneck(void)
{
    tap_ok(loop_is_bottleneck(9667192, 9683207, LOOP_BOTTLENECK_SHARE), "table 4.1: first for is a bottleneck");
    tap_ok(!loop_is_bottleneck(16026, 9603596, LOOP_BOTTLENECK_SHARE), "table 4.1: second for is none");
    tap_ok(loop_is_bottleneck(9727158, 9744907, LOOP_BOTTLENECK_SHARE), "table 4.1: nested for is a bottleneck");
    tap_ok(!loop_is_bottleneck(20000, 100000, 0.2), "20.000 %% is none");
    tap_ok(loop_is_bottleneck(20001, 100000, 0.2), "20.001 %% is one");
    tap_ok(!loop_is_bottleneck(0, 0, 0.2), "nothing of nothing is none");
}

/* A graph of locations whose calls are made by hand. */
enum { STEP, ALLREDUCE, RANK, LATER, SENDING, STATES, WORLD = 0 };

static struct defs *hand_definitions(uint32_t processes)
{
    static const char *const names[STATES] = {"MPI_Sendrecv", "MPI_Allreduce", "MPI_Comm_rank", "MPI_Bcast",
                                              "MPI_Send"};
    struct defs *defs = defs_new();
    for (size_t i = 0; i < STATES; i++)
        defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t)names[i]});
    int32_t world = defs_comm(defs, WORLD);
    defs->comms[world].world = true;
    defs->processes = processes;
    return defs;
}

/* Kinds of calls are the states, on the world. */
static struct call_kind kinds[STATES] = {
    {STEP, 0, WORLD}, {ALLREDUCE, 0, WORLD}, {RANK, 0, WORLD}, {LATER, 0, WORLD}, {SENDING, 0, WORLD}};

static struct packed_call *add_call(struct graph *graph, struct location *location, uint32_t state, int64_t enter_ns,
                                    int64_t leave_ns)
{
    struct packed_call *call = graph_add_call(graph, location, enter_ns, state);
    graph_set_leave(graph, location, location->count - 1, leave_ns);
    return call;
}

/* C5b: the function of T-Fig 4.7, with calls in place of its statements. All times in 10 us. */
static void test_paradyn(void)
{
    struct defs *defs = hand_definitions(1);
    struct location *location = memory_new(sizeof *location);
    struct graph graph = {
        .defs = defs, .locations = location, .location_count = 1, .kinds = kinds, .collectives = collectives_of(defs)};
    int64_t now = 0;
    location->end_ns = 974000;
    for (int j = 0; j < 100; j++) {
        add_call(&graph, location, STEP, now, now + 80);
        add_call(&graph, location, SENDING, now + 80, now + 80);
        for (int k = 0; k < 4; k++)
            add_call(&graph, location, ALLREDUCE, now + 80 + k * 2410, now + 80 + k * 2410 + (k < 3 ? 10 : 2410));
        now += 9720;
    }
    for (int w = 0; w < 500; w++, now += 4)
        add_call(&graph, location, LATER, now, now + 4);
    wait_table_make(&graph, 1);
    struct loop_tree tree = loops_of(&graph, 0);
    if (tap_equal_int((long long)tree.count, 4, "table 4.1 as a trace: three loops in the whole")) {
        const struct loop *first = &tree.loops[1], *second = &tree.loops[2], *nested = &tree.loops[3];
        tap_equal_int(first->time_ns, 972000, "table 4.1 as a trace: time of the first for");
        tap_equal_int(second->time_ns, 2000, "table 4.1 as a trace: time of the second for");
        tap_equal_int(nested->time_ns, 964000, "table 4.1 as a trace: time of the nested for");
        tap_ok(fabs(first->share_of_all - 0.99795) < 5e-6, "table 4.1 as a trace: 99.795 %%");
        tap_ok(fabs(second->share_of_all - 0.00205) < 5e-6, "table 4.1 as a trace: 0.205 %%");
        tap_ok(fabs(nested->share_of_all - 0.98973) < 5e-6, "table 4.1 as a trace: 98.973 %%");
        tap_ok(fabs(nested->share - 964. / 972) < 1e-12, "the nested for's share of the first");
        tap_ok(first->bottleneck && !second->bottleneck && nested->bottleneck, "table 4.1 as a trace: classes");
        tap_equal_int(first->count, 100, "the first for turns 100 times");
        tap_equal_int(second->count, 500, "the second for turns 500 times");
        tap_equal_int(nested->entries, 100, "the nested for is entered 100 times");
        tap_equal_int(nested->count, 400, "and turns 400 times in all");
        tap_equal_int(first->time_ns - nested->time_ns, 8000, "what the first for takes alone");
        tap_equal_int(first->time_ns + second->time_ns, tree.loops[0].time_ns, "both make the function");
        tap_ok(nested->kind == LOOP_COMPUTING && second->kind == LOOP_COMMUNICATING, "which kind of time dominates");
        tap_equal_int(nested->computing_ns, 100 * 3 * 2400, "computing in the nested for (F32)");
        loop_tree_mark(&tree, 0.992);
        tap_ok(first->bottleneck && !nested->bottleneck, "with another threshold");
    }
    loop_tree_clear(&tree);
    wait_table_free(&graph);
    graph_free_storage(&graph);
    free(graph.collectives);
    defs_free(defs);
}

/* A master that answers whoever comes; calls that only ask; a first iteration that takes longer; waiting. */
static void test_locations(void)
{
    struct defs *defs = hand_definitions(4);
    struct location *locations = memory_new(4 * sizeof *locations);
    struct graph graph = {.defs = defs, .locations = locations, .location_count = 4};
    struct instance instances[20] = {{0}};
    struct instance_stream stream = {.comm = WORLD, .state = ALLREDUCE, .most = 4};
    struct packed_message *messages = memory_new(20 * sizeof *messages);
    struct channel channels[4] = {{0}};
    locations[0].end_ns = 10000;
    for (uint32_t p = 1; p < 4; p++) {
        locations[p].process = p;
        channels[p] = (struct channel){.receiver = p, .receive_location = p};
    }
    for (uint32_t k = 0; k < 20; k++) {
        int64_t now = 1000 + 400 * (int64_t)k;
        packed_set_out(&graph, add_call(&graph, &locations[0], STEP, k ? now : 100, now + 10), k + 1);
        messages[k] = (struct packed_message){.receive_call = GRAPH_NONE};
        if (k % 3 == 0)
            add_call(&graph, &locations[0], RANK, now + 20, now + 21);
        struct packed_call *reduce = add_call(&graph, &locations[0], ALLREDUCE, now + 30, now + 390);
        reduce->link = k + 1;
        reduce->word |= CALL_IN_INSTANCE;
        instances[k] = (struct instance){.latest_enter_ns = now + 380,
                                         .root_location = GRAPH_NONE,
                                         .count = 4,
                                         .latest_location = 1,
                                         .complete = true};
    }
    graph.kinds = kinds;
    graph.collectives = collectives_of(defs);
    graph.channels = channels;
    graph.messages = messages;
    graph.instances = instances;
    graph.streams = &stream;
    graph.message_count = graph.instance_count = 20;
    graph.stream_count = 1;
    wait_table_make(&graph, 1);
    struct loop_tree tree = loops_of(&graph, 0);
    if (tap_equal_int((long long)tree.count, 2, "location: one loop, asked or not")) {
        tap_equal_int(tree.loops[1].count, 20, "location: its iterations");
        tap_ok(tree.loops[1].kind == LOOP_WAITING, "location: it waits");
        tap_equal_int(tree.loops[1].waiting_ns, 20 * 350, "location: for so long");
        tap_equal_int(tree.loops[1].warm_up, 1, "location: the first iteration is warming up");
        tap_equal_int(tree.loops[1].computing_ns + tree.loops[1].waiting_ns + tree.loops[1].communicating_ns,
                      tree.loops[1].time_ns, "location: times add up");
    }
    loop_tree_clear(&tree);
    for (uint32_t k = 0; k < 20; k++)
        messages[k].channel = 1 + (k * k + k / 3) % 3;
    for (uint32_t p = 1; p < 4; p++)
        add_call(&graph, &locations[p], STEP, 0, 5);
    for (uint32_t k = 0; k < 20; k++)
        messages[k].receive_call = 0;
    wait_table_free(&graph);
    wait_table_make(&graph, 1);
    tree = loops_of(&graph, 0);
    tap_ok(tree.count >= 2 && tree.loops[1].count >= 19, "location: partners that come in any order");
    loop_tree_clear(&tree);
    tree = loops_of(&graph, 3);
    tap_equal_int((long long)tree.count, 1, "location: one call is no loop");
    loop_tree_clear(&tree);
    wait_table_free(&graph);
    graph_free_storage(&graph);
    free(graph.collectives);
    defs_free(defs);
}

int main(void)
{
    test_folding();
    test_anchors();
    test_nesting();
    test_random();
    test_sound();
    test_cost();
    test_nest();
    test_bottleneck();
    test_paradyn();
    test_locations();
    return tap_done();
}
