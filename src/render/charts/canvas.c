/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/charts/canvas_backend.h"

#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double TURN = 2 * M_PI;

/* Neighbours overlap by this much, so that no background shows between them. */
static const double SEAM = 0.3;

/* Without memory GLib traps, and fontconfig and Pango use pointers that they did not get: while they draw, a crash
   means that memory has run out. */
static void on_crash(int number)
{
    (void)number;
    memory_failed();
}

static void say_nothing(const gchar *domain, GLogLevelFlags level, const gchar *text, gpointer unused)
{
    /* GLib's own warnings would go to standard error between the lines of sight. */
    (void)domain, (void)level, (void)text, (void)unused;
}

static const int crashes[] = {SIGSEGV, SIGBUS, SIGTRAP, SIGABRT};
enum { CRASHES = sizeof crashes / sizeof *crashes, CRASH_STACK = 64 * 1024 };

/* They are kept until the process ends: Pango sorts fonts in threads that may outlive the last canvas. */
static void watch_for_crashes(void)
{
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    g_log_set_default_handler(say_nothing, NULL);
    /* SIGTRAP is GLib's way to end on a failed allocation, SIGABRT that of its assertions. */
    for (size_t i = 0; i < CRASHES; i++) {
        struct sigaction before;
        /* Whoever keeps blocks in a file (core/memory_file.h) says more of a SIGBUS. */
        if (crashes[i] != SIGBUS || sigaction(SIGBUS, NULL, &before) != 0 ||
            (!(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL))
            sigaction(crashes[i], &action, NULL);
    }
}

static void drawing_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    /* Some of them recurse without end: the handler has a stack of its own, unless the thread (or a sanitizer) has
       set one. */
    /* One for each thread, as a signal is handled in the thread that crashed. */
    static _Thread_local char stack[CRASH_STACK];
    stack_t before;
    if (sigaltstack(NULL, &before) == 0 && (before.ss_flags & SS_DISABLE))
        sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    pthread_once(&once, watch_for_crashes);
}

struct canvas *canvas_new(enum canvas_kind kind, struct output *output, double width, double height,
                          const struct canvas_options *options)
{
    struct canvas *canvas = memory_new(sizeof *canvas);
    canvas->output = output;
    canvas->width = width;
    canvas->height = height;
    canvas->options = *options;
    canvas->kind = kind;
    drawing_begin();
    /* SVG is measured by Pango as well, although browsers draw it: lines must be broken before. */
    canvas->measuring = pango_font_map_create_context(pango_cairo_font_map_get_default());
    cairo_font_options_t *font = cairo_font_options_create();
    /* Hinted widths depend on the resolution: PNG, PDF and SVG would break lines at different places. */
    cairo_font_options_set_hint_metrics(font, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(font, CAIRO_HINT_STYLE_NONE);
    pango_cairo_context_set_font_options(canvas->measuring, font);
    cairo_font_options_destroy(font);
    /* Only Cairo can fail here: it makes its surface at once, SVG writes as it goes. */
    if (kind == CANVAS_SVG)
        canvas_svg_begin(canvas);
    else if (!canvas_cairo_begin(canvas)) {
        g_object_unref(canvas->measuring);
        free(canvas);
        return NULL;
    }
    return canvas;
}

void canvas_page(struct canvas *canvas)
{
    canvas->page++;
    /* Texts of earlier pages are in nobody's way. */
    canvas->page_boxes = canvas->box_count;
    /* SVG and PNG have no pages. */
    if (canvas->backend->page)
        canvas->backend->page(canvas);
}

void canvas_free(struct canvas *canvas)
{
    if (!canvas)
        return;
    canvas->backend->end(canvas);
    g_object_unref(canvas->measuring);
    free(canvas->steps);
    free(canvas->boxes);
    free(canvas);
}

double canvas_width(const struct canvas *canvas)
{
    return canvas->width;
}

double canvas_height(const struct canvas *canvas)
{
    return canvas->height;
}

void canvas_tip(struct canvas *canvas, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    /* Cut to the buffer if need be; half a character would not be valid in SVG. */
    vsnprintf(canvas->tip, sizeof canvas->tip, format, args);
    va_end(args);
    text_end_whole(canvas->tip);
}

static void step(struct canvas *canvas, struct step step)
{
    ARRAY_PUSH(canvas->steps, canvas->step_count, canvas->step_capacity, step);
}

static void move_to(struct canvas *canvas, double x, double y)
{
    step(canvas, (struct step){.kind = STEP_MOVE, .x = x, .y = y});
}

static void line_to(struct canvas *canvas, double x, double y)
{
    step(canvas, (struct step){.kind = STEP_LINE, .x = x, .y = y});
}

static void close_path(struct canvas *canvas)
{
    step(canvas, (struct step){.kind = STEP_CLOSE});
}

static void path_done(struct canvas *canvas)
{
    /* A path and its tip are used up by drawing them: the next shape begins without either. */
    canvas->step_count = 0;
    canvas->tip[0] = '\0';
}

static void fill(struct canvas *canvas, struct paint paint)
{
    canvas->backend->fill(canvas, paint);
    path_done(canvas);
}

static void stroke(struct canvas *canvas, double width, bool dashed, struct paint paint)
{
    canvas->backend->stroke(canvas, width, dashed, paint);
    path_done(canvas);
}

static void rect_path(struct canvas *canvas, double x, double y, double width, double height)
{
    move_to(canvas, x, y);
    line_to(canvas, x + width, y);
    line_to(canvas, x + width, y + height);
    line_to(canvas, x, y + height);
    close_path(canvas);
}

void canvas_rect(struct canvas *canvas, double x, double y, double width, double height, struct paint paint)
{
    rect_path(canvas, x, y, width, height);
    fill(canvas, paint);
}

void canvas_cells(struct canvas *canvas, struct grid grid, const struct run *runs, size_t count, struct paint paint)
{
    /* Cells touch each other unless they have a gap: then they overlap a little. */
    double less = grid.gap > 0 ? grid.gap : -SEAM;
    for (size_t i = 0; i < count; i++)
        rect_path(canvas, grid.x + runs[i].column * grid.cell_width, grid.y + runs[i].row * grid.cell_height,
                  runs[i].length * grid.cell_width - less, grid.cell_height - less);
    /* All cells of a colour are one shape, which keeps files small and redrawing fast. */
    if (count > 0)
        fill(canvas, paint);
}

void canvas_line(struct canvas *canvas, double x1, double y1, double x2, double y2, double width, struct paint paint)
{
    move_to(canvas, x1, y1);
    line_to(canvas, x2, y2);
    stroke(canvas, width, false, paint);
}

void canvas_dashes(struct canvas *canvas, double x1, double y1, double x2, double y2, double width, struct paint paint)
{
    move_to(canvas, x1, y1);
    line_to(canvas, x2, y2);
    stroke(canvas, width, true, paint);
}

/* At most half a turn each, which every kind of path can say. */
static void arc(struct canvas *canvas, double x, double y, double radius, double from, double to)
{
    while (to - from > M_PI) {
        step(canvas, (struct step){STEP_ARC, .x = x, .y = y, .radius = radius, .from = from, .to = from + M_PI});
        from += M_PI;
    }
    step(canvas, (struct step){STEP_ARC, .x = x, .y = y, .radius = radius, .from = from, .to = to});
}

static void circle_path(struct canvas *canvas, double x, double y, double radius)
{
    /* Where the arc begins: SVG's arcs continue from the current point. */
    move_to(canvas, x + radius, y);
    arc(canvas, x, y, radius, 0, TURN);
    close_path(canvas);
}

void canvas_circle(struct canvas *canvas, double x, double y, double radius, struct paint paint)
{
    circle_path(canvas, x, y, radius);
    fill(canvas, paint);
}

void canvas_ring(struct canvas *canvas, double x, double y, double radius, double width, struct paint paint)
{
    circle_path(canvas, x, y, radius);
    stroke(canvas, width, false, paint);
}

static void points_path(struct canvas *canvas, const struct point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i == 0)
            move_to(canvas, points[i].x, points[i].y);
        else
            line_to(canvas, points[i].x, points[i].y);
    }
}

void canvas_polygon(struct canvas *canvas, const struct point *points, size_t count, struct paint paint)
{
    points_path(canvas, points, count);
    close_path(canvas);
    fill(canvas, paint);
}

void canvas_polyline(struct canvas *canvas, const struct point *points, size_t count, double width, struct paint paint)
{
    points_path(canvas, points, count);
    stroke(canvas, width, false, paint);
}

void canvas_slice(struct canvas *canvas, double x, double y, double radius, double from, double to, struct paint paint)
{
    /* An arc of a whole turn begins where it ends: SVG draws nothing. */
    if (to - from >= 1 - 1e-9) {
        canvas_circle(canvas, x, y, radius, paint);
        return;
    }
    /* Shares count from the top clockwise; angles from the right, y downwards. */
    double begin = (from - 0.25) * TURN, end = (to - 0.25) * TURN;
    move_to(canvas, x, y);
    line_to(canvas, x + radius * cos(begin), y + radius * sin(begin));
    arc(canvas, x, y, radius, begin, end);
    close_path(canvas);
    fill(canvas, paint);
}

void canvas_arrow(struct canvas *canvas, struct point from, struct point bend, struct point to, double width,
                  double head, struct paint paint)
{
    double dx = to.x - bend.x, dy = to.y - bend.y, length = hypot(dx, dy);
    /* Without a direction there is no head to draw. */
    if (length <= 0)
        return;
    dx /= length;
    dy /= length;
    /* Drawing the line uses the tip up; the head is to have it, too. */
    char tip[sizeof canvas->tip];
    memcpy(tip, canvas->tip, sizeof tip);
    /* The line ends where the head begins: a thick line would stick out beyond its tip. */
    struct point neck = {to.x - dx * head, to.y - dy * head};
    /* A quadratic curve as a cubic one: control points two thirds of the way to the bend. */
    move_to(canvas, from.x, from.y);
    step(canvas, (struct step){.kind = STEP_CURVE,
                               .x1 = from.x + (bend.x - from.x) * 2 / 3,
                               .y1 = from.y + (bend.y - from.y) * 2 / 3,
                               .x2 = neck.x + (bend.x - neck.x) * 2 / 3,
                               .y2 = neck.y + (bend.y - neck.y) * 2 / 3,
                               .x = neck.x,
                               .y = neck.y});
    stroke(canvas, width, false, paint);
    /* A head of no length is a plain curve. */
    if (head <= 0)
        return;
    /* Wide enough to be seen at thin lines, and to cover thick ones. */
    double half = head * 0.42 + width * 0.3;
    const struct point points[] = {
        to, {neck.x - dy * half, neck.y + dx * half}, {neck.x + dy * half, neck.y - dx * half}};
    memcpy(canvas->tip, tip, sizeof tip);
    canvas_polygon(canvas, points, 3, paint);
}

/* Text */

static double size_of(struct text_style style)
{
    return style.size > 0 ? style.size : TEXT_SIZE;
}

static PangoLayout *layout_new(struct canvas *canvas, struct text_style style, const char *text)
{
    PangoLayout *layout = pango_layout_new(canvas->measuring);
    PangoFontDescription *font = pango_font_description_new();
    pango_font_description_set_family(font, "sans-serif");
    /* Absolute sizes are pixels: points would depend on the resolution of the font map. */
    pango_font_description_set_absolute_size(font, size_of(style) * PANGO_SCALE);
    pango_font_description_set_weight(font, style.bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
    pango_layout_set_font_description(layout, font);
    pango_font_description_free(font);
    /* A line end in a name would begin a second line over what is below. */
    pango_layout_set_single_paragraph_mode(layout, TRUE);
    /* Names come from traces, and files' names are any bytes. */
    char *valid = NULL;
    if (!g_utf8_validate(text, -1, NULL))
        valid = g_utf8_make_valid(text, -1);
    pango_layout_set_text(layout, valid != NULL ? valid : text, -1);
    g_free(valid);
    return layout;
}

static double layout_width(PangoLayout *layout)
{
    int width;
    pango_layout_get_size(layout, &width, NULL);
    return (double)width / PANGO_SCALE;
}

/* Less than this is no overlap: letters do not fill their boxes. */
static const double TOUCH = 0.5;

static bool is_free(const struct canvas *canvas, const struct text_box *box)
{
    /* A text beyond the edge would be cut in print without anyone noticing. */
    if (box->x < -TOUCH || box->y < -TOUCH || box->x + box->width > canvas->width + TOUCH ||
        box->y + box->height > canvas->height + TOUCH)
        return false;
    /* Each pair is compared: pictures have some hundred texts, and an index would not pay. */
    for (size_t i = canvas->page_boxes; i < canvas->box_count; i++) {
        const struct text_box *other = &canvas->boxes[i];
        if (box->x + TOUCH < other->x + other->width && other->x + TOUCH < box->x + box->width &&
            box->y + TOUCH < other->y + other->height && other->y + TOUCH < box->y + box->height)
            return false;
    }
    return true;
}

static void show(struct canvas *canvas, double x, double y, struct text_style style, PangoLayout *layout)
{
    double width = layout_width(layout), size = size_of(style);
    double left = x - align_shift(style.align) * width;
    style.size = size;
    /* Capitals are 0.73 of the size high in most faces: their middle is at y. */
    double baseline = y + 0.365 * size;
    /* Of capitals and descenders, 0.76 and 0.19 of the size: the font's own line has air above and below. */
    struct text_box box = {left, baseline - 0.76 * size, width, 0.95 * size, size, canvas->page};
    canvas->tip[0] = '\0';
    /* Texts over each other can be read by nobody: the later one is left out, and counted for the tests. */
    if (!is_free(canvas, &box)) {
        canvas->left_out++;
        return;
    }
    ARRAY_PUSH(canvas->boxes, canvas->box_count, canvas->box_capacity, box);
    canvas->backend->text(canvas, x, baseline, style, layout);
}

void canvas_text(struct canvas *canvas, double x, double y, struct text_style style, const char *text)
{
    PangoLayout *layout = layout_new(canvas, style, text);
    show(canvas, x, y, style, layout);
    g_object_unref(layout);
}

double canvas_text_width(struct canvas *canvas, struct text_style style, const char *text)
{
    PangoLayout *layout = layout_new(canvas, style, text);
    double width = layout_width(layout);
    g_object_unref(layout);
    return width;
}

/* Bytes of the longest beginning that fits with `tail` after it. Never cuts a character. */
static size_t fitting(struct canvas *canvas, struct text_style style, const char *text, const char *tail, double room)
{
    size_t low = 0, high = strlen(text);
    char *buffer = memory_new(high + strlen(tail) + 1);
    /* By halving, as each try lays the text out anew. */
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        /* The middle is moved to the beginning of a character; if that is where it began, there is nothing between. */
        while (middle > low && ((unsigned char)text[middle] & 0xC0) == 0x80)
            middle--;
        if (middle == low)
            break;
        memcpy(buffer, text, middle);
        strcpy(buffer + middle, tail);
        if (canvas_text_width(canvas, style, buffer) <= room) {
            low = middle;
        } else {
            high = middle - 1;
            while (high > low && ((unsigned char)text[high] & 0xC0) == 0x80)
                high--;
        }
    }
    free(buffer);
    return low;
}

void canvas_text_cut(struct canvas *canvas, double x, double y, double room, struct text_style style, const char *text)
{
    if (canvas_text_width(canvas, style, text) <= room) {
        canvas_text(canvas, x, y, style, text);
        return;
    }
    size_t length = fitting(canvas, style, text, "…", room);
    /* Not even one character fits. */
    if (length == 0)
        return;
    char *buffer = memory_new(length + sizeof "…");
    memcpy(buffer, text, length);
    strcpy(buffer + length, "…");
    canvas_text(canvas, x, y, style, buffer);
    free(buffer);
}

/* A separate word that is the unit of the number before it. */
static bool is_unit(const char *word)
{
    static const char *const units[] = {"%", "s", "ms", "µs", "ns", "B", "kB", "MB", "GB", "TB", "PB", "EB"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i]);
        /* "s" is a unit, the beginning of "slow" is not. */
        if (strncmp(word, units[i], length) == 0 && !g_ascii_isalnum(word[length]))
            return true;
    }
    return false;
}

/* At a blank, but never between a number and its unit, or "<" and its number. */
static bool breaks_at(const char *text, size_t at)
{
    if (text[at] != ' ' || at == 0 || text[at - 1] == '<')
        return false;
    return !(g_ascii_isdigit(text[at - 1]) && is_unit(text + at + 1));
}

double canvas_line_height(struct text_style style)
{
    return size_of(style) * 1.35;
}

/* Bytes of the first line: up to a blank, or within a word that is longer than the line. */
static size_t line_length(struct canvas *canvas, double room, struct text_style style, const char *text)
{
    if (canvas_text_width(canvas, style, text) <= room)
        return strlen(text);
    /* What fits is known; then back to the last blank within it. */
    size_t most = fitting(canvas, style, text, "", room), length = most;
    while (length > 0 && !breaks_at(text, length))
        length--;
    if (length == 0)
        length = most;
    /* Not one character fits: the word stands out, as lines of nothing would not end. */
    if (length == 0)
        length = strcspn(text, " ");
    return length;
}

static size_t paragraph_lines(struct canvas *canvas, double room, struct text_style style, const char *text)
{
    size_t lines = 0;
    for (; *text; lines++) {
        text += line_length(canvas, room, style, text);
        text += *text == ' ';
    }
    return lines;
}

static double widest_word(struct canvas *canvas, struct text_style style, const char *text)
{
    double widest = 0;
    char *words = memory_copy_string(text), *rest = words, *word;
    while ((word = strsep(&rest, " ")))
        widest = fmax(widest, canvas_text_width(canvas, style, word));
    free(words);
    return widest;
}

double canvas_even_room(struct canvas *canvas, double room, size_t most, struct text_style style, const char *text)
{
    enum { STEPS = 8 };
    size_t lines = paragraph_lines(canvas, room, style, text);
    if (lines < 2 || lines > most)
        return room;
    /* Not narrower than a word, which would be broken. */
    double low = fmax(room * (double)(lines - 1) / (double)lines, widest_word(canvas, style, text)), high = room;
    for (int step = 0; step < STEPS && low < high; step++) {
        double middle = (low + high) / 2;
        if (paragraph_lines(canvas, middle, style, text) > lines)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double canvas_paragraph_cut(struct canvas *canvas, double x, double y, double room, size_t lines,
                            struct text_style style, const char *text)
{
    double line = canvas_line_height(style), height = 0;
    char *rest = memory_copy_string(text), *at = rest;
    for (; *at && lines > 0; lines--) {
        /* The last line takes all that is left, and is cut with a mark. */
        size_t length = strlen(at);
        if (lines > 1)
            length = line_length(canvas, room, style, at);
        char end = at[length];
        at[length] = '\0';
        canvas_text_cut(canvas, x, y + height + line / 2, room, style, at);
        at[length] = end;
        height += line;
        at += length + (end == ' ');
    }
    free(rest);
    return height;
}

double canvas_paragraph(struct canvas *canvas, double x, double y, double room, struct text_style style,
                        const char *text)
{
    return canvas_paragraph_cut(canvas, x, y, room, SIZE_MAX, style, text);
}

const struct text_box *canvas_text_boxes(const struct canvas *canvas, size_t *count)
{
    *count = canvas->box_count;
    return canvas->boxes;
}

size_t canvas_texts_left_out(const struct canvas *canvas)
{
    return canvas->left_out;
}
