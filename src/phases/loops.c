/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"
#include "core/numbers.h"
#include "phases/anchor.h"
#include "phases/location_loops.h"

#include <string.h>

/* Iterations of an anchor replace a folded loop only if they have more than this share of its symbols, and this
   similarity. */
static const double ANCHOR_SYMBOLS = 0.5, ANCHOR_SIMILAR = 0.9;

/* An anchor reaches further than a folded loop if its iterations take this many times as long. */
static const double SAME_RANGE = 1.1;

void loop_tree_clear(struct loop_tree *tree)
{
    free(tree->loops);
    free(tree->items);
    free(tree->iterations);
    *tree = (struct loop_tree){0};
}

/* Copies `count` elements to an array that holds at least so many afterwards, and is never NULL. */
static void *copied(void *to, size_t *capacity, const void *from, size_t count, size_t size)
{
    if (!to || count > *capacity) {
        free(to);
        *capacity = larger(count, (size_t)1);
        to = memory_resize(NULL, *capacity * size);
    }
    if (count > 0)
        memcpy(to, from, count * size);
    return to;
}

void loop_tree_copy(struct loop_tree *to, const struct loop_tree *from)
{
    to->loops = copied(to->loops, &to->capacity, from->loops, from->count, sizeof *from->loops);
    to->items = copied(to->items, &to->item_capacity, from->items, from->item_count, sizeof *from->items);
    to->iterations = copied(to->iterations, &to->iteration_capacity, from->iterations, from->iteration_count,
                            sizeof *from->iterations);
    to->count = from->count;
    to->item_count = from->item_count;
    to->iteration_count = from->iteration_count;
}

/* An iteration: the nodes from first to last of a chain. */
struct span {
    uint32_t first, last, entry;
};

/* Nodes that are the same loop of the tree, each an entry. */
struct slot {
    uint32_t *nodes;
    size_t count, capacity;
    uint32_t loop;
};

/* Builds a tree from a fold. */
struct grower {
    const struct loop_sequence *sequence;
    const uint32_t *names; /* symbols of the fold as they were given */
    struct fold *fold;
    struct loop_tree *tree;
    const struct anchor *anchor; /* NULL: none */
    uint32_t varied;             /* node of the loop whose iterations are the anchor's */
    uint32_t *varied_firsts;     /* the first node of each */
};

/* Matches the loops of different iterations: those at the same place or, if iterations differ, the n-th of the same
   body. */
static uint64_t slot_key(const struct fold *fold, bool varies, uint32_t place, uint32_t node, struct map *seen,
                         uint32_t iteration)
{
    if (!varies)
        return place;
    uint32_t shape = fold->nodes[node].shape;
    uint64_t *last = map_put(seen, shape, UINT64_MAX);
    bool again = *last != UINT64_MAX && *last >> 32 == iteration;
    uint32_t number = 0;
    if (again)
        number = (uint32_t)*last + 1;
    *last = map_pair(iteration, number);
    return map_pair(shape, (uint32_t)*last);
}

struct slots {
    struct slot *slots;
    size_t count, capacity;
    struct map known, seen;
};

static struct slot *slot_of(struct slots *slots, uint64_t key)
{
    uint64_t *known = map_put(&slots->known, key, slots->count);
    if (*known == slots->count)
        ARRAY_PUSH(slots->slots, slots->count, slots->capacity, (struct slot){.loop = LOOP_NONE});
    return &slots->slots[*known];
}

static uint32_t add_loop(struct loop_tree *tree, uint32_t parent)
{
    struct loop loop = {.parent = parent, .similarity = 1, .period = 1};
    if (parent != LOOP_NONE)
        loop.depth = tree->loops[parent].depth + 1;
    ARRAY_PUSH(tree->loops, tree->count, tree->capacity, loop);
    return (uint32_t)tree->count - 1;
}

/* Writes the body of a loop from one iteration. Slots of its loops are created in that order, and so are the loops. */
static void write_body(struct grower *grower, uint32_t loop, const struct span *span, struct slots *slots, bool varies)
{
    const struct fold *fold = grower->fold;
    struct loop_tree *tree = grower->tree;
    struct map seen = {0};
    tree->loops[loop].item = (uint32_t)tree->item_count;
    uint32_t place = 0;
    for (uint32_t at = span->first;; at = fold->nodes[at].next, place++) {
        const struct fold_node *node = &fold->nodes[at];
        struct loop_item item = {.symbol = UINT32_MAX, .at = node->begin, .loop = LOOP_NONE};
        if (fold_is_loop(fold, at)) {
            struct slot *slot = slot_of(slots, slot_key(fold, varies, place, at, &seen, 0));
            if (slot->loop == LOOP_NONE)
                slot->loop = add_loop(tree, loop);
            item.loop = slot->loop;
        } else {
            item.symbol = grower->names[node->shape];
        }
        ARRAY_PUSH(tree->items, tree->item_count, tree->item_capacity, item);
        if (at == span->last)
            break;
    }
    tree->loops[loop].item_count = (uint32_t)tree->item_count - tree->loops[loop].item;
    map_clear(&seen);
}

/* Gives the loops in all iterations to their slots, in order. */
static void fill_slots(struct grower *grower, uint32_t loop, const struct span *spans, size_t count,
                       struct slots *slots, bool varies)
{
    const struct fold *fold = grower->fold;
    for (size_t i = 0; i < count; i++) {
        uint32_t place = 0;
        for (uint32_t at = spans[i].first;; at = fold->nodes[at].next, place++) {
            if (fold_is_loop(fold, at)) {
                struct slot *slot = slot_of(slots, slot_key(fold, varies, place, at, &slots->seen, (uint32_t)i));
                if (slot->loop == LOOP_NONE)
                    slot->loop = add_loop(grower->tree, loop);
                ARRAY_PUSH(slot->nodes, slot->count, slot->capacity, at);
            }
            if (at == spans[i].last)
                break;
        }
    }
}

/* The iterations of the nodes of a slot. Returns how many. */
static size_t spans_of(const struct grower *grower, const struct slot *slot, struct span **spans)
{
    const struct fold *fold = grower->fold;
    size_t count = 0, capacity = 0;
    *spans = NULL;
    for (size_t i = 0; i < slot->count; i++) {
        const struct fold_node *node = &fold->nodes[slot->nodes[i]];
        uint32_t at = node->child, length = fold->shapes[node->shape].length;
        for (uint32_t k = 0; k < node->count; k++) {
            struct span span = {.first = at, .last = at, .entry = (uint32_t)i};
            /* Iterations of an anchor differ in length: each ends before the next begins. */
            if (slot->nodes[i] == grower->varied) {
                uint32_t stop = k + 1 < node->count ? grower->varied_firsts[k + 1] : FOLD_NONE;
                while (fold->nodes[span.last].next != stop)
                    span.last = fold->nodes[span.last].next;
            } else {
                for (uint32_t l = 1; l < length; l++)
                    span.last = fold->nodes[span.last].next;
            }
            at = fold->nodes[span.last].next;
            ARRAY_PUSH(*spans, count, capacity, span);
        }
    }
    return count;
}

/* Writes the iterations of a loop, then the loops inside. Depth is that of loops in loops, each of which halves the
   sequence at least. */
static void grow(struct grower *grower, uint32_t loop, const struct span *spans, size_t count, bool varies)
{
    const struct fold *fold = grower->fold;
    struct loop_tree *tree = grower->tree;
    tree->loops[loop].iteration = (uint32_t)tree->iteration_count;
    tree->loops[loop].count = (uint32_t)count;
    tree->loops[loop].entries = spans[count - 1].entry + 1;
    for (size_t i = 0; i < count; i++) {
        struct loop_iteration iteration = {
            .begin = fold->nodes[spans[i].first].begin, .end = fold->nodes[spans[i].last].end, .entry = spans[i].entry};
        if (varies)
            iteration.type = grower->anchor->types[i];
        ARRAY_PUSH(tree->iterations, tree->iteration_count, tree->iteration_capacity, iteration);
    }
    struct slots slots = {0};
    size_t usual = 0;
    if (varies) {
        /* The usual iteration is shown as the body: the first may be a special one. */
        usual = grower->anchor->modal;
        tree->loops[loop].similarity = grower->anchor->similarity;
        tree->loops[loop].period = anchor_period(grower->anchor);
    }
    write_body(grower, loop, &spans[usual], &slots, varies);
    fill_slots(grower, loop, spans, count, &slots, varies);
    for (size_t i = 0; i < slots.count; i++) {
        struct span *inner;
        size_t inner_count = spans_of(grower, &slots.slots[i], &inner);
        grow(grower, slots.slots[i].loop, inner, inner_count, slots.slots[i].nodes[0] == grower->varied);
        free(inner);
        free(slots.slots[i].nodes);
    }
    free(slots.slots);
    map_clear(&slots.known);
    map_clear(&slots.seen);
}

static void grow_all(struct grower *grower)
{
    const struct fold *fold = grower->fold;
    uint32_t whole = add_loop(grower->tree, LOOP_NONE);
    if (fold->first == FOLD_NONE)
        return;
    struct span span = {.first = fold->first, .last = fold->first};
    while (fold->nodes[span.last].next != FOLD_NONE)
        span.last = fold->nodes[span.last].next;
    grow(grower, whole, &span, 1, false);
}

/* Makes one loop of the anchor's iterations, in place of the cuts between them. */
static void insert_anchor(struct grower *grower)
{
    struct fold *fold = grower->fold;
    size_t iteration = 0;
    uint32_t before = FOLD_NONE, at = fold->first;
    grower->varied_firsts = memory_new(grower->anchor->count * sizeof *grower->varied_firsts);
    for (; !fold_is_cut(fold, at); at = fold->nodes[at].next)
        before = at;
    uint32_t previous = FOLD_NONE, loop = at, first = fold->nodes[at].next;
    /* The first cut becomes the loop; the others are taken out. */
    for (at = loop; at != FOLD_NONE; at = fold->nodes[at].next) {
        if (!fold_is_cut(fold, at)) {
            if (fold->nodes[at].begin >= grower->anchor->end)
                break;
            previous = at;
            continue;
        }
        grower->varied_firsts[iteration++] = fold->nodes[at].next;
        if (previous != FOLD_NONE)
            fold->nodes[previous].next = fold->nodes[at].next;
    }
    fold->nodes[previous].next = FOLD_NONE;
    fold->shapes[fold->nodes[loop].shape].length = 1;
    fold->nodes[loop] = (struct fold_node){.shape = fold->nodes[loop].shape,
                                           .begin = fold->nodes[first].begin,
                                           .end = fold->nodes[previous].end,
                                           .count = (uint32_t)iteration,
                                           .child = first,
                                           .last = previous,
                                           .next = at};
    if (before == FOLD_NONE)
        fold->first = loop;
    grower->varied = loop;
}

/* Outside all loops a body that occurs once is not a loop, even if it is one elsewhere. */
static void unfold_single(const struct grower *grower)
{
    struct fold *fold = grower->fold;
    for (uint32_t *link = &fold->first; *link != FOLD_NONE;) {
        struct fold_node *node = &fold->nodes[*link];
        if (*link == grower->varied || node->count > 1 || !fold_is_loop(fold, *link)) {
            link = &node->next;
            continue;
        }
        fold->nodes[node->last].next = node->next;
        *link = node->child;
    }
}

/* The time of the sequence from one place to before another. */
static double duration_of(const struct loop_sequence *sequence, uint32_t begin, uint32_t end)
{
    if (begin >= end)
        return 0;
    if (!sequence->enter_ns || !sequence->leave_ns)
        return (double)(end - begin);
    return (double)time_since(sequence->enter_ns[begin], sequence->leave_ns[end - 1]);
}

/* The outermost loop with the most time; FOLD_NONE if there is none. */
static uint32_t longest_loop(const struct fold *fold, const struct loop_sequence *sequence)
{
    uint32_t longest = FOLD_NONE;
    double most = -1;
    for (uint32_t at = fold->first; at != FOLD_NONE; at = fold->nodes[at].next) {
        double time = fold_is_loop(fold, at) ? duration_of(sequence, fold->nodes[at].begin, fold->nodes[at].end) : -1;
        if (time > most) {
            most = time;
            longest = at;
        }
    }
    return longest;
}

static uint32_t first_symbol(const struct fold *fold, uint32_t node)
{
    while (node != FOLD_NONE && fold_is_loop(fold, node))
        node = fold->nodes[node].child;
    return node == FOLD_NONE ? FOLD_NONE : fold->nodes[node].shape;
}

/* True if the iterations of the anchor are better than the folded loops. */
static bool anchor_is_better(const struct anchor *anchor, const struct fold *fold, uint32_t longest,
                             const struct loop_sequence *sequence, const uint32_t *symbols)
{
    if (anchor->count == 0 || longest == FOLD_NONE)
        return anchor->count > 0;
    const struct fold_node *loop = &fold->nodes[longest];
    /* If setup takes long, no loop dominates: judge an anchor that reaches no further all the same. */
    bool further = duration_of(sequence, anchor->starts[0], anchor->end) >
                   SAME_RANGE * duration_of(sequence, loop->begin, loop->end);
    if (further && duration_of(sequence, loop->begin, loop->end) <
                       LOOP_DOMINATES * duration_of(sequence, 0, (uint32_t)sequence->count))
        return true;
    if (anchor->count <= loop->count + 1 || anchor->similarity < ANCHOR_SIMILAR)
        return false;
    /* A loop of several iterations that differ (X X Y), or one with an inner loop (a x x x), or one in which a call has
       several places (a b a c)? The iterations that the anchor finds in the first have nearly all its symbols. */
    uint32_t distinct = 0;
    bool *met = memory_new(fold->symbols * sizeof *met);
    for (uint32_t i = loop->begin; i < loop->end; i++) {
        distinct += !met[symbols[i]];
        met[symbols[i]] = true;
    }
    free(met);
    return (double)anchor->modal_symbols > ANCHOR_SYMBOLS * (double)distinct;
}

/* Numbers the symbols from 0 on, in the order in which they occur. Returns how many there are. */
static uint32_t number_symbols(const struct loop_sequence *sequence, uint32_t *numbers, uint32_t *names)
{
    struct map known = {0};
    uint32_t count = 0;
    for (size_t i = 0; i < sequence->count; i++) {
        numbers[i] = (uint32_t)*map_put(&known, sequence->symbols[i], count);
        if (numbers[i] == count)
            names[count++] = sequence->symbols[i];
    }
    map_clear(&known);
    return count;
}

static int64_t *gaps_of(const struct loop_sequence *sequence)
{
    if (!sequence->enter_ns || !sequence->leave_ns)
        return NULL;
    int64_t *gaps_ns = memory_new(sequence->count * sizeof *gaps_ns);
    for (size_t i = 1; i < sequence->count; i++)
        gaps_ns[i] = time_since(sequence->leave_ns[i - 1], sequence->enter_ns[i]);
    return gaps_ns;
}

static struct loop_tree find_loops(const struct loop_sequence *sequence, bool anchors)
{
    struct loop_tree tree = {0};
    uint32_t *symbols = memory_new(sequence->count * sizeof *symbols);
    uint32_t *names = memory_new(sequence->count * sizeof *names);
    uint32_t symbol_count = number_symbols(sequence, symbols, names);
    struct fold *fold = fold_new(symbols, sequence->count, symbol_count, NULL, 0);
    int64_t *gaps_ns = gaps_of(sequence);
    fold_rotate(fold, sequence->ends, gaps_ns);
    free(gaps_ns);
    struct anchor anchor = {.symbol = FOLD_NONE};
    uint32_t longest = longest_loop(fold, sequence);
    if (anchors)
        anchor = anchor_of(symbols, sequence->count, symbol_count, sequence->ends, first_symbol(fold, longest));
    struct grower grower = {.sequence = sequence, .names = names, .fold = fold, .tree = &tree, .varied = FOLD_NONE};
    if (anchor_is_better(&anchor, fold, longest, sequence, symbols)) {
        grower.anchor = &anchor;
        grower.fold = anchor.fold;
        insert_anchor(&grower);
    }
    unfold_single(&grower);
    grow_all(&grower);
    free(grower.varied_firsts);
    anchor_clear(&anchor);
    fold_free(fold);
    free(symbols);
    free(names);
    return tree;
}

struct loop_tree loops_in(const struct loop_sequence *sequence)
{
    return find_loops(sequence, true);
}

struct loop_tree loops_folded(const struct loop_sequence *sequence)
{
    return find_loops(sequence, false);
}
