/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_CHARTS_CANVAS_H
#define SIGHT_RENDER_CHARTS_CANVAS_H

#include "core/output.h"
#include "render/charts/theme.h"

#include <stdbool.h>
#include <stddef.h>

/* A surface to draw on, for any kind of output. Lengths are in pixels of 1/96 inch, y grows downwards. Text is measured
   by Pango everywhere, so that all kinds have the same layout. Drawing never fails: faults are kept in the output. */
enum canvas_kind { CANVAS_SVG, CANVAS_PDF, CANVAS_PS, CANVAS_PNG };

struct canvas_options {
    enum theme theme;
    double dpi;         /* of CANVAS_PNG; 0: 96 */
    const char *prefix; /* SVG: begins every id, so that several fit on one page */
    const char *title;  /* what is shown, for readers of screens and properties of documents; UTF-8 */
    const char *description;
};

struct canvas;

/* Draws into `output`, which stays the caller's. NULL and the output's fault where the picture cannot be made. */
struct canvas *canvas_new(enum canvas_kind kind, struct output *output, double width, double height,
                          const struct canvas_options *options);

/* A new page of the same size (PDF and PS only; others go on in the same picture). */
void canvas_page(struct canvas *canvas);

/* Ends the picture and frees the canvas. */
void canvas_free(struct canvas *canvas);

double canvas_width(const struct canvas *canvas);
double canvas_height(const struct canvas *canvas);

/* Describes the next shape, for the pointer that rests on it (SVG). */
void canvas_tip(struct canvas *canvas, const char *format, ...) PRINTF_LIKE(2, 3);

void canvas_rect(struct canvas *canvas, double x, double y, double width, double height, struct paint paint);
void canvas_line(struct canvas *canvas, double x1, double y1, double x2, double y2, double width, struct paint paint);
void canvas_dashes(struct canvas *canvas, double x1, double y1, double x2, double y2, double width, struct paint paint);
void canvas_circle(struct canvas *canvas, double x, double y, double radius, struct paint paint);
void canvas_ring(struct canvas *canvas, double x, double y, double radius, double width, struct paint paint);

struct point {
    double x, y;
};
void canvas_polygon(struct canvas *canvas, const struct point *points, size_t count, struct paint paint);
void canvas_polyline(struct canvas *canvas, const struct point *points, size_t count, double width, struct paint paint);

/* A slice of a pie, angles in turns (0 is up, 0.25 right). */
void canvas_slice(struct canvas *canvas, double x, double y, double radius, double from, double to, struct paint paint);

/* A curve bent towards `bend`, with an arrow's head at its end if `head` > 0 (its length). */
void canvas_arrow(struct canvas *canvas, struct point from, struct point bend, struct point to, double width,
                  double head, struct paint paint);

/* Many rectangles of the same size and paint, as one shape: (column, row) pairs of a grid. */
struct grid {
    double x, y, cell_width, cell_height;
    double gap; /* between cells; 0: none, neighbours touch */
};
struct run {
    unsigned column, row, length; /* cells side by side */
};
void canvas_cells(struct canvas *canvas, struct grid grid, const struct run *runs, size_t count, struct paint paint);

enum align { ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT };

/* The share of a text's width that stands left of its x. */
static inline double align_shift(enum align align)
{
    static const double shifts[] = {[ALIGN_LEFT] = 0, [ALIGN_CENTER] = 0.5, [ALIGN_RIGHT] = 1};
    return shifts[align];
}

struct text_style {
    double size; /* 0: TEXT_SIZE */
    bool bold;
    enum align align;
    enum ink ink; /* 0: INK_TEXT */
};
enum { TEXT_SIZE = 12, TEXT_TITLE = 19, TEXT_SUBTITLE = 13 };

/* A line of text whose middle is at y. Texts never overlap and never leave the canvas: one that would is left out, so
   what matters most is drawn first. */
void canvas_text(struct canvas *canvas, double x, double y, struct text_style style, const char *text);

/* The same, cut with an ellipsis to at most `room` wide. */
void canvas_text_cut(struct canvas *canvas, double x, double y, double room, struct text_style style, const char *text);

/* Lines broken at blanks, the first with its top at y. Returns the height of all. */
double canvas_paragraph(struct canvas *canvas, double x, double y, double room, struct text_style style,
                        const char *text);

/* The same with a maximum of lines: the last one ends with an ellipsis if there is more. */
double canvas_paragraph_cut(struct canvas *canvas, double x, double y, double room, size_t lines,
                            struct text_style style, const char *text);

/* The least room in which the text takes no more lines than in `room`: its lines are then about equally long.
   `room` itself if it takes more than `most`. */
double canvas_even_room(struct canvas *canvas, double room, size_t most, struct text_style style, const char *text);

/* How high a line of a paragraph is. */
double canvas_line_height(struct text_style style);

double canvas_text_width(struct canvas *canvas, struct text_style style, const char *text);

/* Where texts were drawn, in order, for tests. */
struct text_box {
    double x, y, width, height;
    double size; /* of the letters */
    unsigned page;
};
const struct text_box *canvas_text_boxes(const struct canvas *canvas, size_t *count);

/* How many texts were left out: at the sizes that charts are made for, none. */
size_t canvas_texts_left_out(const struct canvas *canvas);

#endif
