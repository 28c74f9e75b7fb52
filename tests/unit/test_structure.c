/* SPDX-License-Identifier: BSD-3-Clause */
/* The parallel structure: the matrices of the rules of diagnosis (6) with the values of their features, and made ones
   of each kind, with noise, of one to a thousand processes. */
#include "heuristics/structure.h"

#include "core/memory.h"
#include "unit/tap.h"

#include <math.h>
#include <time.h>

static struct traffic_pair *pairs;
static size_t pair_count, pair_capacity;

static void send(uint32_t from, uint32_t to, uint64_t messages, uint64_t bytes)
{
    struct traffic_pair pair = {from, to, messages, messages * bytes};
    ARRAY_PUSH(pairs, pair_count, pair_capacity, pair);
}

static void both(uint32_t from, uint32_t to, uint64_t messages, uint64_t bytes)
{
    send(from, to, messages, bytes);
    send(to, from, messages, bytes);
}

static uint64_t random_state = 1;
static uint32_t chance(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

static void near(double got, double want, const char *name, const char *what)
{
    if (!tap_ok(fabs(got - want) < 0.0005, "%s: %s", name, what))
        printf("#  got %g\n# want %g\n", got, want);
}

/* Forgets the messages. */
static struct structure recognised(uint32_t processes, enum step_order order)
{
    struct structure_input input = {.pairs = pairs,
                                    .pair_count = pair_count,
                                    .processes = processes,
                                    .message_time = -1,
                                    .message_bytes = -1,
                                    .order = order};
    struct structure structure = structure_of(&input);
    pair_count = 0;
    return structure;
}

static void expect(uint32_t processes, const char *kind, const char *text)
{
    struct structure structure = recognised(processes, STEPS_UNKNOWN);
    char got[STRUCTURE_TEXT_SIZE];
    tap_equal_string(structure_name(structure.kind), kind, "%u processes: %s", processes, text);
    tap_equal_string(structure_text(got, &structure), text, "its sentence");
}

static void grid(uint32_t planes, uint32_t rows, uint32_t columns, bool periodic, uint64_t bytes)
{
    const uint32_t size[] = {planes, rows, columns}, stride[] = {rows * columns, columns, 1};
    for (uint32_t at = 0; at < planes * rows * columns; at++)
        for (int d = 0; d < 3; d++) {
            uint32_t place = at / stride[d] % size[d];
            if (place + 1 < size[d])
                both(at, at + stride[d], 10, bytes);
            else if (periodic && size[d] > 2)
                both(at, at - place * stride[d], 10, bytes);
        }
}

struct expected {
    uint32_t least_degree, most_degree;
    double symmetry, star, xor1;
};

static struct traffic_features expect_features(const char *name, const struct expected *want)
{
    struct traffic_features got = traffic_features_of(pairs, pair_count, 8);
    tap_equal_int(got.least_degree, want->least_degree, "%s: least degree", name);
    tap_equal_int(got.most_degree, want->most_degree, "%s: largest degree", name);
    near(got.symmetry, want->symmetry, name, "symmetry");
    if (want->star > 0)
        near(got.star, want->star, name, "star");
    if (want->xor1 > 0)
        near(got.xor1, want->xor1, name, "xor1");
    return got;
}

/* P = 8, one message per used pair. */
static void test_document(void)
{
    for (uint32_t i = 0; i < 8; i++)
        send(i, (i + 1) % 8, 1, 0);
    struct traffic_features features = expect_features("ring", &(struct expected){2, 2, 0, 0.25, 0.5});
    near(traffic_offset(&features, 1), 1, "ring", "off(1)");
    traffic_features_clear(&features);
    expect(8, "ring", "a ring, each rank sending to the next: 100 % of the messages");
    for (uint32_t i = 0; i < 7; i++)
        send(i, i + 1, 1, 0);
    features = expect_features("pipeline", &(struct expected){1, 2, 0, 0.2857, 0.5714});
    near(traffic_offset(&features, 1), 1, "pipeline", "off(1)");
    tap_ok(features.degrees[0] == 1 && features.degrees[7] == 1 && features.degrees[3] == 2, "pipeline: ends have one");
    traffic_features_clear(&features);
    expect(8, "pipeline", "a pipeline, each rank sending to the next: 100 % of the messages");
    for (uint32_t i = 1; i < 8; i++)
        both(0, i, 1, 0);
    features = expect_features("star", &(struct expected){1, 7, 1, 1, 0});
    tap_equal_int(features.centre, 0, "star: its centre");
    traffic_features_clear(&features);
    expect(8, "master-worker", "a master (process 0) and its workers: 100 % of the messages");
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t bit = 1; bit < 8; bit *= 2)
            send(i, i ^ bit, 1, 0);
    features = expect_features("butterfly", &(struct expected){3, 3, 1, 0.25, 1});
    traffic_features_clear(&features);
    expect(8, "halo", "a 2 × 2 × 2 halo exchange, open borders: 100 % of the messages (a butterfly fits as well)");
    grid(1, 2, 4, false, 0);
    features = expect_features("2 x 4 halo", &(struct expected){2, 3, 1, 0, 0.8});
    near(traffic_offset(&features, 1), 0.3, "2 x 4 halo", "off(1)");
    near(traffic_offset(&features, 7), 0.3, "2 x 4 halo", "off(7)");
    near(traffic_offset(&features, 4), 0.4, "2 x 4 halo", "off(4)");
    traffic_features_clear(&features);
    expect(8, "halo", "a 2 × 4 halo exchange, open borders: 100 % of the messages");
}

/* Particles drift from column 0 to column 1 of 2 x 2: as many messages both ways, but not as many bytes. */
static void test_drift(void)
{
    for (uint32_t i = 0; i < 4; i++) {
        send(i, i ^ 1, 10, i & 1 ? 1400 : 2600);
        send(i, i ^ 2, 10, i & 1 ? 2000 : 1000);
    }
    expect(4, "halo", "a 2 × 2 halo exchange, open borders: 100 % of the bytes (a butterfly fits as well)");
    /* Results to the root of a tree, and small messages back: no exchange. */
    for (uint32_t i = 1; i < 8; i++) {
        send(i, i & (i - 1), 10, 100000);
        send(i & (i - 1), i, 10, 80);
    }
    expect(8, "tree", "a binomial tree: 100 % of the bytes");
}

/* The same matrix: the order of steps decides. */
static void test_order(void)
{
    static const enum step_order orders[] = {STEPS_UNKNOWN, STEPS_TOGETHER, STEPS_IN_ORDER};
    static const char *const want[] = {"halo", "halo", "butterfly"};
    for (int i = 0; i < 3; i++) {
        grid(2, 2, 2, false, 100);
        struct structure got = recognised(8, orders[i]);
        tap_equal_string(structure_name(got.kind), want[i], "2 x 2 x 2, order %d", i);
        tap_ok(got.ambiguous == (i == 0), "2 x 2 x 2, order %d: %s", i, i ? "decided" : "both are reported");
        tap_equal_string(structure_name(got.second.kind), i < 2 ? "butterfly" : "halo", "the second best");
        near(got.second.score, 1, "the second best", "score");
    }
}

static void test_grids(void)
{
    grid(1, 4, 2, false, 100);
    expect(8, "halo", "a 4 × 2 halo exchange, open borders: 100 % of the bytes");
    grid(1, 4, 2, false, 9700);
    both(0, 7, 100, 200);
    both(1, 6, 50, 200);
    expect(8, "halo", "a 4 × 2 halo exchange, open borders: 97 % of the bytes");
    grid(1, 4, 4, true, 100);
    expect(16, "halo", "a 4 × 4 halo exchange, periodic borders: 100 % of the bytes");
    grid(3, 4, 5, false, 100);
    expect(60, "halo", "a 3 × 4 × 5 halo exchange, open borders: 100 % of the bytes");
    grid(1, 1, 12, false, 100);
    expect(12, "halo", "a halo exchange along a line of 12, open borders: 100 % of the bytes");
    grid(1, 1, 12, true, 100);
    expect(12, "halo", "a halo exchange along a line of 12, periodic borders: 100 % of the bytes");
    grid(1, 5, 5, false, 100);
    for (uint32_t i = 0; i < 20; i++) {
        if (i % 5 < 4)
            both(i, i + 6, 10, 60);
        if (i % 5 > 0)
            both(i, i + 4, 10, 60);
    }
    expect(25, "halo", "a 5 × 5 halo exchange with corners, open borders: 100 % of the bytes");
}

static void test_others(void)
{
    for (uint32_t i = 0; i < 16; i++)
        for (uint32_t bit = 1; bit < 16; bit *= 2)
            send(i, i ^ bit, 5, 8 * bit);
    expect(16, "butterfly", "a butterfly, partners differing in one bit of their rank: 100 % of the bytes");
    for (uint32_t i = 1; i < 16; i++)
        send(i & (i - 1), i, 5, 80);
    expect(16, "tree", "a binomial tree: 100 % of the bytes");
    for (uint32_t i = 1; i < 8; i++)
        both(i & (i - 1), i, 5, 80);
    expect(8, "tree", "a binomial tree: 100 % of the bytes");
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t j = 0; j < 6; j++)
            send(i, j, 1 + (i + j) % 2, 100);
    expect(6, "all-to-all", "an all-to-all exchange: 100 % of the pairs");
    for (uint32_t i = 7; i > 0; i--)
        send(i, i - 1, 3, 100);
    expect(8, "pipeline", "a pipeline, each rank sending to the previous one: 100 % of the bytes");
    for (uint32_t i = 0; i < 10; i++)
        send(i, (i + 7) % 10, 3, 100);
    expect(10, "ring", "a ring, each rank sending to the one 3 ranks below: 100 % of the bytes");
    for (uint32_t i = 1; i < 8; i++)
        send(i, 0, 3, 100);
    expect(8, "master-worker", "a master (process 0) and its workers: 100 % of the bytes");
}

static void expect_none(uint32_t processes, const char *what)
{
    tap_equal_string(structure_name(recognised(processes, STEPS_UNKNOWN).kind), "irregular", "%s", what);
}

/* The beginnings of a pipeline, a tree, a halo, which are none. */
static void test_pairs(void)
{
    for (uint32_t i = 0; i < 4; i += 2)
        send(i, i + 1, 8, 100);
    expect_none(4, "pairs");
    for (uint32_t i = 0; i < 64; i += 2)
        both(i, i + 1, 8, 100);
    expect_none(64, "pairs that answer");
    for (uint32_t i = 0; i < 3; i++)
        send(i, i + 3, 8, 100);
    expect_none(6, "pairs across the middle");
    for (uint32_t i = 1; i < 16; i++)
        if (i != 4 && i != 8)
            send(i & (i - 1), i, 5, 80);
    expect_none(16, "a tree without the branches at two processes");
}

/* Workers exchange a little among themselves, and different amounts with the master, which is the last. */
static void test_noise(void)
{
    for (uint32_t i = 0; i < 31; i++) {
        both(31, i, 20 + chance(20), 1000);
        send(i, (i * 7 + 3) % 31, 1, 1000);
    }
    struct structure got = recognised(32, STEPS_UNKNOWN);
    tap_equal_string(structure_name(got.kind), "master-worker", "master with noise");
    tap_equal_int(got.best.centre, 31, "master with noise: who it is");
    tap_ok(got.best.score > 0.97 && got.best.score < 1 && got.clear, "master with noise: score %.3f", got.best.score);
    for (uint32_t i = 0; i < 31; i++) {
        both(31, i, 20, 1000);
        send(i, (i * 7 + 3) % 31, 6, 1000);
    }
    got = recognised(32, STEPS_UNKNOWN);
    tap_ok(got.kind == STRUCTURE_MASTER_WORKER && !got.clear, "master with much noise: mostly (%.3f)", got.best.score);
    grid(1, 1, 16, true, 300);
    grid(1, 4, 4, true, 100);
    got = recognised(16, STEPS_UNKNOWN);
    tap_ok(got.kind == STRUCTURE_HALO && !got.clear && got.best.dimensions == 2, "a halo with a ring in it: mostly");
}

static void test_sizes(void)
{
    expect(0, "too-few", "too few processes for a structure");
    expect(1, "too-few", "too few processes for a structure");
    both(0, 1, 5, 5);
    expect(2, "too-few", "too few processes for a structure");
    both(0, 1, 5, 5);
    both(0, 2, 5, 5);
    expect(3, "too-few", "too few processes for a structure");
    expect(8, "collective", "collectives only, hardly any point-to-point messages");
    send(3, 3, 10, 10);
    send(0, 9, 10, 10);
    expect(8, "collective", "collectives only, hardly any point-to-point messages");
    grid(10, 10, 10, false, 100);
    expect(1000, "halo", "a 10 × 10 × 10 halo exchange, open borders: 100 % of the bytes");
    for (uint32_t i = 0; i < 1000; i++)
        send(i, (i + 1) % 1000, 3, 10);
    expect(1000, "ring", "a ring, each rank sending to the next: 100 % of the bytes");
    for (uint32_t i = 0; i < 999; i++)
        both(999, i, 3, 10);
    expect(1000, "master-worker", "a master (process 999) and its workers: 100 % of the bytes");
    for (uint32_t i = 0; i < 1000; i++)
        for (uint32_t j = 0; j < 1000; j++)
            send(i, j, 2, 10);
    expect(1000, "all-to-all", "an all-to-all exchange: 100 % of the pairs");
    grid(24, 30, 60, false, 100);
    clock_t before = clock();
    expect(43200, "halo", "a 24 × 30 × 60 halo exchange, open borders: 100 % of the bytes");
    printf("# 43,200 processes: %.2f s\n", (double)(clock() - before) / CLOCKS_PER_SEC);
}

static void test_irregular(void)
{
    for (int i = 0; i < 60; i++)
        send(chance(20), chance(20), 1 + chance(9), 100 + chance(1000));
    struct structure got = recognised(20, STEPS_UNKNOWN);
    char text[STRUCTURE_TEXT_SIZE];
    tap_equal_string(structure_name(got.kind), "irregular", "random pairs: %s", structure_text(text, &got));
    tap_ok(got.best.score < 0.8 && got.second.score <= got.best.score, "random pairs: both scores are low");
    struct structure_input input = {.processes = 8, .message_time = 0.01, .message_bytes = 0.02, .pairs = pairs};
    send(0, 1, 5, 5);
    input.pair_count = pair_count;
    input.pairs = pairs;
    tap_equal_string(structure_name(structure_of(&input).kind), "collective", "next to no messages");
    input.message_bytes = 0.2;
    tap_ok(structure_of(&input).kind != STRUCTURE_COLLECTIVE, "many bytes in short time are no collectives");
    input.alltoall = true;
    tap_equal_string(structure_name(structure_of(&input).kind), "all-to-all", "MPI_Alltoall dominates");
    pair_count = 0;
}

int main(void)
{
    test_document();
    test_drift();
    test_order();
    test_grids();
    test_others();
    test_pairs();
    test_noise();
    test_sizes();
    test_irregular();
    free(pairs);
    return tap_done();
}
