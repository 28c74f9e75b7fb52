/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases/fold.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <assert.h>
#include <string.h>

/* Any odd number with well mixed bits: the base of the windows' hashes. */
static const uint64_t BASE = UINT64_C(0xD1342543DE82EF95);

/* The sequence while it is folded: nodes and, in a separate array for fast comparison, their shapes. */
struct folder {
    struct fold *fold;
    struct map known; /* hash of a body -> first shape of that hash */
    uint32_t *nodes, *shapes;
    size_t count;
    uint32_t *latest; /* by shape: 1 + place where it was last */
    size_t latest_capacity;
    uint32_t *begins; /* by shape: lengths of known bodies that begin with it, as a set of length_bit() */
    size_t begins_capacity;
    size_t budget;
};

static uint32_t length_bit(size_t length)
{
    return UINT32_C(1) << length % 32;
}

static uint64_t body_hash(const uint32_t *body, size_t length)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < length; i++)
        /* + 1, so that a body of zeros does not have the hash of an empty one. */
        hash = hash * BASE + body[i] + 1;
    return hash;
}

/* Keys of the map: different for bodies of different lengths, never UINT64_MAX. */
static uint64_t body_key(uint64_t hash, size_t length)
{
    return (hash ^ map_hash(length)) >> 1;
}

static uint32_t find_shape(const struct folder *folder, uint64_t hash, const uint32_t *body, size_t length)
{
    const struct fold *fold = folder->fold;
    const uint64_t *known = map_find(&folder->known, body_key(hash, length));
    for (uint32_t at = known ? (uint32_t)*known : FOLD_NONE; at != FOLD_NONE; at = fold->shapes[at].chain)
        if (fold->shapes[at].length == length &&
            memcmp(fold->bodies + fold->shapes[at].body, body, length * sizeof *body) == 0)
            return at;
    return FOLD_NONE;
}

static uint32_t add_shape(struct fold *fold, const uint32_t *body, size_t length, uint32_t chain)
{
    struct fold_shape shape = {.body = (uint32_t)fold->body_count, .length = (uint32_t)length, .chain = chain};
    ARRAY_RESERVE(fold->bodies, fold->body_capacity, fold->body_count + length);
    if (length > 0)
        memcpy(fold->bodies + fold->body_count, body, length * sizeof *body);
    fold->body_count += length;
    ARRAY_PUSH(fold->shapes, fold->shape_count, fold->shape_capacity, shape);
    return (uint32_t)fold->shape_count - 1;
}

static uint32_t intern_shape(struct folder *folder, const uint32_t *body, size_t length)
{
    uint64_t hash = body_hash(body, length);
    uint32_t found = find_shape(folder, hash, body, length);
    if (found != FOLD_NONE)
        return found;
    uint64_t *known = map_put(&folder->known, body_key(hash, length), FOLD_NONE);
    uint32_t shape = add_shape(folder->fold, body, length, (uint32_t)*known);
    *known = shape;
    folder->begins[body[0]] |= length_bit(length);
    return shape;
}

/* Puts the loop of the nodes [from, from + count * length) at `to`, which is not after them. */
static void put_loop(struct folder *folder, size_t to, size_t from, size_t length, size_t count, uint32_t shape)
{
    struct fold *fold = folder->fold;
    uint32_t *children = folder->nodes + from;
    size_t child_count = count * length;
    for (size_t i = 0; i + 1 < child_count; i++)
        fold->nodes[children[i]].next = children[i + 1];
    struct fold_node loop = {.shape = shape,
                             .begin = fold->nodes[children[0]].begin,
                             /* The nodes of all copies become one chain: the loop needs only its first, its last and
                                how many iterations there are. */
                             .end = fold->nodes[children[child_count - 1]].end,
                             .count = (uint32_t)count,
                             .child = children[0],
                             .last = children[child_count - 1],
                             .next = FOLD_NONE};
    ARRAY_PUSH(fold->nodes, fold->node_count, fold->node_capacity, loop);
    folder->nodes[to] = (uint32_t)fold->node_count - 1;
    folder->shapes[to] = shape;
}

static void keep_node(struct folder *folder, size_t to, size_t from)
{
    folder->nodes[to] = folder->nodes[from];
    folder->shapes[to] = folder->shapes[from];
}

static int by_length(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return order_by(left[0], right[0]);
}

static int by_frequency(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    int order = order_by(right[1], left[1]);
    return order ? order : by_length(a, b);
}

/* Room for all shapes in `begins`. */
static void reserve_begins(struct folder *folder)
{
    size_t before = folder->begins_capacity;
    ARRAY_RESERVE(folder->begins, folder->begins_capacity, folder->fold->shape_count);
    memset(folder->begins + before, 0, (folder->begins_capacity - before) * sizeof *folder->begins);
}

/* The lengths that a body may have: a body that repeats puts each of its symbols at this distance from the next, so
   that distances between successive nodes of the same shape are enough; the most frequent of them, ascending. Returns
   how many; each is a pair of length and frequency. */
static size_t find_lengths(struct folder *folder, uint32_t (*lengths)[2])
{
    size_t shape_count = folder->fold->shape_count, found = 0;
    size_t longest = smaller(folder->count / 2, (size_t)FOLD_LONGEST_BODY);
    ARRAY_RESERVE(folder->latest, folder->latest_capacity, shape_count + 1);
    memset(folder->latest, 0, shape_count * sizeof *folder->latest);
    memset(lengths, 0, (longest + 1) * sizeof *lengths);
    for (size_t i = 0; i < folder->count; i++) {
        uint32_t *latest = &folder->latest[folder->shapes[i]];
        if (*latest && i + 1 - *latest <= longest)
            lengths[i + 1 - *latest][1]++;
        *latest = (uint32_t)i + 1;
    }
    for (uint32_t length = 1; length <= longest; length++)
        if (lengths[length][1]) {
            uint32_t frequency = lengths[length][1];
            lengths[found][0] = length;
            lengths[found++][1] = frequency;
        }
    if (found > FOLD_LENGTHS) {
        qsort(lengths, found, sizeof *lengths, by_frequency);
        found = FOLD_LENGTHS;
        qsort(lengths, found, sizeof *lengths, by_length);
    }
    /* Steps count the work in nodes, whatever is done with each: the budget bounds the time for any input. */
    folder->fold->steps += folder->count + shape_count;
    return found;
}

/* Whether a body of this length repeats anywhere. Then so many nodes in a row equal the ones a length further, and one
   of them is at a multiple of the length: the others need not be compared unless that one is equal. */
static bool repeats(struct folder *folder, size_t length)
{
    const uint32_t *shapes = folder->shapes;
    size_t count = folder->count, *steps = &folder->fold->steps;
    for (size_t at = 0; at + length < count; at += length) {
        ++*steps;
        if (shapes[at] != shapes[at + length])
            continue;
        size_t begin = at, end = at + 1, least = at > length ? at - length : 0;
        while (begin > least && shapes[begin - 1] == shapes[begin - 1 + length])
            begin--;
        while (end - begin < length && end + length < count && shapes[end] == shapes[end + length])
            end++;
        *steps += end - begin;
        if (end - begin >= length)
            return true;
    }
    return false;
}

/* Folds all repetitions of bodies of this length. False if there is none: nothing is changed. */
static bool fold_length(struct folder *folder, size_t length)
{
    const uint32_t *shapes = folder->shapes;
    size_t count = folder->count, to = 0, equal_until = 0;
    if (!repeats(folder, length))
        return false;
    reserve_begins(folder);
    folder->fold->steps += count;
    for (size_t i = 0; i < count;) {
        /* Number of nodes before i that equal the one a length further. */
        if (equal_until < i)
            equal_until = i;
        while (equal_until + length < count && shapes[equal_until] == shapes[equal_until + length])
            equal_until++;
        if (equal_until - i < length) {
            /* The next one begins only after what ended this run. */
            size_t stop = smaller(equal_until + 1, count);
            while (i < stop)
                keep_node(folder, to++, i++);
            continue;
        }
        /* The run of equal nodes is as long as all copies but the last. */
        size_t copies = (equal_until - i) / length + 1;
        uint32_t shape = intern_shape(folder, shapes + i, length);
        put_loop(folder, to++, i, length, copies, shape);
        i += copies * length;
    }
    bool folded = to < count;
    folder->count = to;
    return folded;
}

/* Single copies of bodies known as loops of this length become loops of one iteration. */
static void absorb(struct folder *folder, size_t length)
{
    size_t count = folder->count, to = 0, i = 0;
    uint64_t power = 1, hash = 0;
    uint32_t bit = length_bit(length);
    bool hashed = false;
    for (size_t k = 1; k < length; k++)
        /* The hash of the window is carried on from node to node (Karp, Rabin 1987): one comparison for each node,
           not `length`. */
        power *= BASE;
    folder->fold->steps += count;
    /* Folding has made shapes. */
    reserve_begins(folder);
    while (i + length <= count) {
        if (!hashed)
            hash = body_hash(folder->shapes + i, length);
        hashed = true;
        uint32_t shape = FOLD_NONE;
        /* Most windows begin with what no body of this length begins with: no look into the map. */
        if (folder->begins[folder->shapes[i]] & bit)
            shape = find_shape(folder, hash, folder->shapes + i, length);
        if (shape != FOLD_NONE) {
            put_loop(folder, to++, i, length, 1, shape);
            i += length;
            hashed = false;
            continue;
        }
        /* The first node leaves the window, the next one enters it. */
        hash -= (folder->shapes[i] + UINT64_C(1)) * power;
        if (i + length < count)
            hash = hash * BASE + folder->shapes[i + length] + 1;
        keep_node(folder, to++, i++);
    }
    while (i < count)
        keep_node(folder, to++, i++);
    folder->count = to;
}

/* Merges adjacent loops of the same body. */
static void join(struct folder *folder)
{
    struct fold *fold = folder->fold;
    size_t to = 0;
    for (size_t i = 0; i < folder->count; i++) {
        /* Only loops: the same symbol twice is a body of length one, which folding has met. */
        if (to > 0 && folder->shapes[to - 1] == folder->shapes[i] && fold_is_loop(fold, folder->nodes[i])) {
            struct fold_node *loop = &fold->nodes[folder->nodes[to - 1]], *more = &fold->nodes[folder->nodes[i]];
            fold->nodes[loop->last].next = more->child;
            loop->last = more->last;
            loop->end = more->end;
            loop->count += more->count;
            continue;
        }
        keep_node(folder, to++, i);
    }
    folder->count = to;
}

/* One round: folds the shortest repeating body, wherever it occurs. False: none repeats. */
static bool fold_round(struct folder *folder, uint32_t (*lengths)[2])
{
    size_t found = find_lengths(folder, lengths);
    /* The shortest body first: inner loops must be folded before the loops around them can be seen. */
    for (size_t i = 0; i < found && folder->fold->steps < folder->budget; i++) {
        if (!fold_length(folder, lengths[i][0]))
            continue;
        absorb(folder, lengths[i][0]);
        join(folder);
        return true;
    }
    return false;
}

/* The unfolded sequence: a node for each symbol and cut. */
static void fill(struct folder *folder, const uint32_t *symbols, size_t count, const uint32_t *cuts, size_t cut_count)
{
    struct fold *fold = folder->fold;
    size_t cut = 0;
    for (uint32_t s = 0; s < fold->symbols; s++)
        add_shape(fold, NULL, 0, FOLD_NONE);
    for (size_t i = 0; i <= count; i++) {
        for (; cut < cut_count && cuts[cut] == i; cut++) {
            /* A shape that occurs only once: nothing that contains it repeats. */
            folder->shapes[folder->count] = add_shape(fold, NULL, 0, FOLD_NONE);
            folder->nodes[folder->count++] = (uint32_t)fold->node_count++;
        }
        if (i == count)
            break;
        assert(symbols[i] < fold->symbols);
        folder->shapes[folder->count] = symbols[i];
        folder->nodes[folder->count++] = (uint32_t)fold->node_count++;
    }
    for (size_t i = 0, at = 0; i < folder->count; i++) {
        uint32_t begin = (uint32_t)at;
        at += folder->shapes[i] < fold->symbols;
        fold->nodes[i] = (struct fold_node){folder->shapes[i], begin, (uint32_t)at, 1, FOLD_NONE, FOLD_NONE, FOLD_NONE};
    }
}

struct fold *fold_new(const uint32_t *symbols, size_t count, uint32_t symbol_count, const uint32_t *cuts,
                      size_t cut_count)
{
    struct fold *fold = memory_new(sizeof *fold);
    struct folder folder = {.fold = fold, .budget = FOLD_EFFORT * (count + 1024)};
    size_t all = count + cut_count;
    fold->symbols = symbol_count;
    ARRAY_RESERVE(fold->nodes, fold->node_capacity, all + 1);
    folder.nodes = memory_new(all * sizeof *folder.nodes);
    folder.shapes = memory_new(all * sizeof *folder.shapes);
    fill(&folder, symbols, count, cuts, cut_count);
    uint32_t(*lengths)[2] = memory_new((FOLD_LONGEST_BODY + 1) * sizeof *lengths);
    while (fold_round(&folder, lengths))
        continue;
    /* What is left over is the outermost chain. */
    for (size_t i = 0; i + 1 < folder.count; i++)
        fold->nodes[folder.nodes[i]].next = folder.nodes[i + 1];
    fold->first = FOLD_NONE;
    if (folder.count > 0)
        fold->first = folder.nodes[0];
    free(lengths);
    free(folder.nodes);
    free(folder.shapes);
    free(folder.latest);
    free(folder.begins);
    map_clear(&folder.known);
    return fold;
}

void fold_free(struct fold *fold)
{
    if (!fold)
        return;
    free(fold->nodes);
    free(fold->shapes);
    free(fold->bodies);
    free(fold);
}

/* The input of rotating; everything except the fold is the caller's. */
struct rotator {
    struct fold *fold;
    const bool *ends;
    const int64_t *gaps_ns;
    struct map wanted; /* shape -> by how many places it is to be rotated */
    struct map made;   /* shape -> the rotated one */
};

/* True if the node is a symbol that ends iterations. */
static bool ends_iteration(const struct rotator *rotator, uint32_t node)
{
    return rotator->ends && !fold_is_loop(rotator->fold, node) && rotator->ends[rotator->fold->nodes[node].begin];
}

/* By how many places to rotate a body, at most `most`: to after the first symbol that ends iterations, if there is any,
   else to the place with the longest gaps before it, over all iterations. */
/* A loop a b a b a b a may as well be cut as b a b a b a: folding takes the first; where iterations really begin is
   seen by their end or by their pauses. */
static uint32_t rotation_of(const struct rotator *rotator, const struct fold_node *loop, uint32_t length, uint32_t most)
{
    const struct fold *fold = rotator->fold;
    uint32_t place = 0, found = FOLD_NONE, at = loop->child;
    int64_t *passed_ns = memory_new(length * sizeof *passed_ns);
    for (uint32_t i = 0; i < loop->count * length; i++, at = fold->nodes[at].next) {
        if (i < length && ends_iteration(rotator, at) && (found == FOLD_NONE || i + 1 == length))
            found = (i + 1) % length;
        /* The gap before the loop does not belong to it. */
        if (rotator->gaps_ns && i > 0)
            passed_ns[i % length] += rotator->gaps_ns[fold->nodes[at].begin];
    }
    for (uint32_t i = 1; found == FOLD_NONE && i <= most; i++)
        if (passed_ns[i] > passed_ns[place])
            place = i;
    if (found != FOLD_NONE) {
        place = 0;
        if (found <= most)
            place = found;
    }
    free(passed_ns);
    return place;
}

static uint32_t rotated_shape(struct rotator *rotator, uint32_t shape, uint32_t places)
{
    struct fold *fold = rotator->fold;
    uint64_t *made = map_put(&rotator->made, shape, FOLD_NONE);
    if (*made != FOLD_NONE)
        return (uint32_t)*made;
    uint32_t length = fold->shapes[shape].length, rotated = add_shape(fold, NULL, 0, FOLD_NONE);
    fold->shapes[rotated].body = (uint32_t)fold->body_count;
    fold->shapes[rotated].length = length;
    ARRAY_RESERVE(fold->bodies, fold->body_capacity, fold->body_count + length);
    const uint32_t *body = fold->bodies + fold->shapes[shape].body;
    for (uint32_t i = 0; i < length; i++)
        fold->bodies[fold->body_count++] = body[(i + places) % length];
    *made = rotated;
    return rotated;
}

/* How many of the nodes after the loop, `left` in its chain, match the begin of its body. */
static uint32_t continues(const struct fold *fold, uint32_t loop, uint32_t left)
{
    const struct fold_shape *shape = &fold->shapes[fold->nodes[loop].shape];
    uint32_t same = 0, at = fold->nodes[loop].next;
    while (same + 1 < shape->length && same < left && at != FOLD_NONE &&
           fold->nodes[at].shape == fold->bodies[shape->body + same]) {
        same++;
        at = fold->nodes[at].next;
    }
    return same;
}

/* Moves the first nodes of a loop out before it, and as many from after it into it. `link` leads to the loop; returns
   the new link. */
static uint32_t *shift(struct fold *fold, uint32_t *link, uint32_t places)
{
    uint32_t number = *link;
    struct fold_node *loop = &fold->nodes[number];
    uint32_t out_last = loop->child, in = loop->next, in_last = in;
    for (uint32_t i = 1; i < places; i++) {
        out_last = fold->nodes[out_last].next;
        in_last = fold->nodes[in_last].next;
    }
    *link = loop->child;
    loop->child = fold->nodes[out_last].next;
    fold->nodes[out_last].next = number;
    loop->next = fold->nodes[in_last].next;
    fold->nodes[in_last].next = FOLD_NONE;
    fold->nodes[loop->last].next = in;
    loop->last = in_last;
    loop->begin = fold->nodes[loop->child].begin;
    loop->end = fold->nodes[in_last].end;
    return &fold->nodes[out_last].next;
}

/* Rotates the loops of a chain whose iterations have `length` nodes each, then those inside. */
static void rotate_chain(struct rotator *rotator, uint32_t *link, uint32_t length)
{
    struct fold *fold = rotator->fold;
    /* `place` counts inside the iteration, so that a rotated loop does not take nodes of the next iteration. */
    for (uint32_t place = 0; *link != FOLD_NONE; place = (place + 1) % length, link = &fold->nodes[*link].next) {
        if (!fold_is_loop(fold, *link))
            continue;
        uint32_t shape = fold->nodes[*link].shape, most = continues(fold, *link, length - 1 - place);
        if (most > 0) {
            uint32_t wanted = rotation_of(rotator, &fold->nodes[*link], fold->shapes[shape].length, most);
            /* The first loop of a shape decides for all: the same body must not begin at different symbols. */
            wanted = (uint32_t)*map_put(&rotator->wanted, shape, wanted);
            if (wanted > 0 && wanted <= most) {
                link = shift(fold, link, wanted);
                place += wanted;
                fold->nodes[*link].shape = rotated_shape(rotator, shape, wanted);
            }
        }
        rotate_chain(rotator, &fold->nodes[*link].child, fold->shapes[fold->nodes[*link].shape].length);
    }
}

void fold_rotate(struct fold *fold, const bool *ends, const int64_t *gaps_ns)
{
    struct rotator rotator = {.fold = fold, .ends = ends, .gaps_ns = gaps_ns};
    if (ends || gaps_ns)
        rotate_chain(&rotator, &fold->first, UINT32_MAX);
    map_clear(&rotator.wanted);
    map_clear(&rotator.made);
}
