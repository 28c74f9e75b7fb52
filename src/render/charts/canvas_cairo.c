/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures by Cairo: PDF, PostScript, PNG. */
#include "render/charts/canvas_backend.h"

#include "core/numbers.h"
#include "core/text.h"

#include <cairo-pdf.h>
#include <cairo-ps.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Points of a pixel: 72 and 96 to the inch. */
static const double POINTS = 0.75;

enum { DATE_SIZE = 32 };

static cairo_status_t write_bytes(void *closure, const unsigned char *data, unsigned length)
{
    output_write(closure, data, length);
    /* output_write() keeps its own failure, which the command reports: Cairo's words would be less exact. */
    return CAIRO_STATUS_SUCCESS;
}

static void set_source(struct canvas *canvas, struct paint paint)
{
    uint32_t rgb = paint.rgb;
    if (paint.ink != INK_RGB)
        rgb = theme_rgb(canvas->options.theme, paint.ink);
    cairo_set_source_rgba(canvas->cairo, (rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0,
                          paint.opacity);
}

static void make_path(struct canvas *canvas)
{
    cairo_t *cairo = canvas->cairo;
    cairo_new_path(cairo);
    for (size_t i = 0; i < canvas->step_count; i++) {
        const struct step *step = &canvas->steps[i];
        switch (step->kind) {
        case STEP_MOVE:
            cairo_move_to(cairo, step->x, step->y);
            break;
        case STEP_LINE:
            cairo_line_to(cairo, step->x, step->y);
            break;
        case STEP_CURVE:
            cairo_curve_to(cairo, step->x1, step->y1, step->x2, step->y2, step->x, step->y);
            break;
        case STEP_ARC:
            cairo_arc(cairo, step->x, step->y, step->radius, step->from, step->to);
            break;
        case STEP_CLOSE:
            cairo_close_path(cairo);
        }
    }
}

/* Lines at 45 degrees over the path, clipped to it: vector lines, so that print is sharp. */
static void hatch(struct canvas *canvas, struct paint paint)
{
    enum { DISTANCE = 7 };
    cairo_t *cairo = canvas->cairo;
    double left, top, right, bottom;
    cairo_save(cairo);
    cairo_path_extents(cairo, &left, &top, &right, &bottom);
    /* The path is kept by the fill before, and used up by clipping. */
    cairo_clip(cairo);
    set_source(canvas, paint);
    cairo_set_line_width(cairo, 1.7);
    /* Multiples of the distance from the page's corner: hatching of neighbours continues without a step. */
    double first = floor((left - bottom) / DISTANCE) * DISTANCE;
    for (double at = first; at < right - top; at += DISTANCE) {
        cairo_move_to(cairo, at + top, top);
        cairo_line_to(cairo, at + bottom, bottom);
    }
    cairo_stroke(cairo);
    cairo_restore(cairo);
}

static void cairo_backend_fill(struct canvas *canvas, struct paint paint)
{
    struct paint ground = paint;
    ground.opacity = paint.opacity;
    if (paint.hatched)
        ground.opacity *= 0.25;
    make_path(canvas);
    set_source(canvas, ground);
    if (!paint.hatched) {
        cairo_fill(canvas->cairo);
        return;
    }
    cairo_fill_preserve(canvas->cairo);
    hatch(canvas, paint);
}

static void cairo_backend_stroke(struct canvas *canvas, double width, bool dashed, struct paint paint)
{
    static const double dashes[] = {5, 4};
    make_path(canvas);
    set_source(canvas, paint);
    cairo_set_line_width(canvas->cairo, width);
    /* Cairo keeps the dashes of the line before: none is set as well. */
    cairo_set_dash(canvas->cairo, dashes, dashed ? 2 : 0, 0);
    cairo_stroke(canvas->cairo);
}

static void cairo_backend_text(struct canvas *canvas, double x, double baseline, struct text_style style,
                               PangoLayout *layout)
{
    int width;
    pango_layout_get_size(layout, &width, NULL);
    double shift = align_shift(style.align);
    double above = (double)pango_layout_get_baseline(layout) / PANGO_SCALE;
    set_source(canvas, paint_of(style.ink));
    /* Pango places the upper edge of a line, the canvas its baseline. */
    cairo_move_to(canvas->cairo, x - shift * width / PANGO_SCALE, baseline - above);
    pango_cairo_show_layout(canvas->cairo, layout);
}

static void paint_ground(struct canvas *canvas)
{
    set_source(canvas, paint_of(INK_BACK));
    cairo_paint(canvas->cairo);
}

static void cairo_backend_page(struct canvas *canvas)
{
    /* A picture is one page: what would follow has no place. */
    if (canvas->kind == CANVAS_PNG)
        return;
    cairo_show_page(canvas->cairo);
    paint_ground(canvas);
}

/* Cairo continues after a fault without drawing. */
static void fail(struct canvas *canvas, cairo_status_t status)
{
    struct error err;
    (void)error_set(&err, ERROR_OUTPUT, "a picture of %.0f x %.0f cannot be made: %s", canvas->width, canvas->height,
                    cairo_status_to_string(status));
    output_fail(canvas->output, &err);
}

static void cairo_backend_end(struct canvas *canvas)
{
    cairo_surface_t *surface = cairo_get_target(canvas->cairo);
    cairo_status_t status = cairo_status(canvas->cairo);
    /* PDF and PostScript are written while drawing, and their ends when the surface is finished; PNG as a whole. */
    if (canvas->kind != CANVAS_PNG)
        cairo_surface_finish(surface);
    else if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(surface, write_bytes, canvas->output);
    if (status == CAIRO_STATUS_SUCCESS)
        /* Finishing can fail, too: the surface knows of it, the context does not. */
        status = cairo_surface_status(surface);
    if (status != CAIRO_STATUS_SUCCESS)
        fail(canvas, status);
    cairo_destroy(canvas->cairo);
}

/* Cairo dates PostScript by itself, in the third line: the beginning is held back until that line is complete and can
   be replaced. */
static cairo_status_t write_postscript(void *closure, const unsigned char *data, unsigned length)
{
    struct canvas *canvas = closure;
    char *head = canvas->head;
    if (canvas->head_done)
        return write_bytes(canvas->output, data, length);
    size_t room = sizeof canvas->head - 1 - canvas->head_length, taken = smaller(length, room);
    memcpy(head + canvas->head_length, data, taken);
    canvas->head_length += taken;
    head[canvas->head_length] = '\0';
    char *date = strstr(head, "%%CreationDate:"), *end = NULL;
    if (date)
        end = strchr(date, '\n');
    /* The line may come in pieces. If it is not in the beginning that is kept, PostScript has none. */
    if (!end && canvas->head_length < sizeof canvas->head - 1)
        return CAIRO_STATUS_SUCCESS;
    canvas->head_done = true;
    if (end) {
        char text[DATE_SIZE];
        text_date(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ");
        output_write(canvas->output, head, (size_t)(date - head));
        output_print(canvas->output, "%%%%CreationDate: %s", text);
        output_text(canvas->output, end);
    } else {
        output_text(canvas->output, head);
    }
    return write_bytes(canvas->output, data + taken, (unsigned)(length - taken));
}

static cairo_surface_t *surface_new(struct canvas *canvas, double *scale)
{
    double width = canvas->width, height = canvas->height;
    char date[DATE_SIZE];
    cairo_surface_t *surface;
    *scale = POINTS;
    switch (canvas->kind) {
    case CANVAS_PDF:
        surface = cairo_pdf_surface_create_for_stream(write_bytes, canvas->output, width * POINTS, height * POINTS);
        if (canvas->options.title) {
            char *title = g_utf8_make_valid(canvas->options.title, -1);
            cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, title);
            g_free(title);
        }
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "SIGHT");
        /* The same date as everywhere, so that SOURCE_DATE_EPOCH makes files that can be compared. */
        text_date(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ");
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, date);
        return surface;
    case CANVAS_PS:
        return cairo_ps_surface_create_for_stream(write_postscript, canvas, width * POINTS, height * POINTS);
    default:
        *scale = 1;
        if (canvas->options.dpi > 0)
            *scale = canvas->options.dpi / 96;
        /* Without transparency, as the ground is painted anyway: files are smaller. */
        return cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(width * *scale), (int)ceil(height * *scale));
    }
}

bool canvas_cairo_begin(struct canvas *canvas)
{
    static const struct canvas_backend backend = {cairo_backend_fill, cairo_backend_stroke, cairo_backend_text,
                                                  cairo_backend_page, cairo_backend_end};
    double scale;
    cairo_surface_t *surface = surface_new(canvas, &scale);
    if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS) {
        fail(canvas, cairo_surface_status(surface));
        cairo_surface_destroy(surface);
        return false;
    }
    canvas->backend = &backend;
    canvas->cairo = cairo_create(surface);
    /* The context holds the surface from here on. */
    cairo_surface_destroy(surface);
    cairo_scale(canvas->cairo, scale, scale);
    paint_ground(canvas);
    return true;
}
