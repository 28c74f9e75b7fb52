/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/timeline_text.h"

#include "core/ending.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "render/charts/axis.h"
#include "render/clock_sentence.h"
#include "render/field.h"
#include "render/terminal_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LEGEND = 12, NAME_COLUMNS = 40 };

/* From this share of waiting on a letter is small. */
static const double WAITING = 0.5;

/* The first letter of the name that no state before it has, without "MPI_"; then any letter; '#' when all are taken. */
static char letter_of(const char *name, bool taken[128])
{
    /* Nearly all names begin with MPI_, which would leave M for all of them. */
    const char *at = strncmp(name, "MPI_", 4) == 0 ? name + 4 : name;
    static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (; *at; at++)
        if (isalpha((unsigned char)*at) && (unsigned char)*at < 128 && !taken[toupper(*at)])
            break;
    char letter = *at ? (char)toupper(*at) : '#';
    for (const char *other = all; letter == '#' && *other; other++)
        letter = taken[(unsigned char)*other] ? '#' : *other;
    taken[(unsigned char)letter] = true;
    return letter;
}

static char *letters_of(const struct scene *scene, const uint32_t *states, size_t count)
{
    const struct defs *defs = timeline_info(scene->timeline)->defs;
    char *letters = memory_new(UINT16_MAX + 1);
    bool taken[128] = {0};
    /* States without a letter of their own share one, as the legend says. */
    memset(letters, '#', UINT16_MAX + 1);
    for (size_t i = 0; i < count; i++)
        letters[states[i] & UINT16_MAX] = letter_of(defs->states[states[i]].name, taken);
    return letters;
}

static void write_axis(struct output *output, const struct scene *scene)
{
    double begin = (double)time_since(timeline_info(scene->timeline)->begin_ns, scene->view.from_ns);
    double span = (double)time_since(scene->view.from_ns, scene->view.to_ns);
    /* A label has up to about 14 characters, unit and mark included. */
    double ticks = scene->columns / 14.0, step = axis_time_step(span, larger(ticks, 1));
    const char *unit = "";
    char *line = memory_new(scene->columns + 64);
    char label[48];
    memset(line, ' ', scene->columns + 32);
    size_t used = 0;
    for (double at = begin; at <= begin + span; at += step) {
        /* The first tick is the first multiple of the step in the window; the loop then adds steps. */
        if (at == begin)
            at = (double)(uint64_t)((begin + step - 1) / step) * step;
        size_t column = (size_t)((at - begin) / span * scene->columns);
        axis_time(label, sizeof label, at, step, &unit);
        if (column + strlen(label) + strlen(unit) + 2 <= scene->columns && column >= used) {
            line[column] = '|';
            memcpy(line + column + 1, label, strlen(label));
            used = column + strlen(label) + 2;
        }
    }
    /* No blanks at the end of a line, which editors and diffs would show. */
    while (used > 0 && line[used - 1] == ' ')
        used--;
    line[used] = '\0';
    output_print(output, "%*s %s %s\n", TIMELINE_TEXT_NAMES - 1, "", line, unit);
    free(line);
}

static void write_cell(struct output *output, const struct scene *scene, const struct scene_cell *cell,
                       const char *letters, bool colour)
{
    const struct defs *defs = timeline_info(scene->timeline)->defs;
    char text[2] = {letters[cell->state], '\0'};
    const char *shown = text;
    unsigned ink = INK_COMPUTE;
    if (cell->state == TIMELINE_ABSENT) {
        output_text(output, " ");
        return;
    }
    if (cell->state == TIMELINE_OUTSIDE)
        shown = "·";
    else if ((double)cell->waiting >= WAITING)
        text[0] = (char)tolower(text[0]);
    if (cell->state != TIMELINE_OUTSIDE)
        ink = palette_paint(&defs->states[cell->state], false).ink;
    /* The light theme on any terminal: its colours are far enough from black letters to read them. */
    uint32_t rgb = theme_rgb(THEME_LIGHT, ink);
    if (colour)
        output_print(output, "\033[38;5;16;48;2;%u;%u;%um%s\033[0m", rgb >> 16, rgb >> 8 & 255, rgb & 255, shown);
    else
        output_text(output, shown);
}

static void write_lines(struct output *output, const struct scene *scene, const char *letters, bool colour)
{
    for (uint32_t line = 0; line < scene->lines; line++) {
        char name[SCENE_NAME_SIZE];
        scene_line_name(scene, line, name);
        /* The dash of a range is three bytes. */
        int bytes = (int)strlen(name), columns = strchr(name, '\xE2') ? bytes - 2 : bytes;
        output_print(output, "%*s%s ", columns < TIMELINE_TEXT_NAMES - 1 ? TIMELINE_TEXT_NAMES - 1 - columns : 0, "",
                     name);
        for (uint32_t column = 0; column < scene->columns; column++)
            write_cell(output, scene, &scene->cells[line * (size_t)scene->columns + column], letters, colour);
        output_text(output, "\n");
    }
}

/* Processes that crashed, exited or died: so many are named. */
enum { ENDINGS = 8 };

/* What is behind the end of a row. */
static void write_endings(struct output *output, const struct scene *scene)
{
    const struct timeline_row *rows = timeline_info(scene->timeline)->rows;
    char text[ENDING_TEXT_SIZE], more[TEXT_NUMBER_SIZE];
    size_t found = 0;
    for (size_t i = 0; i < scene->view.row_count; i++) {
        const struct timeline_row *row = &rows[scene->rows[i]];
        /* Its threads end with a process. */
        if (row->thread > 0 || !ending_text(text, row->ended, row->code)[0] || found++ >= ENDINGS)
            continue;
        output_print(output, "  process %s %s\n", text_number(row->process).text, text);
    }
    if (found > ENDINGS)
        output_print(output, "  … %s more\n", text_thousands(more, found - ENDINGS));
    if (found > 0)
        output_text(output, "\n");
}

static void write_legend_row(struct output *output, const char *letter, const char *name, double ns, double all)
{
    char shown[VALUE_TEXT_SIZE], time[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
    text_for_terminal(shown, sizeof shown, name, NAME_COLUMNS);
    /* printf pads by bytes. */
    output_print(output, "  %s %s%*s %10s  %s\n", letter, shown, (int)(NAME_COLUMNS - terminal_columns(shown)), "",
                 text_duration(time, ns < 9e18 ? (int64_t)ns : INT64_MAX), text_share(share, all > 0 ? ns / all : 0));
}

static void write_legend(struct output *output, const struct scene *scene, const uint32_t *states, size_t shown,
                         size_t found, const char *letters)
{
    const struct defs *defs = timeline_info(scene->timeline)->defs;
    /* What the legend has no row for is the rest of all times. */
    double all = scene->outside_ns, rest = 0;
    for (size_t state = 0; state < defs->state_count; state++)
        rest += scene->state_ns[state];
    all += rest;
    write_legend_row(output, "·", "outside all calls and states: computing", scene->outside_ns, all);
    for (size_t i = 0; i < shown; i++) {
        char letter[2] = {letters[states[i] & UINT16_MAX], '\0'};
        write_legend_row(output, letter, defs->states[states[i]].name, scene->state_ns[states[i]], all);
        rest -= scene->state_ns[states[i]];
    }
    if (found > shown)
        write_legend_row(output, "#", "others", larger(rest, 0), all);
    output_print(output, "  small letters: %s\n",
                 scene->overlay ? "more than half of it is waiting for other processes"
                                : "more than half of it is in functions that wait");
}

void timeline_write_text(struct output *output, const struct scene *scene, const char *title, bool colour)
{
    const struct timeline_info *info = timeline_info(scene->timeline);
    char answer[SCENE_ANSWER_SIZE], length[TEXT_NUMBER_SIZE], from[TEXT_NUMBER_SIZE], clocks[CLOCK_NOTE_SIZE],
        what[3 * TEXT_NUMBER_SIZE];
    uint32_t states[LEGEND];
    size_t found = scene_states(scene, states, LEGEND), shown = smaller(found, LEGEND);
    clock_note(clocks, info, scene->overlay);
    scene_answer(scene, answer);
    /* A window from the beginning needs no words about where it is. */
    bool whole = scene->view.from_ns <= info->begin_ns;
    if (info->row_count == 0)
        paragraph_write(output, "", "  ", title);
    else {
        snprintf(what, sizeof what, "%s%s%s%s",
                 text_duration(length, time_since(scene->view.from_ns, scene->view.to_ns)), whole ? "" : " from ",
                 whole ? "" : text_duration(from, time_since(info->begin_ns, scene->view.from_ns)), whole ? "" : " on");
        headline_write(output, title, what);
    }
    output_text(output, "\n");
    paragraph_write(output, "  ", "  ", answer);
    if (clocks[0])
        output_print(output, "  %c%s\n", toupper(clocks[0]), clocks + 1);
    output_text(output, "\n");
    if (scene->lines == 0)
        return;
    char *letters = letters_of(scene, states, shown);
    write_axis(output, scene);
    write_lines(output, scene, letters, colour);
    output_text(output, "\n");
    write_endings(output, scene);
    write_legend(output, scene, states, shown, found, letters);
    free(letters);
}
