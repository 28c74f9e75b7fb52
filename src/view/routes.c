/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/routes.h"

#include "core/memory.h"
#include "core/text.h"
#include "view/assets.h"

#include <stdlib.h>
#include <string.h>

enum { OK = 200, BAD_REQUEST = 400, NOT_FOUND = 404, FAULT = 500, LATER = 503 };
enum { STATES_AT_ONCE = 20000, NAME_MOST = 200 };

static const char json_type[] = "application/json", svg_type[] = "image/svg+xml",
                  bytes_type[] = "application/octet-stream";

/* One request being answered. */
struct visit {
    struct view_site *site;
    const struct server_request *request;
    struct server_answer *answer;
};

/* A whole number of the query; false, with an answer, if it is missing or not in [least, most]. */
static bool number(const struct visit *visit, const char *name, int64_t least, int64_t most, int64_t *value)
{
    const char *text = server_parameter(visit->request, name);
    if (text && text_parse_i64(text, least, most, value))
        return true;
    server_say(visit->answer, BAD_REQUEST, "%s must be a whole number from %lld to %lld\n", name, (long long)least,
               (long long)most);
    return false;
}

/* Optional parameters: `value` is left unchanged without one. */
static bool number_if_there(const struct visit *visit, const char *name, int64_t least, int64_t most, int64_t *value)
{
    return !server_parameter(visit->request, name) || number(visit, name, least, most, value);
}

static bool order(const struct visit *visit, enum view_order *found)
{
    const char *name = server_parameter(visit->request, "order");
    int place = view_order_find(name ? name : "rank");
    *found = VIEW_BY_RANK;
    if (place >= 0)
        *found = (enum view_order)place;
    if (place < 0)
        server_say(visit->answer, BAD_REQUEST, "order must be rank, compute, likeness, host or hosts\n");
    return place >= 0;
}

static bool area(const struct visit *visit, struct view_area *found)
{
    int64_t first, count;
    /* One less than the largest: ends of windows are one ns beyond what is in them. How many lines there are depends on
       the order: see view_area_of. */
    if (!order(visit, &found->order) || !number(visit, "from", 0, INT64_MAX - 1, &found->from_ns) ||
        !number(visit, "to", 0, INT64_MAX - 1, &found->to_ns) || !number(visit, "first", 0, UINT32_MAX, &first) ||
        !number(visit, "count", 0, UINT32_MAX, &count))
        return false;
    found->first = (uint64_t)first;
    found->count = (uint64_t)count;
    return true;
}

static const struct view_judged *judged(const struct visit *visit)
{
    /* The analysis runs in a thread of its own, and is published when it is complete. */
    return atomic_load(&visit->site->judged);
}

/* Waits, once they are known. */
static const struct timeline_overlay *overlay_of(const struct visit *visit)
{
    if (!judged(visit))
        return NULL;
    return judged(visit)->judgement.overlay;
}

/* A request for what there is not is the caller's fault, all else ours. */
static unsigned fault_code(const struct error *err)
{
    if (err->kind == ERROR_USAGE)
        return BAD_REQUEST;
    return FAULT;
}

/* Turns the output, or its fault, into the answer. */
static void finish(const struct visit *visit, struct output *output, const char *type, enum status status,
                   const struct error *err)
{
    struct server_answer *answer = visit->answer;
    *answer = (struct server_answer){.status = OK, .type = type};
    answer->body = output_take(output, &answer->length);
    /* What was written before the fault is thrown away: half an answer would be parsed as a whole one. */
    if (status == STATUS_OK)
        return;
    free(answer->body);
    if (status == STATUS_END)
        server_say(answer, NOT_FOUND, "unknown path\n");
    else
        server_say(answer, fault_code(err), "%s\n", err->text);
}

static void answer_text(const struct visit *visit, const char *type, const char *text)
{
    *visit->answer = (struct server_answer){/* Files of the page are part of the program: nothing to be freed. */
                                            .status = OK,
                                            .type = type,
                                            .body = (char *)(uintptr_t)text,
                                            .length = strlen(text),
                                            .borrowed = true};
}

static void get_page(const struct visit *visit)
{
    answer_text(visit, "text/html; charset=utf-8", asset_page_html);
}

static void get_script(const struct visit *visit)
{
    answer_text(visit, "text/javascript; charset=utf-8", asset_timeline_js);
}

static void get_style(const struct visit *visit)
{
    struct output *output = output_open_memory();
    view_write_style(output);
    finish(visit, output, "text/css; charset=utf-8", STATUS_OK, NULL);
}

static void get_meta(const struct visit *visit)
{
    struct output *output = output_open_memory();
    view_write_meta(output, &visit->site->pictures.view);
    finish(visit, output, json_type, STATUS_OK, NULL);
}

static void get_order(const struct visit *visit)
{
    enum view_order wanted;
    struct error err = {0};
    if (!order(visit, &wanted))
        return;
    /* The order is computed once and kept: a picture in it asks for it again with every tile. */
    struct view_desk *desk = &visit->site->pictures;
    /* A timeline keeps blocks that it read: one thread at a time. */
    pthread_mutex_lock(&desk->lock);
    const struct view_lines *lines = view_lines(&desk->view, wanted, &err);
    pthread_mutex_unlock(&desk->lock);
    struct output *output = output_open_memory();
    output_text(output, "[");
    for (size_t i = 0; lines && i < lines->count; i++)
        output_print(output, "%s%d", i ? "," : "", (int32_t)lines->rows[i]);
    output_text(output, "]");
    finish(visit, output, json_type, lines ? STATUS_OK : STATUS_FAILED, &err);
}

static void get_tile(const struct visit *visit)
{
    struct view_tile tile;
    int64_t shift, fold, index, block, waits = 0;
    struct error err = {0};
    if (!order(visit, &tile.order) || !number(visit, "shift", 0, VIEW_SHIFT_MOST - 8, &shift) ||
        !number(visit, "fold", 0, VIEW_FOLD_MOST, &fold) || !number(visit, "index", 0, INT64_MAX, &index) ||
        !number(visit, "block", 0, PROCESS_LIMIT, &block) || !number_if_there(visit, "waits", 0, 1, &waits))
        return;
    tile.shift = (unsigned)shift;
    tile.fold = (unsigned)fold;
    tile.index = (uint64_t)index;
    tile.block = (uint64_t)block;
    struct view_desk *desk = &visit->site->pictures;
    struct output *output = output_open_memory();
    pthread_mutex_lock(&desk->lock);
    /* Without the waits known, tiles show functions that wait; the page asks again when they are. */
    const struct timeline_overlay *overlay = NULL;
    if (waits)
        overlay = overlay_of(visit);
    enum status status = view_write_tile(output, &desk->view, tile, overlay, &err);
    pthread_mutex_unlock(&desk->lock);
    finish(visit, output, bytes_type, status, &err);
}

static void get_window(const struct visit *visit)
{
    struct view_area wanted;
    struct error err = {0};
    if (!area(visit, &wanted))
        return;
    struct view_desk *desk = &visit->site->pictures;
    struct output *output = output_open_memory();
    pthread_mutex_lock(&desk->lock);
    enum status status = view_write_window(output, &desk->view, wanted, STATES_AT_ONCE, overlay_of(visit), &err);
    pthread_mutex_unlock(&desk->lock);
    finish(visit, output, json_type, status, &err);
}

static void get_counter(const struct visit *visit)
{
    struct view_area wanted;
    int64_t mark, bins;
    struct error err = {0};
    if (!area(visit, &wanted) || !number(visit, "mark", 0, UINT32_MAX, &mark) ||
        !number(visit, "bins", 1, TIMELINE_CURVE_BINS, &bins))
        return;
    struct view_desk *desk = &visit->site->pictures;
    struct output *output = output_open_memory();
    pthread_mutex_lock(&desk->lock);
    enum status status = view_write_counter(output, &desk->view, wanted, (uint32_t)mark, (uint32_t)bins, &err);
    pthread_mutex_unlock(&desk->lock);
    finish(visit, output, json_type, status, &err);
}

static void get_detail(const struct visit *visit)
{
    int64_t row, from, depth;
    struct error err = {0};
    if (!number(visit, "row", 0, UINT32_MAX, &row) || !number(visit, "from", 0, INT64_MAX - 1, &from) ||
        !number(visit, "depth", 0, UINT32_MAX, &depth))
        return;
    struct view_desk *desk = &visit->site->pictures;
    struct output *output = output_open_memory();
    pthread_mutex_lock(&desk->lock);
    enum status status = view_write_detail(output, &desk->view, (uint32_t)row, from, (uint32_t)depth, &err);
    pthread_mutex_unlock(&desk->lock);
    finish(visit, output, json_type, status, &err);
}

static void get_statistics(const struct visit *visit)
{
    struct view_area wanted;
    struct error err = {0};
    if (!area(visit, &wanted))
        return;
    /* Questions read many events: on a desk of their own, they do not hold up pictures. */
    struct view_desk *desk = &visit->site->questions;
    struct output *output = output_open_memory();
    pthread_mutex_lock(&desk->lock);
    enum status status = view_write_statistics(output, &desk->view, wanted, &err);
    pthread_mutex_unlock(&desk->lock);
    finish(visit, output, json_type, status, &err);
}

static void get_search(const struct visit *visit)
{
    int64_t process = -1, tag = EVENT_UNKNOWN, least = 0, most = INT64_MAX, from = 0;
    struct error err = {0};
    const char *name = server_parameter(visit->request, "name");
    /* Each state's name is compared with it. */
    if (name && strlen(name) > NAME_MOST) {
        server_say(visit->answer, BAD_REQUEST, "name must have at most %d bytes\n", NAME_MOST);
        return;
    }
    if (!number_if_there(visit, "process", 0, PROCESS_LIMIT, &process) ||
        !number_if_there(visit, "tag", INT32_MIN + 1, INT32_MAX, &tag) ||
        !number_if_there(visit, "least", 0, INT64_MAX, &least) ||
        !number_if_there(visit, "most", 0, INT64_MAX, &most) ||
        !number_if_there(visit, "from", 0, INT64_MAX - 1, &from))
        return;
    struct view_query query = {.name = name ? name : "",
                               .process = process,
                               .tag = (int32_t)tag,
                               .least_ns = least,
                               .most_ns = most,
                               .from_ns = from};
    struct view_desk *desk = &visit->site->questions;
    struct output *output = output_open_memory();
    pthread_mutex_lock(&desk->lock);
    enum status status = view_write_search(output, &desk->view, &query, &err);
    pthread_mutex_unlock(&desk->lock);
    finish(visit, output, json_type, status, &err);
}

static void get_judgement(const struct visit *visit)
{
    const struct view_judged *run = judged(visit);
    if (!run)
        /* The page asks again in a while: the pictures need no analysis. */
        answer_text(visit, json_type, "{\"ready\":false}");
    else if (visit->site->fleeting)
        *visit->answer = (struct server_answer){
            .status = OK, .type = json_type, .body = memory_copy_string(run->text), .length = run->length};
    else
        *visit->answer = (struct server_answer){
            .status = OK, .type = json_type, .body = run->text, .length = run->length, .borrowed = true};
}

/* For requests that need the judged run; false, with an answer, if it is not ready. */
static bool is_judged(const struct visit *visit)
{
    if (!judged(visit))
        server_say(visit->answer, LATER, "the run is still being analysed\n");
    return judged(visit) != NULL;
}

static void get_chart(const struct visit *visit)
{
    const char *name = server_parameter(visit->request, "name");
    const struct chart *chart = NULL;
    if (name)
        chart = chart_find(name);
    if (!is_judged(visit))
        return;
    const struct view_judgement *run = &judged(visit)->judgement;
    struct chart_input input = {.metrics = run->metrics, .results = run->results};
    /* Also a chart whose input this run does not have: the page did not offer it. */
    if (!chart || !chart_can(chart, &input) || run->metrics->process_count == 0) {
        server_say(visit->answer, NOT_FOUND, "unknown chart\n");
        return;
    }
    char answer[CHART_ANSWER_SIZE], description[CHART_DESCRIPTION_SIZE];
    chart_answer(chart, &input, answer);
    chart_describe(chart, &input, description);
    struct canvas_options options = {
        .theme = THEME_PAGE, .prefix = chart->name, .title = answer, .description = description};
    struct output *output = output_open_memory();
    struct canvas *canvas = canvas_new(CANVAS_SVG, output, CHART_WIDTH, CHART_HEIGHT, &options);
    if (canvas) {
        chart_draw(chart, canvas, &input);
        canvas_free(canvas);
    }
    finish(visit, output, svg_type, STATUS_OK, NULL);
}

static void get_matrix(const struct visit *visit)
{
    if (!is_judged(visit))
        return;
    struct output *output = output_open_memory();
    view_write_matrix(output, &visit->site->pictures.view, &judged(visit)->judgement);
    finish(visit, output, json_type, STATUS_OK, NULL);
}

static void get_source(const struct visit *visit)
{
    if (!is_judged(visit))
        return;
    struct output *output = output_open_memory();
    view_write_source(output, &judged(visit)->judgement);
    finish(visit, output, json_type, STATUS_OK, NULL);
}

/* A trace does not change; cli/following.c answers for a program that runs. */
static void get_version(const struct visit *visit)
{
    answer_text(visit, json_type, "{\"version\":0,\"running\":false}");
}

static const struct {
    const char *path;
    void (*get)(const struct visit *visit);
} routes[] = {
    {"", get_page},           {"style.css", get_style},       {"timeline.js", get_script},
    {"meta", get_meta},       {"order", get_order},           {"tile", get_tile},
    {"window", get_window},   {"detail", get_detail},         {"search", get_search},
    {"chart", get_chart},     {"judgement", get_judgement},   {"source", get_source},
    {"matrix", get_matrix},   {"statistics", get_statistics}, {"version", get_version},
    {"counter", get_counter},
};

static const char clocks_path[] = "clocks/";

void view_answer(void *context, const struct server_request *request, struct server_answer *answer)
{
    struct visit visit = {.site = context, .request = request, .answer = answer};
    const char *path = server_path(request);
    struct error err = {0};
    if (strncmp(path, clocks_path, strlen(clocks_path)) == 0) {
        /* Below this path is a second site, of the same trace with corrected clocks, made when it is first asked
         * for. */
        path += strlen(clocks_path);
        visit.site = visit.site->other_clocks(visit.site->context, &err);
    }
    if (!visit.site) {
        server_say(answer, FAULT, "%s\n", err.text);
        return;
    }
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (strcmp(routes[i].path, path) == 0) {
            routes[i].get(&visit);
            return;
        }
    server_say(answer, NOT_FOUND, "unknown path\n");
}
