/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/charts/scene.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/shape.h"
#include "render/charts/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Waits for one process are only reported from this share of the rows' time on; and rows are only named if they wait
   for at least this share of the first one's time. */
static const double WAIT_SHARE = 0.02, VICTIM_SHARE = 0.1;

/* Ranges of ranks that a title can name. */
enum { RUNS_MOST = 4 };

static int64_t shown_ns(const struct scene *scene, const struct overlay_wait *wait)
{
    int64_t from = larger(wait->from_ns, scene->view.from_ns);
    return time_since(from, smaller(wait->to_ns, scene->view.to_ns));
}

/* The process waited for most in the window; TIMELINE_NONE. `rows` are those of the view, by row. */
static uint32_t worst_cause(const struct scene *scene, const bool *rows, double *worst_ns)
{
    size_t count = timeline_info(scene->timeline)->row_count;
    /* Waits are as many as calls, causes as many as rows: one pass and a sum for each. */
    double *causes = memory_new(count * sizeof *causes);
    uint32_t worst = TIMELINE_NONE;
    *worst_ns = 0;
    for (size_t i = 0; i < scene->overlay->wait_count; i++) {
        const struct overlay_wait *wait = &scene->overlay->waits[i];
        if (wait->row == TIMELINE_NONE || !rows[wait->row] || wait->cause_row == TIMELINE_NONE)
            continue;
        causes[wait->cause_row] += (double)shown_ns(scene, wait);
        if (causes[wait->cause_row] > *worst_ns) {
            *worst_ns = causes[wait->cause_row];
            worst = wait->cause_row;
        }
    }
    free(causes);
    return worst;
}

/* The processes that wait for it, and when the first and the last of these waits are. */
static size_t victims_of(const struct scene *scene, const bool *rows, uint32_t cause, uint32_t *ranks, int64_t *from_ns,
                         int64_t *to_ns)
{
    const struct timeline_info *info = timeline_info(scene->timeline);
    double *victims = memory_new(info->row_count * sizeof *victims), most = 0;
    size_t count = 0;
    *from_ns = INT64_MAX;
    *to_ns = INT64_MIN;
    for (size_t i = 0; i < scene->overlay->wait_count; i++) {
        const struct overlay_wait *wait = &scene->overlay->waits[i];
        int64_t ns = shown_ns(scene, wait);
        /* What overlaps the window is counted, and only for as long as it does. */
        if (wait->row == TIMELINE_NONE || !rows[wait->row] || wait->cause_row != cause || ns <= 0)
            continue;
        victims[wait->row] += (double)ns;
        most = fmax(most, victims[wait->row]);
        int64_t from = larger(wait->from_ns, scene->view.from_ns);
        *from_ns = smaller(from, *from_ns);
        *to_ns = larger(from + ns, *to_ns);
    }
    /* Threads of a process are rows of their own, in order: the process is named once. */
    for (size_t row = 0; row < info->row_count; row++)
        if (victims[row] > 0 && victims[row] >= VICTIM_SHARE * most &&
            (count == 0 || ranks[count - 1] != info->rows[row].process))
            ranks[count++] = info->rows[row].process;
    free(victims);
    return count;
}

/* "Process 3", "Processes 1–7", or how many they are where a list of them would be no title. */
static char *victims_text(char buffer[RANKS_TEXT_SIZE + 16], const uint32_t *ranks, size_t count)
{
    char list[RANKS_TEXT_SIZE], number[TEXT_NUMBER_SIZE];
    size_t runs = 0;
    for (size_t i = 0; i < count; i++)
        runs += i == 0 || ranks[i] != ranks[i - 1] + 1;
    if (runs > RUNS_MOST)
        snprintf(buffer, RANKS_TEXT_SIZE + 16, "%s processes", text_thousands(number, count));
    else
        snprintf(buffer, RANKS_TEXT_SIZE + 16, "Process%s %s", text_plural(count, "", "es"),
                 ranks_text(list, ranks, count));
    return buffer;
}

/* "Processes 1–7 wait for process 0 from 0.2 s to 1.1 s". False if no process waits for long. */
static bool say_waits(const struct scene *scene, char answer[SCENE_ANSWER_SIZE])
{
    const struct timeline_info *info = timeline_info(scene->timeline);
    bool *rows = memory_new(info->row_count * sizeof *rows);
    uint32_t *ranks = memory_new(info->row_count * sizeof *ranks);
    double worst_ns;
    int64_t from_ns, to_ns;
    for (size_t i = 0; i < scene->view.row_count; i++)
        rows[scene->rows[i]] = true;
    uint32_t cause = worst_cause(scene, rows, &worst_ns);
    /* The time of all rows in the window, as if each were there from its beginning to its end. */
    double all = (double)time_since(scene->view.from_ns, scene->view.to_ns) * (double)scene->view.row_count;
    bool worth = cause != TIMELINE_NONE && worst_ns >= WAIT_SHARE * all;
    if (worth) {
        char list[RANKS_TEXT_SIZE + 16], from[TEXT_NUMBER_SIZE], to[TEXT_NUMBER_SIZE], time[TEXT_NUMBER_SIZE];
        size_t count = victims_of(scene, rows, cause, ranks, &from_ns, &to_ns);
        snprintf(answer, SCENE_ANSWER_SIZE, "%s wait%s for process %s between %s and %s: %s%s",
                 victims_text(list, ranks, count), text_plural(count, "s", ""),
                 text_number(info->rows[cause].process).text, text_duration(from, time_since(info->begin_ns, from_ns)),
                 text_duration(to, time_since(info->begin_ns, to_ns)), text_duration(time, (int64_t)worst_ns),
                 text_plural(count, "", " in total"));
    }
    free(rows);
    free(ranks);
    return worth;
}

void scene_answer(const struct scene *scene, char answer[SCENE_ANSWER_SIZE])
{
    const struct timeline_info *info = timeline_info(scene->timeline);
    uint32_t first;
    char share[TEXT_NUMBER_SIZE], part[TEXT_NUMBER_SIZE];
    size_t found = scene_states(scene, &first, 1);
    double all = scene->outside_ns;
    for (size_t state = 0; state < info->defs->state_count; state++)
        all += scene->state_ns[state];
    if (info->row_count == 0)
        snprintf(answer, SCENE_ANSWER_SIZE, "There are no events in this trace");
    else if (all <= 0)
        snprintf(answer, SCENE_ANSWER_SIZE, "No state takes any time here");
    else if (scene->overlay && say_waits(scene, answer))
        /* say_waits() has written the answer. */
        return;
    else if (found == 0)
        snprintf(answer, SCENE_ANSWER_SIZE, "The processes only compute here");
    else if (scene->outside_ns > scene->state_ns[first])
        snprintf(answer, SCENE_ANSWER_SIZE, "Computing takes %s of the time, %.200s %s",
                 text_share(share, scene->outside_ns / all), info->defs->states[first].name,
                 text_share(part, scene->state_ns[first] / all));
    else
        snprintf(answer, SCENE_ANSWER_SIZE, "%.200s takes %s of the time, computing %s", info->defs->states[first].name,
                 text_share(part, scene->state_ns[first] / all), text_share(share, scene->outside_ns / all));
    text_end_whole(answer);
}
