/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures as SVG with real text: small, searchable, and readable by screen readers. */
#include "render/charts/canvas_backend.h"

#include "render/reports/markup.h"

#include <math.h>
#include <stdio.h>

/* Hundredths of a pixel, without zeros that say nothing. */
static void number(struct output *output, double value)
{
    long hundredths = lround(value * 100);
    char text[32];
    /* Without the sign, as -0.05 has a whole part of 0 that would lose it. */
    long whole = labs(hundredths) / 100, part = labs(hundredths) % 100;
    const char *sign = hundredths < 0 ? "-" : "";
    if (part == 0)
        snprintf(text, sizeof text, "%s%ld", sign, whole);
    else if (part % 10 == 0)
        snprintf(text, sizeof text, "%s%ld.%ld", sign, whole, part / 10);
    else
        snprintf(text, sizeof text, "%s%ld.%02ld", sign, whole, part);
    output_text(output, text);
}

static void pair(struct output *output, const char *op, double x, double y)
{
    output_text(output, op);
    number(output, x);
    output_text(output, " ");
    number(output, y);
}

static void arc_step(struct output *output, const struct step *step)
{
    output_text(output, "A");
    number(output, step->radius);
    output_text(output, " ");
    number(output, step->radius);
    /* The flags of an arc: not the large one (at most half a turn), clockwise. */
    pair(output, " 0 0 1 ", step->x + step->radius * cos(step->to), step->y + step->radius * sin(step->to));
}

static void write_path(struct canvas *canvas)
{
    struct output *output = canvas->output;
    output_text(output, "<path d=\"");
    for (size_t i = 0; i < canvas->step_count; i++) {
        const struct step *step = &canvas->steps[i];
        switch (step->kind) {
        case STEP_MOVE:
            pair(output, "M", step->x, step->y);
            break;
        case STEP_LINE:
            pair(output, "L", step->x, step->y);
            break;
        case STEP_CURVE:
            pair(output, "C", step->x1, step->y1);
            pair(output, " ", step->x2, step->y2);
            pair(output, " ", step->x, step->y);
            break;
        case STEP_ARC:
            arc_step(output, step);
            break;
        case STEP_CLOSE:
            /* Nothing follows: a path without arguments. */
            output_text(output, "Z");
        }
    }
    output_text(output, "\"");
}

static void end_shape(struct canvas *canvas)
{
    /* Browsers show a shape's title as its tip; screen readers read it. */
    if (!canvas->tip[0]) {
        output_text(canvas->output, "/>\n");
        return;
    }
    output_text(canvas->output, "><title>");
    markup_write(canvas->output, canvas->tip);
    output_text(canvas->output, "</title></path>\n");
}

/* `property` is fill or stroke. */
static void write_paint(struct canvas *canvas, const char *property, struct paint paint)
{
    struct output *output = canvas->output;
    /* Inside a page colours are classes, so that the page's light and dark scheme decide them. */
    if (paint.ink == INK_RGB)
        output_print(output, " %s=\"#%06X\"", property, (unsigned)paint.rgb);
    else if (canvas->options.theme == THEME_PAGE)
        output_print(output, " class=\"%c%u\"", *property, paint.ink);
    else
        output_print(output, " %s=\"#%06X\"", property, (unsigned)theme_rgb(canvas->options.theme, paint.ink));
    if (paint.opacity < 1) {
        output_print(output, " %s-opacity=\"", property);
        number(output, paint.opacity);
        output_text(output, "\"");
    }
}

static void svg_fill(struct canvas *canvas, struct paint paint)
{
    write_path(canvas);
    /* Colours of the user are no inks: they have no pattern, and stay plain. */
    bool hatched = paint.hatched && paint.ink < INK_COUNT;
    if (hatched) {
        /* Only patterns that are used are defined, at the end of the file. */
        canvas->hatches[paint.ink] = true;
        output_print(canvas->output, " fill=\"url(#%s-h%u)\"", canvas->options.prefix, paint.ink);
    } else {
        write_paint(canvas, "fill", paint);
    }
    end_shape(canvas);
}

static void svg_stroke(struct canvas *canvas, double width, bool dashed, struct paint paint)
{
    write_path(canvas);
    output_text(canvas->output, " fill=\"none\"");
    write_paint(canvas, "stroke", paint);
    /* Lines are 1 wide in SVG unless they say otherwise. */
    if (width != 1) {
        output_text(canvas->output, " stroke-width=\"");
        number(canvas->output, width);
        output_text(canvas->output, "\"");
    }
    if (dashed)
        output_text(canvas->output, " stroke-dasharray=\"5 4\"");
    end_shape(canvas);
}

static void svg_text(struct canvas *canvas, double x, double baseline, struct text_style style, PangoLayout *layout)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    struct output *output = canvas->output;
    output_text(output, "<text x=\"");
    number(output, x);
    output_text(output, "\" y=\"");
    number(output, baseline);
    output_print(output, "\"%s", anchors[style.align]);
    /* TEXT_SIZE is set once for the whole picture. */
    if (style.size != TEXT_SIZE) {
        output_text(output, " font-size=\"");
        number(output, style.size);
        output_text(output, "\"");
    }
    if (style.bold)
        output_text(output, " font-weight=\"600\"");
    write_paint(canvas, "fill", paint_of(style.ink));
    output_text(output, ">");
    /* Real text, not outlines: it can be searched, selected and read aloud. */
    markup_write(output, pango_layout_get_text(layout));
    output_text(output, "</text>\n");
}

/* A light tone under diagonal lines. */
static void write_hatch(struct canvas *canvas, unsigned ink)
{
    struct output *output = canvas->output;
    output_print(output,
                 "<pattern id=\"%s-h%u\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
                 "patternTransform=\"rotate(45)\"><rect width=\"5\" height=\"5\"",
                 canvas->options.prefix, ink);
    write_paint(canvas, "fill", paint_faded((enum ink)ink, 0.25));
    output_text(output, "/><rect width=\"1.7\" height=\"5\"");
    write_paint(canvas, "fill", paint_of((enum ink)ink));
    output_text(output, "/></pattern>\n");
}

static void svg_end(struct canvas *canvas)
{
    bool any = false;
    /* One <defs> around all of them, and none where nothing is hatched. */
    for (unsigned ink = 0; ink < INK_COUNT; ink++) {
        if (canvas->hatches[ink] && !any)
            output_text(canvas->output, "<defs>\n");
        any |= canvas->hatches[ink];
        if (canvas->hatches[ink])
            write_hatch(canvas, ink);
    }
    output_text(canvas->output, any ? "</defs>\n</svg>\n" : "</svg>\n");
}

void canvas_svg_begin(struct canvas *canvas)
{
    static const struct canvas_backend backend = {svg_fill, svg_stroke, svg_text, NULL, svg_end};
    canvas->backend = &backend;
    struct output *output = canvas->output;
    const char *prefix = canvas->options.prefix ? canvas->options.prefix : "chart";
    /* Several charts of one page need names that differ. */
    canvas->options.prefix = prefix;
    /* Inside a page there is no XML declaration, and CSS sets the size. */
    bool inside_page = canvas->options.theme == THEME_PAGE;
    if (!inside_page)
        output_text(output, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    output_text(output, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ");
    number(output, canvas->width);
    output_text(output, " ");
    number(output, canvas->height);
    output_text(output, "\"");
    if (!inside_page) {
        output_text(output, " width=\"");
        number(output, canvas->width);
        output_text(output, "\" height=\"");
        number(output, canvas->height);
        output_text(output, "\"");
    }
    output_print(output,
                 " role=\"img\" aria-labelledby=\"%s-title %s-desc\" "
                 "style=\"font:%dpx system-ui,'Liberation Sans',Arial,'DejaVu Sans',sans-serif\">\n"
                 "<title id=\"%s-title\">",
                 prefix, prefix, TEXT_SIZE, prefix);
    markup_write(output, canvas->options.title ? canvas->options.title : "");
    output_print(output, "</title>\n<desc id=\"%s-desc\">", prefix);
    markup_write(output, canvas->options.description ? canvas->options.description : "");
    output_text(output, "</desc>\n");
}
