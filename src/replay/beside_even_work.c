/* SPDX-License-Identifier: BSD-3-Clause */
/* What is left to save without the waits of each kind once work is even. Each way of evening work out is prepared once,
   and its replays for all kinds go through the graph together. */
#include "replay/analyst.h"
#include "replay/balance.h"
#include "replay/even_sections.h"
#include "replay/even_steps.h"
#include "replay/free_waits.h"
#include "replay/replay.h"

#include "core/memory.h"
#include "core/numbers.h"

/* A way of evening work may give the waiting process more to do, and hide a wait that the others leave: the most of
   those counts that save nearly as much as the best. */
static const double NEARLY = 0.8;

/* A kind's replays: with its waits gone as well as those that come before it, and the latter alone. */
enum { WITHOUT, BEFORE, QUESTION_REPLAYS };
struct question {
    struct wait_sums *sums;
    struct replay_options changes[QUESTION_REPLAYS];
    double nearly; /* ways count that save this part of the best */
    bool asked;    /* in the way at hand */
};

struct questions {
    struct analyst *analyst;
    double *compute_ns;
    int64_t even_ns; /* saved in the best way */
    size_t count;
    struct question question[WAIT_KIND_COUNT];
};

/* Where all wait for the last, it may be late because it waited itself, or early because it worked while others waited:
   kinds of waits for one that matter, other than in collectives of all. */
static unsigned kinds_before(const struct analysis *analysis, enum wait_kind kind)
{
    static const enum wait_kind before[] = {WAIT_LATE_SENDER, WAIT_LATE_RECEIVER, WAIT_LATE_BROADCAST,
                                            WAIT_EARLY_REDUCE, WAIT_EARLY_SCAN};
    double least_ns = REPLAY_SHARE_OF_ONE * (double)analysis->duration;
    unsigned kinds = 0;
    if (kind != WAIT_AT_BARRIER && kind != WAIT_AT_NXN)
        return 0;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if ((double)analysis->waits[before[i]].saving_ns >= least_ns)
            kinds |= free_waits_with(before[i]);
    return kinds;
}

static void add_question(struct questions *questions, enum wait_kind kind)
{
    struct analysis *analysis = questions->analyst->analysis;
    struct wait_sums *sums = &analysis->waits[kind];
    if ((double)sums->saving_ns < REPLAY_SHARE_OF_ONE * (double)analysis->duration)
        return;
    struct replay_options before = {.free_waits = kinds_before(analysis, kind)};
    struct question *question = &questions->question[questions->count++];
    /* Beside other changes only the best way counts: in another, work that one does before all others is even, too. */
    *question = (struct question){.sums = sums, .changes = {before, before}, .nearly = before.free_waits ? 1 : NEARLY};
    free_waits_add(questions->analyst->graph, kind, &question->changes[WITHOUT]);
    sums->remains_ns = 0;
}

/* Adds the replays of the way at hand. `pace`: how it changes computing. Returns how many. */
static size_t add_replays(const struct questions *questions, const struct replay_options *pace,
                          struct replay_options *options)
{
    size_t count = 0;
    for (size_t i = 0; i < questions->count; i++) {
        const struct question *question = &questions->question[i];
        for (size_t which = 0; question->asked && which <= (question->changes[BEFORE].free_waits ? BEFORE : WITHOUT);
             which++) {
            options[count] = question->changes[which];
            options[count].compute = pace->compute;
            options[count].pace = pace->pace;
            options[count++].pace_context = pace->pace_context;
        }
    }
    return count;
}

/* What more is saved than in this way alone, which saves `saving_ns`. */
static void answer_questions(struct questions *questions, const struct replay_options *pace, int64_t saving_ns)
{
    int64_t recorded_ns = questions->analyst->analysis->replay;
    struct replay_options options[WAIT_KIND_COUNT * QUESTION_REPLAYS];
    struct replay replays[WAIT_KIND_COUNT * QUESTION_REPLAYS];
    size_t next = 0;
    replay_run_all(questions->analyst->graph, options, add_replays(questions, pace, options), 1, replays);
    for (size_t i = 0; i < questions->count; i++) {
        struct question *question = &questions->question[i];
        if (!question->asked)
            continue;
        int64_t more_ns = time_since(replays[next++].end_ns, recorded_ns) - saving_ns;
        if (question->changes[BEFORE].free_waits)
            more_ns -= time_since(replays[next++].end_ns, recorded_ns) - saving_ns;
        question->sums->remains_ns = larger(question->sums->remains_ns, more_ns);
    }
}

static void answer_with_totals(struct questions *questions, int64_t saving_ns)
{
    const struct analyst *analyst = questions->analyst;
    struct replay_options pace = {0};
    double *factors = NULL;
    if (analyst->relief)
        relief_take(analyst->relief, &pace);
    else
        pace.compute = factors = balance_factors(questions->compute_ns, analyst->graph->location_count);
    answer_questions(questions, &pace, saving_ns);
    free(factors);
}

static void answer_with_steps(struct questions *questions, int64_t saving_ns)
{
    const struct analyst *analyst = questions->analyst;
    struct replay_options pace = {0};
    struct even_steps even;
    struct steps *steps = even_steps_new(analyst->graph, analyst->compute_ns, &even, &pace);
    if (steps)
        answer_questions(questions, &pace, saving_ns);
    even_steps_free(steps);
}

static void answer_with_sections(struct questions *questions, int64_t saving_ns)
{
    struct replay_options pace = {0};
    const struct sections *sections = analyst_sections(questions->analyst);
    if (!sections)
        return;
    struct even_sections *even = even_sections_new(sections, questions->compute_ns, &pace);
    answer_questions(questions, &pace, saving_ns);
    even_sections_free(even);
}

/* True if a kind is asked in a way that saves so much. */
static bool ask_in_way(struct questions *questions, int64_t saving_ns)
{
    bool any = false;
    for (size_t i = 0; i < questions->count; i++) {
        struct question *question = &questions->question[i];
        question->asked = (double)saving_ns >= question->nearly * (double)questions->even_ns;
        any |= question->asked;
    }
    return any;
}

void save_beside_even_work(struct analyst *analyst)
{
    const struct analysis *analysis = analyst->analysis;
    const struct way {
        int64_t saving_ns;
        void (*answer)(struct questions *questions, int64_t saving_ns);
    } ways[] = {{analysis->balanced_saving, answer_with_totals},
                {analysis->even_steps_saving, answer_with_steps},
                {analysis->even_sections_saving, answer_with_sections}};
    enum { WAYS = sizeof ways / sizeof *ways };
    struct questions questions = {.analyst = analyst};
    for (size_t i = 0; i < WAYS; i++)
        questions.even_ns = larger(questions.even_ns, ways[i].saving_ns);
    if ((double)questions.even_ns < REPLAY_SHARE_OF_ONE * (double)analysis->duration)
        return;
    questions.compute_ns = analyst_compute_ns(analyst);
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        add_question(&questions, (enum wait_kind)kind);
    for (size_t i = 0; i < WAYS; i++)
        if (ask_in_way(&questions, ways[i].saving_ns))
            ways[i].answer(&questions, ways[i].saving_ns);
    for (size_t i = 0; i < questions.count; i++)
        free_waits_clear(&questions.question[i].changes[WITHOUT]);
    free(questions.compute_ns);
}
