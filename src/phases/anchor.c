/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases/anchor.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <string.h>

/* An anchor must span half of the sequence, and its usual segment half of the frequent symbols; segments must be
   similar to the usual one (2 * common / (n + m), diagnosis_rules 5.3). Of anchors that are about as similar as the
   best, the most frequent is chosen. */
static const double LEAST_COVERED = 0.5, LEAST_SYMBOLS = 0.5, LEAST_SIMILAR = 0.8, AS_SIMILAR = 0.06;

/* Steps of comparing segments, per anchor; beyond it only the equal symbols at both ends count as common. */
enum { COMPARE_EFFORT = 1 << 26 };

/* The number of equally frequent symbols tried: mostly they belong to the same iteration and cut it in the same way. */
enum { ANCHORS_ALIKE = 3 };

/* A folded segment, for comparison. */
struct type {
    uint32_t *body;
    size_t length;
    size_t count; /* closed segments of it */
    uint32_t first, chain;
};

struct types {
    struct type *types;
    size_t count, capacity;
    struct map known; /* hash -> first type of that hash */
};

struct text {
    uint32_t *symbols;
    size_t length, capacity;
};

/* Writes a shape's symbols, each loop as its body once: iterations that differ only in how often an inner loop runs are
   of the same type. */
static void write_shape(const struct fold *fold, uint32_t shape, struct text *text)
{
    const struct fold_shape *loop = &fold->shapes[shape];
    if (loop->length == 0)
        ARRAY_PUSH(text->symbols, text->length, text->capacity, shape);
    for (uint32_t i = 0; i < loop->length; i++)
        write_shape(fold, fold->bodies[loop->body + i], text);
}

static uint32_t type_of(struct types *types, const struct text *text, uint32_t segment)
{
    uint64_t hash = text->length;
    for (size_t i = 0; i < text->length; i++)
        hash = map_hash(hash + text->symbols[i] + 1);
    /* `>> 1`: the map's keys cannot be UINT64_MAX. Types with the same hash are a chain. */
    uint64_t *known = map_put(&types->known, hash >> 1, FOLD_NONE);
    for (uint32_t at = (uint32_t)*known; at != FOLD_NONE; at = types->types[at].chain)
        if (types->types[at].length == text->length &&
            memcmp(types->types[at].body, text->symbols, text->length * sizeof *text->symbols) == 0)
            return at;
    struct type type = {.length = text->length, .first = segment, .chain = (uint32_t)*known};
    type.body = memory_new(text->length * sizeof *type.body);
    memcpy(type.body, text->symbols, text->length * sizeof *type.body);
    ARRAY_PUSH(types->types, types->count, types->capacity, type);
    *known = types->count - 1;
    return (uint32_t)types->count - 1;
}

/* Length of the longest common subsequence, as far as the effort allows. */
static size_t common_of(const struct type *left, const struct type *right, size_t *effort)
{
    /* Equal begins and ends are common in any case: the table is only for what lies between them. */
    size_t head = 0, tail = 0, n = left->length, m = right->length;
    while (head < n && head < m && left->body[head] == right->body[head])
        head++;
    while (tail < n - head && tail < m - head && left->body[n - 1 - tail] == right->body[m - 1 - tail])
        tail++;
    n -= head + tail;
    m -= head + tail;
    if (n == 0 || m == 0 || *effort / n < m)
        return head + tail;
    *effort -= n * m;
    /* One row of the usual table: `diagonal` is what the row had there before. */
    size_t *row = memory_new((m + 1) * sizeof *row);
    for (size_t i = 0; i < n; i++) {
        size_t diagonal = 0;
        for (size_t j = 1; j <= m; j++) {
            size_t above = row[j];
            if (left->body[head + i] == right->body[head + j - 1])
                row[j] = diagonal + 1;
            else if (row[j - 1] > above)
                row[j] = row[j - 1];
            diagonal = above;
        }
    }
    size_t common = row[m];
    free(row);
    return head + tail + common;
}

/* Mean similarity of the closed segments to the modal one. */
static double similarity_of(const struct types *types, uint32_t modal, size_t segments)
{
    size_t effort = COMPARE_EFFORT;
    double sum = 0;
    const struct type *usual = &types->types[modal];
    for (size_t i = 0; i < types->count; i++) {
        const struct type *type = &types->types[i];
        if (type->count == 0)
            continue;
        size_t common = usual->length;
        if (i != modal)
            common = common_of(type, usual, &effort);
        sum += (double)type->count * 2 * (double)common / (double)(type->length + usual->length);
    }
    return sum / (double)segments;
}

static uint32_t modal_of(const struct types *types)
{
    uint32_t modal = 0;
    for (uint32_t i = 1; i < types->count; i++)
        if (types->types[i].count > types->types[modal].count)
            modal = i;
    return modal;
}

/* True if the modal segment has enough of the symbols that are frequent from the first anchor to the last; counts its
   distinct symbols. */
static bool has_symbols(struct anchor *anchor, const uint32_t *symbols, uint32_t symbol_count)
{
    uint32_t *counts = memory_new(symbol_count * sizeof *counts);
    size_t frequent = 0, held = 0;
    for (size_t i = anchor->starts[0]; i <= anchor->starts[anchor->count - 1]; i++)
        /* Counts to ANCHOR_LEAST once: each frequent symbol is counted when it becomes frequent. */
        frequent += ++counts[symbols[i]] == ANCHOR_LEAST;
    anchor->modal_symbols = 0;
    for (size_t i = 0; i < anchor->modal_length; i++) {
        uint32_t *count = &counts[anchor->modal_body[i]];
        if (*count == UINT32_MAX)
            continue;
        anchor->modal_symbols++;
        held += *count >= ANCHOR_LEAST;
        /* Marked as seen, so that a symbol that the segment has several times counts once. */
        *count = UINT32_MAX;
    }
    free(counts);
    return (double)held >= LEAST_SYMBOLS * (double)frequent;
}

/* Where the last iteration ends, and its type: the longest type that it begins with; else it is as long as a usual one.
   `node` is its first. */
static void end_last(struct anchor *anchor, struct types *types, uint32_t node, uint32_t modal)
{
    const struct fold *fold = anchor->fold;
    struct text text = {0};
    size_t length = 0, most = types->types[modal].length;
    uint32_t type = FOLD_NONE, end = anchor->starts[anchor->count - 1];
    for (size_t i = 0; i < types->count; i++)
        if (types->types[i].length > most)
            most = types->types[i].length;
    for (; node != FOLD_NONE && text.length < most; node = fold->nodes[node].next) {
        write_shape(fold, fold->nodes[node].shape, &text);
        if (type == FOLD_NONE && length < types->types[modal].length) {
            length = text.length;
            end = fold->nodes[node].end;
        }
        for (uint32_t i = 0; i < types->count; i++)
            if (types->types[i].length == text.length &&
                memcmp(types->types[i].body, text.symbols, text.length * sizeof *text.symbols) == 0) {
                type = i;
                end = fold->nodes[node].end;
            }
    }
    anchor->end = end;
    /* A type of its own: no closed segment is like it. */
    if (type == FOLD_NONE)
        type = (uint32_t)types->count;
    anchor->types[anchor->count - 1] = type;
    free(text.symbols);
}

/* Types of all closed segments, in order. Returns the first node of the last segment, which is open. */
static uint32_t find_types(struct anchor *anchor, struct types *types)
{
    const struct fold *fold = anchor->fold;
    struct text text = {0};
    size_t segment = 0;
    uint32_t node = fold->first;
    while (!fold_is_cut(fold, node))
        node = fold->nodes[node].next;
    for (node = fold->nodes[node].next; segment + 1 < anchor->count; node = fold->nodes[node].next) {
        if (!fold_is_cut(fold, node)) {
            write_shape(fold, fold->nodes[node].shape, &text);
            continue;
        }
        uint32_t type = type_of(types, &text, (uint32_t)segment);
        types->types[type].count++;
        anchor->types[segment++] = type;
        text.length = 0;
    }
    free(text.symbols);
    return node;
}

/* The anchor is an iteration's last call: iterations begin after it, and the first one where its calls start to match
   the second's, if half of them do. A collective of the whole run is usually the last thing of an iteration, not the
   first. */
static void start_behind(struct anchor *anchor, const uint32_t *symbols)
{
    uint32_t *starts = anchor->starts, length = starts[1] - starts[0], same = 0;
    while (same < length && same <= starts[0] && symbols[starts[0] - same] == symbols[starts[1] - same])
        same++;
    uint32_t first = starts[0] + 1 - same;
    for (size_t i = 0; i + 1 < anchor->count; i++)
        starts[i]++;
    anchor->count--;
    if (2 * same < length)
        return;
    memmove(starts + 1, starts, anchor->count * sizeof *starts);
    starts[0] = first;
    anchor->count++;
}

/* Cuts the sequence at the symbol, or after it if it ends iterations, and returns whether that is accepted. */
static bool try_symbol(struct anchor *anchor, const uint32_t *symbols, size_t count, uint32_t symbol_count, bool ends)
{
    size_t capacity = 0;
    for (size_t i = 0; i < count; i++)
        if (symbols[i] == anchor->symbol)
            ARRAY_PUSH(anchor->starts, anchor->count, capacity, (uint32_t)i);
    if (ends)
        start_behind(anchor, symbols);
    anchor->types = memory_new(anchor->count * sizeof *anchor->types);
    anchor->fold = fold_new(symbols, count, symbol_count, anchor->starts, anchor->count);
    struct types types = {0};
    uint32_t last = find_types(anchor, &types), modal = modal_of(&types);
    anchor->modal = types.types[modal].first;
    anchor->modal_length = types.types[modal].length;
    anchor->modal_body = memory_new(anchor->modal_length * sizeof *anchor->modal_body);
    memcpy(anchor->modal_body, types.types[modal].body, anchor->modal_length * sizeof *anchor->modal_body);
    bool accepted = has_symbols(anchor, symbols, symbol_count);
    if (accepted)
        anchor->similarity = similarity_of(&types, modal, anchor->count - 1);
    end_last(anchor, &types, last, modal);
    for (size_t i = 0; i < types.count; i++)
        free(types.types[i].body);
    free(types.types);
    map_clear(&types.known);
    return accepted && anchor->similarity >= LEAST_SIMILAR;
}

/* A candidate symbol. */
struct candidate {
    uint32_t symbol, first, last, count;
    bool ends, preferred;
};

/* The most frequent first; equal ones in order of preference. */
static int by_rank(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;
    int order = order_by(right->count, left->count);
    if (order == 0)
        order = order_by(right->ends, left->ends);
    if (order == 0)
        order = order_by(right->preferred, left->preferred);
    return order ? order : order_by(left->first, right->first);
}

/* The symbols to try, in the order of by_rank; returns how many. */
static size_t find_candidates(struct candidate *found, const uint32_t *symbols, size_t count, uint32_t symbol_count,
                              const bool *ends, uint32_t preferred)
{
    struct candidate *all = memory_new(symbol_count * sizeof *all);
    for (size_t i = 0; i < count; i++) {
        struct candidate *candidate = &all[symbols[i]];
        if (candidate->count++ == 0)
            *candidate = (struct candidate){symbols[i], (uint32_t)i, 0, 1, ends && ends[i], symbols[i] == preferred};
        candidate->last = (uint32_t)i;
    }
    if (symbol_count > 0)
        qsort(all, symbol_count, sizeof *all, by_rank);
    size_t tried = 0, equal = 0;
    for (size_t i = 0; i < symbol_count && all[i].count >= ANCHOR_LEAST && tried < ANCHORS; i++) {
        if ((double)(all[i].last - all[i].first + 1) < LEAST_COVERED * (double)count)
            continue;
        if (tried > 0 && found[tried - 1].count == all[i].count)
            equal++;
        else
            equal = 0;
        if (equal < ANCHORS_ALIKE)
            found[tried++] = all[i];
    }
    free(all);
    return tried;
}

void anchor_clear(struct anchor *anchor)
{
    free(anchor->starts);
    free(anchor->types);
    free(anchor->modal_body);
    fold_free(anchor->fold);
    *anchor = (struct anchor){.symbol = FOLD_NONE};
}

struct anchor anchor_of(const uint32_t *symbols, size_t count, uint32_t symbol_count, const bool *ends,
                        uint32_t preferred)
{
    struct candidate candidates[ANCHORS];
    size_t found = find_candidates(candidates, symbols, count, symbol_count, ends, preferred);
    double similarity[ANCHORS] = {0}, best = 0;
    for (size_t i = 0; i < found; i++) {
        struct anchor anchor = {.symbol = candidates[i].symbol};
        if (try_symbol(&anchor, symbols, count, symbol_count, candidates[i].ends))
            similarity[i] = anchor.similarity;
        if (similarity[i] > best)
            best = similarity[i];
        anchor_clear(&anchor);
    }
    struct anchor chosen = {.symbol = FOLD_NONE};
    size_t at = ANCHORS;
    for (size_t i = 0; i < found; i++) {
        if (similarity[i] <= 0 || similarity[i] < best - AS_SIMILAR)
            continue;
        bool equal = at < ANCHORS && candidates[i].count == candidates[at].count &&
                     candidates[i].ends == candidates[at].ends && similarity[i] > similarity[at];
        if (at == ANCHORS || equal)
            at = i;
    }
    if (at < ANCHORS)
        chosen.symbol = candidates[at].symbol;
    /* Computed again rather than kept, so that memory is needed for only one. */
    if (chosen.symbol != FOLD_NONE)
        try_symbol(&chosen, symbols, count, symbol_count, candidates[at].ends);
    return chosen;
}

uint32_t anchor_period(const struct anchor *anchor)
{
    if (anchor->count == 0)
        return 0;
    uint32_t types = 0;
    for (size_t i = 0; i < anchor->count; i++)
        /* Types are numbers from 0 without gaps, as fold_new wants symbols. */
        if (anchor->types[i] >= types)
            types = anchor->types[i] + 1;
    struct fold *fold = fold_new(anchor->types, anchor->count, types, NULL, 0);
    const struct fold_node *first = &fold->nodes[fold->first];
    uint32_t period = 0;
    /* The whole sequence is one loop: its body is the period. */
    if (first->next == FOLD_NONE && fold_is_loop(fold, fold->first) && anchor->count % first->count == 0)
        period = (uint32_t)anchor->count / first->count;
    /* Inner loops with varying counts are not periodic. */
    for (size_t i = 0; period && i + period < anchor->count; i++)
        if (anchor->types[i] != anchor->types[i + period])
            period = 0;
    fold_free(fold);
    return period;
}
