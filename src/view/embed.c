/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/embed.h"

#include "core/memory.h"
#include "core/text.h"
#include "render/charts/scene.h"
#include "view/assets.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

/* As in page/source.js and page/tiles.js: the shift at which a tile or two hold the whole run, and the fold of the
   overview. */
static unsigned shift_of_run(const struct view *view)
{
    uint64_t duration = (uint64_t)time_since(view->info->begin_ns, view->info->end_ns);
    unsigned shift = 0;
    /* The first shift at which the bins of one tile reach over the run: finer ones would need more tiles. */
    while (shift < VIEW_SHIFT_MOST - 8 && ((uint64_t)VIEW_TILE_BINS << shift) < duration)
        shift++;
    return shift;
}

static unsigned fold_to(const struct view *view, size_t lines)
{
    unsigned fold = 0;
    while (fold < VIEW_FOLD_MOST && (lines << fold) < view->info->row_count)
        fold++;
    return fold;
}

enum { OVERVIEW_LINES = 24 };

/* JSON that stands in a page: no text in it can end the element, or begin a comment. */
static void write_safely(struct output *output, struct output *json)
{
    size_t length;
    /* A fault of what was written in memory is one of the page. */
    if (json->fault.kind != ERROR_NONE)
        output_fail(output, &json->fault);
    char *bytes = output_take(json, &length);
    size_t plain = 0;
    for (size_t i = 0; i < length; i++) {
        /* Only "<" can begin an end tag or a comment; as an escape it is the same character in JSON. */
        if (bytes[i] != '<')
            continue;
        output_write(output, bytes + plain, i - plain);
        output_text(output, "\\u003c");
        plain = i + 1;
    }
    output_write(output, bytes + plain, length - plain);
    free(bytes);
}

/* Tiles so far: how many bytes they may still take. */
struct tiles {
    struct output *output;
    struct view *view;
    const struct timeline_overlay *overlay;
    size_t left;
    bool any;
};

static bool put_tile(struct tiles *tiles, struct view_tile tile)
{
    struct error err = {0};
    struct output *bytes = output_open_memory();
    /* The tile is made first: how much room it takes in Base64 is only known then. */
    enum status status = view_write_tile(bytes, tiles->view, tile, tiles->overlay, &err);
    size_t length;
    char *data = output_take(bytes, &length);
    if (status == STATUS_FAILED)
        output_fail(tiles->output, &err);
    char *text = NULL;
    size_t size = 0;
    if (status == STATUS_OK) {
        text = g_base64_encode((const guchar *)data, length);
        /* Its key, the quotes and the comma come on top. */
        size = strlen(text) + 24;
    }
    free(data);
    bool fits = text && size <= tiles->left;
    if (fits) {
        output_print(tiles->output, "%s\"%u/%llu/%u/%llu\":\"", tiles->any ? ",\n" : "", tile.shift,
                     (unsigned long long)tile.index, tile.fold, (unsigned long long)tile.block);
        output_text(tiles->output, text);
        output_text(tiles->output, "\"");
        tiles->left -= size;
        tiles->any = true;
    }
    g_free(text);
    return fits;
}

/* All tiles of a shift and a fold; false if they do not all fit. */
static bool put_layer(struct tiles *tiles, unsigned shift, unsigned fold)
{
    uint64_t duration = (uint64_t)time_since(tiles->view->info->begin_ns, tiles->view->info->end_ns);
    uint64_t count = (duration >> shift) / VIEW_TILE_BINS + 1;
    uint64_t lines = ((uint64_t)tiles->view->info->row_count + (1ULL << fold) - 1) >> fold;
    uint64_t blocks = (lines + VIEW_TILE_LINES - 1) / VIEW_TILE_LINES;
    /* A layer that does not fit as a whole would show grey holes; Base64 makes 4 bytes of 3. */
    if (count * lines * VIEW_TILE_BINS * VIEW_CELL_BYTES / 3 * 4 > tiles->left)
        return false;
    bool fits = true;
    for (uint64_t index = 0; index < count && fits; index++)
        for (uint64_t block = 0; block < blocks && fits; block++)
            fits = put_tile(tiles, (struct view_tile){.shift = shift, .fold = fold, .index = index, .block = block});
    return fits;
}

/* The overview; then, if states are not embedded one by one, each fold from the whole run on, finer and finer. */
static void write_tiles(struct output *output, const struct view_embed *embed, bool whole)
{
    struct view *view = embed->view;
    struct tiles tiles = {.output = output, .view = view, .overlay = embed->judgement.overlay, .left = EMBED_SIZE};
    unsigned coarsest = shift_of_run(view), overview = fold_to(view, OVERVIEW_LINES);
    unsigned finest = fold_to(view, EMBED_LINES), most = fold_to(view, 1);
    /* The overview comes first: it is what the page shows as a whole, whatever else fits. */
    bool fits = view->info->row_count > 0 && put_layer(&tiles, coarsest, overview);
    /* With all states embedded the page draws close windows exactly: three shifts are enough for the rest. */
    for (unsigned finer = 0; fits && finer <= coarsest && (!whole || finer < 3); finer++)
        /* Coarse lines first: if the size ends here, the page can still show all processes, only not each. */
        for (unsigned fold = most + 1; fold-- > finest && fits;)
            if (finer > 0 || fold != overview)
                fits = put_layer(&tiles, coarsest - finer, fold);
}

static void write_order(struct output *output, struct view *view, const char *name)
{
    struct error err = {0};
    const struct view_lines *lines = view_lines(view, (enum view_order)view_order_find(name), &err);
    if (!lines)
        output_fail(output, &err);
    output_print(output, "\"%s\":", name);
    if (!lines) {
        output_text(output, "null");
        return;
    }
    output_text(output, "[");
    for (size_t i = 0; i < lines->count; i++)
        output_print(output, "%s%u", i > 0 ? "," : "", lines->rows[i]);
    output_text(output, "]");
}

/* {"from", … } as view_write_window, or null if there is too much. */
static bool write_exact(struct output *output, const struct view_embed *embed)
{
    struct error err = {0};
    struct view *view = embed->view;
    struct view_area all = {.to_ns = time_since(view->info->begin_ns, view->info->end_ns),
                            .count = view->info->row_count};
    /* Writing states one by one takes long where there are many, only to be thrown away: a state has two events, a
     * message two. */
    bool small = view->info->events <= 4 * (uint64_t)EMBED_STATES;
    struct output *json = output_open_memory();
    enum status status = STATUS_END;
    if (small)
        status = view_write_window(json, view, all, EMBED_STATES, embed->judgement.overlay, &err);
    size_t length;
    char *text = output_take(json, &length);
    if (status == STATUS_FAILED)
        output_fail(output, &err);
    bool complete = status == STATUS_OK && strstr(text, "\"complete\":true");
    output_text(output, complete ? text : "null");
    free(text);
    return complete;
}

/* Of each counter over the whole run. */
enum { COUNTER_BINS = 480 };

static void write_data(struct output *output, const struct view_embed *embed)
{
    struct output *json = output_open_memory();
    output_text(json, "{\"meta\":");
    view_write_meta(json, embed->view);
    output_text(json, ",\n\"judgement\":");
    view_write_judgement(json, embed->view, &embed->judgement);
    output_text(json, ",\n\"exact\":");
    bool whole = write_exact(json, embed);
    unsigned least = 0;
    if (!whole)
        least = fold_to(embed->view, EMBED_LINES);
    output_print(json, ",\n\"leastFold\":%u,\"orders\":{", least);
    /* Other orders are drawn from single states: tiles exist in the order of ranks only. */
    if (whole) {
        write_order(json, embed->view, "compute");
        output_text(json, ",");
        write_order(json, embed->view, "likeness");
    }
    output_text(json, "},\n\"counters\":{");
    view_write_counters(json, embed->view, COUNTER_BINS);
    output_text(json, "},\n\"tiles\":{");
    write_tiles(json, embed, whole);
    output_text(json, "}}");
    write_safely(output, json);
}

enum { PICTURE_COLUMNS = 480, PICTURE_LINES = 64, PICTURE_STATES = 3000 };

/* The number of findings with a picture: those that cost most. */
enum { PICTURES = 5 };

/* A window of the timeline as a chart: for readers without JavaScript, or on paper. */
static void write_picture(struct output *output, const struct view_embed *embed, const struct timeline_view *window,
                          const char *prefix)
{
    struct error err = {0};
    struct scene scene;
    struct scene_options how = {.columns = PICTURE_COLUMNS, .lines = PICTURE_LINES, .states = PICTURE_STATES};
    /* The report goes on without the picture, but its command fails. */
    if (scene_make(&scene, embed->view->timeline, window, how, &err) != STATUS_OK) {
        output_fail(output, &err);
        return;
    }
    const struct chart *chart = chart_find("timeline");
    struct chart_input input = {
        .metrics = embed->judgement.metrics, .results = embed->judgement.results, .scene = &scene};
    char answer[CHART_ANSWER_SIZE], description[CHART_DESCRIPTION_SIZE];
    chart_answer(chart, &input, answer);
    chart_describe(chart, &input, description);
    struct canvas_options options = {
        .theme = THEME_PAGE, .prefix = prefix, .title = answer, .description = description};
    struct canvas *canvas = canvas_new(CANVAS_SVG, output, CHART_WIDTH, CHART_HEIGHT, &options);
    if (canvas) {
        chart_draw(chart, canvas, &input);
        canvas_free(canvas);
    }
    scene_clear(&scene);
}

/* The window of a finding, of all processes. */
static void write_finding(struct output *output, const void *context, size_t index)
{
    const struct view_embed *embed = context;
    const struct finding *finding = &embed->judgement.findings->finding[index];
    struct timeline_view window = timeline_whole(embed->view->timeline);
    double length = finding->to_s - finding->from_s;
    /* Also where the length is not a number: the finding is not known to belong to a part of the run. */
    if (index >= PICTURES || !(length > 0))
        return;
    /* A window ends before its last ns: one more, so that what ends with the finding is in it. */
    window.to_ns = window.from_ns + (int64_t)(finding->to_s * 1e9) + 1;
    window.from_ns += (int64_t)(finding->from_s * 1e9);
    char prefix[40], from[TEXT_NUMBER_SIZE], to[TEXT_NUMBER_SIZE];
    snprintf(prefix, sizeof prefix, "finding-%zu", index + 1);
    output_print(output, "<details class=\"window\"><summary>what the processes do from %s to %s</summary>\n<figure>\n",
                 seconds_text(from, finding->from_s), seconds_text(to, finding->to_s));
    write_picture(output, embed, &window, prefix);
    output_text(output, "</figure></details>\n");
}

static void write_section(struct output *output, const void *context)
{
    const struct view_embed *embed = context;
    struct timeline_view whole = timeline_whole(embed->view->timeline);
    output_text(output, "<section id=\"timeline\">\n<h2>Timeline</h2>\n<figure id=\"timeline-picture\">\n");
    write_picture(output, embed, &whole, "timeline");
    /* The picture is replaced by the live timeline where scripts run: `hidden` is removed by the script. */
    output_text(output, "</figure>\n<div id=\"timeline-live\" hidden></div>\n"
                        "<script type=\"application/json\" id=\"timeline-data\">");
    write_data(output, embed);
    output_text(output, "</script>\n</section>\n");
}

struct report_timeline view_embed_timeline(const struct view_embed *embed)
{
    return (struct report_timeline){.extras = {.style = asset_timeline_css, .script = asset_timeline_js},
                                    .write = write_section,
                                    .write_finding = write_finding,
                                    .context = embed};
}
