/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/judging.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

bool judging_is_dead(const struct judging *judging, const struct place *place)
{
    return !judging->graph.nodes[place - judging->state->places].live && !place_is_gone(judging->state, place);
}

bool judging_is_leaving(const struct judging *judging, const struct place *place)
{
    return place_is_gone(judging->state, place) || place_is_in(judging->state, place, "MPI_Finalize");
}

void judging_add_process(struct judging *judging, uint32_t process)
{
    struct stuck *stuck = judging->stuck;
    /* Callers add the same process several times in a row at most: a look at the last few is enough, and keeps it
       linear. */
    for (size_t i = stuck->process_count; i > 0 && i + 8 > stuck->process_count; i--)
        if (stuck->processes[i - 1] == process)
            return;
    ARRAY_PUSH(stuck->processes, stuck->process_count, judging->process_capacity, process);
}

int judging_compare_ranks(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return order_by(left, right);
}

/* A place that hangs says more than others; less if it only waits for another thread of its process. */
static int says_more(const struct judging *judging, const struct place *place)
{
    if (!judging_is_dead(judging, place))
        return 0;
    return place_joins(judging->state, place) ? 1 : 2;
}

struct place *judging_place(const struct judging *judging, uint32_t process)
{
    const struct node *node = graph_process(&judging->graph, process);
    struct place *found = NULL;
    for (uint32_t i = 0; i < node->edge_count; i++) {
        struct place *place = &judging->state->places[judging->graph.edges[node->first_edge + i].to];
        if (!found || says_more(judging, place) > says_more(judging, found))
            found = place;
    }
    return found;
}

void judging_say(struct judging *judging, const char *words)
{
    text_append(judging->text, sizeof judging->text, "%s", words);
}

void judging_say_process(struct judging *judging, bool begins, uint32_t process)
{
    text_append(judging->text, sizeof judging->text, "%s %s ", begins ? "Process" : "process",
                text_number(process).text);
}
