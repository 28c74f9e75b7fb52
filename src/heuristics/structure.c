/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/structure.h"

#include "core/text.h"

#include <math.h>
#include <stdio.h>

/* Rules of diagnosis, 6. Of fewer than four processes any matrix is a ring, a line and a tree at once. */
static const double NO_MESSAGES = 0.05, REGULAR = 0.8, CLEAR = 0.9, CLEAR_MASTER = 0.95, AS_GOOD = 0.02;
enum { LEAST_PROCESSES = 4 };

const char *structure_name(enum structure_kind kind)
{
/* The table of kinds is in the header, so that names and kinds cannot differ. */
#define STRUCTURE_WORD(name, word) word,
    static const char *const names[] = {STRUCTURE_KINDS(STRUCTURE_WORD)};
#undef STRUCTURE_WORD
    return names[kind];
}

/* True if messages between two processes are negligible compared with collectives. */
static bool is_collective(const struct structure_input *input, const struct traffic_features *features)
{
    if (features->pair_count == 0)
        return true;
    /* Both must be known and small: a few messages may take long, and many bytes little time. */
    return input->message_time >= 0 && input->message_time < NO_MESSAGES && input->message_bytes >= 0 &&
           input->message_bytes < NO_MESSAGES;
}

static bool explains_as_much(const struct structure_match *match, const struct structure_match *than)
{
    return match->score > 0 && fabs(match->score - than->score) <= AS_GOOD;
}

static bool is_better(const struct structure_match *match, const struct structure_match *than, enum step_order order)
{
    /* A larger template explains what a smaller one does, with pairs that never talk: the one in full use is right. */
    if (match->score <= 0 || !explains_as_much(match, than))
        return match->score > than->score;
    /* Of templates that explain as much, the one that uses more of its own pairs is the smaller claim. */
    if (fabs(match->used - than->used) > AS_GOOD)
        return match->used > than->used;
    return order == STEPS_IN_ORDER && match->kind == STRUCTURE_BUTTERFLY && than->kind == STRUCTURE_HALO;
}

/* A halo and a butterfly with the same matrix differ in the order of their steps. */
static bool order_decides(const struct structure *structure, enum step_order order)
{
    enum structure_kind best = structure->best.kind, second = structure->second.kind;
    return order != STEPS_UNKNOWN && ((best == STRUCTURE_HALO && second == STRUCTURE_BUTTERFLY) ||
                                      (best == STRUCTURE_BUTTERFLY && second == STRUCTURE_HALO));
}

static void choose(struct structure *structure, const struct structure_match matches[STRUCTURE_TEMPLATES],
                   enum step_order order)
{
    /* Two passes: the second best is that of all but the best, which may be better than any met before. */
    int best = 0, second = -1;
    for (int i = 1; i < STRUCTURE_TEMPLATES; i++)
        if (is_better(&matches[i], &matches[best], order))
            best = i;
    for (int i = 0; i < STRUCTURE_TEMPLATES; i++)
        if (i != best && (second < 0 || is_better(&matches[i], &matches[second], order)))
            second = i;
    structure->best = matches[best];
    structure->second = matches[second];
    structure->kind = STRUCTURE_IRREGULAR;
    /* Below that, no structure explains enough to be named. */
    if (structure->best.score >= REGULAR)
        structure->kind = structure->best.kind;
    double clear = CLEAR;
    if (structure->kind == STRUCTURE_MASTER_WORKER)
        clear = CLEAR_MASTER;
    structure->clear = structure->best.score >= clear;
    structure->ambiguous = structure->kind != STRUCTURE_IRREGULAR && !order_decides(structure, order) &&
                           explains_as_much(&structure->second, &structure->best) &&
                           fabs(structure->second.used - structure->best.used) <= AS_GOOD;
}

struct structure structure_of(const struct structure_input *input)
{
    struct structure structure = {.kind = STRUCTURE_TOO_FEW, .processes = input->processes};
    /* A single process has no partner. */
    if (input->processes < 2)
        return structure;
    struct traffic_features features = traffic_features_of(input->pairs, input->pair_count, input->processes);
    structure.by_bytes = features.by_bytes;
    structure.least_degree = features.least_degree;
    structure.most_degree = features.most_degree;
    structure.mean_degree = features.mean_degree;
    if (input->processes >= LEAST_PROCESSES) {
        /* The program's own all-to-all says more than its matrix, which any dense pattern has. */
        if (input->alltoall) {
            structure.kind = STRUCTURE_ALL_TO_ALL;
            structure.clear = true;
            structure.best = (struct structure_match){.kind = STRUCTURE_ALL_TO_ALL, .score = 1, .used = 1};
        } else if (is_collective(input, &features)) {
            structure.kind = STRUCTURE_COLLECTIVE;
        } else {
            struct structure_match matches[STRUCTURE_TEMPLATES];
            structure_templates(&features, matches);
            choose(&structure, matches, input->order);
        }
    }
    traffic_features_clear(&features);
    return structure;
}

/* "2 × 4 halo exchange, open borders" */
static int write_halo(char *at, size_t size, const struct structure_match *match)
{
    /* Each dimension may wrap round or not; a torus wraps in all. */
    uint32_t closed = 0;
    for (uint32_t d = 0; d < match->dimensions; d++)
        closed += match->periodic[d];
    const char *border = "open and periodic borders";
    if (closed == 0)
        border = "open borders";
    else if (closed == match->dimensions)
        border = "periodic borders";
    const char *corners = match->corners ? " with corners" : "";
    const uint32_t *n = match->size;
    if (match->dimensions == 1)
        return snprintf(at, size, "a halo exchange along a line of %s, %s", text_number(n[0]).text, border);
    if (match->dimensions == 2)
        return snprintf(at, size, "a %s × %s halo exchange%s, %s", text_number(n[0]).text, text_number(n[1]).text,
                        corners, border);
    return snprintf(at, size, "a %s × %s × %s halo exchange%s, %s", text_number(n[0]).text, text_number(n[1]).text,
                    text_number(n[2]).text, corners, border);
}

static int write_chain(char *at, size_t size, const struct structure_match *match)
{
    /* A ring is a pipeline that is closed. */
    const char *what = match->kind == STRUCTURE_RING ? "ring" : "pipeline";
    long long step = (long long)match->step;
    if (step == 1)
        return snprintf(at, size, "a %s, each rank sending to the next", what);
    if (step == -1)
        return snprintf(at, size, "a %s, each rank sending to the previous one", what);
    if (step > 0)
        return snprintf(at, size, "a %s, each rank sending to the one %lld ranks above", what, step);
    return snprintf(at, size, "a %s, each rank sending to the one %lld ranks below", what, -step);
}

/* Sizes and directions are named: they are what a reader compares with the program. */
static int write_match(char *at, size_t size, const struct structure_match *match)
{
    switch (match->kind) {
    case STRUCTURE_MASTER_WORKER:
        return snprintf(at, size, "a master (process %s) and its workers", text_number(match->centre).text);
    case STRUCTURE_STAR:
        return snprintf(at, size, "a star round process %s", text_number(match->centre).text);
    case STRUCTURE_PIPELINE:
    case STRUCTURE_RING:
        return write_chain(at, size, match);
    case STRUCTURE_HALO:
        return write_halo(at, size, match);
    case STRUCTURE_BUTTERFLY:
        return snprintf(at, size, "a butterfly, partners differing in one bit of their rank");
    case STRUCTURE_TREE:
        return snprintf(at, size, "a binomial tree");
    default:
        return snprintf(at, size, "an all-to-all exchange");
    }
}

static const char *short_name(enum structure_kind kind)
{
    static const char *const names[] = {[STRUCTURE_MASTER_WORKER] = "a master with workers",
                                        [STRUCTURE_PIPELINE] = "a pipeline",
                                        [STRUCTURE_RING] = "a ring",
                                        [STRUCTURE_HALO] = "a halo exchange",
                                        [STRUCTURE_BUTTERFLY] = "a butterfly",
                                        [STRUCTURE_TREE] = "a binomial tree",
                                        [STRUCTURE_ALL_TO_ALL] = "an all-to-all exchange",
                                        [STRUCTURE_STAR] = "a star"};
    return names[kind];
}

static void write_irregular(char *at, size_t size, const struct structure *structure)
{
    char share[TEXT_NUMBER_SIZE];
    int length = snprintf(at, size, "irregular, each process with %s to %s partners",
                          text_number(structure->least_degree).text, text_number(structure->most_degree).text);
    /* The best template, though it explains too little, shows what the program resembles. */
    if (structure->best.score > 0 && length > 0 && (size_t)length < size)
        snprintf(at + length, size - (size_t)length, "; %s would explain %s of the %s",
                 short_name(structure->best.kind), text_share(share, structure->best.score),
                 structure->by_bytes ? "bytes" : "messages");
}

/* What the score is a share of. */
static const char *explained_of(const struct structure *structure)
{
    if (structure->best.kind == STRUCTURE_ALL_TO_ALL)
        return "pairs";
    return structure->by_bytes ? "bytes" : "messages";
}

char *structure_text(char buffer[STRUCTURE_TEXT_SIZE], const struct structure *structure)
{
    char share[TEXT_NUMBER_SIZE];
    size_t size = STRUCTURE_TEXT_SIZE;
    if (structure->kind == STRUCTURE_TOO_FEW) {
        snprintf(buffer, size, "too few processes for a structure");
    } else if (structure->kind == STRUCTURE_COLLECTIVE) {
        snprintf(buffer, size, "collectives only, hardly any point-to-point messages");
    } else if (structure->kind == STRUCTURE_IRREGULAR) {
        write_irregular(buffer, size, structure);
    } else {
        /* "mostly": some messages are not part of it. */
        int length = snprintf(buffer, size, "%s", structure->clear ? "" : "mostly ");
        length += write_match(buffer + length, size - (size_t)length, &structure->best);
        length += snprintf(buffer + length, size - (size_t)length, ": %s of the %s",
                           text_share(share, structure->best.score), explained_of(structure));
        if (structure->ambiguous)
            snprintf(buffer + length, size - (size_t)length, " (%s fits as well)", short_name(structure->second.kind));
    }
    return buffer;
}
