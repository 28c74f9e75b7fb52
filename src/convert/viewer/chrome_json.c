/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/viewer/chrome_json.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

enum {
    PIECE = 1 << 16,
    NESTED_MOST = 1000, /* objects and arrays in each other */
    SERIES_MOST = 256,
    TOKEN_MOST = 16 << 20 /* bytes of one text: more than that would have to be kept */
};

/* Where the parser is. */
enum place { IN_FILE, IN_TOP, IN_EVENTS, IN_EVENT, IN_ARGS, IN_FACTS };

struct parser {
    struct chrome_event event;
    struct chrome_facts facts;
    chrome_json_event *take;
    void *context;
    struct error *err;
    enum status status;
    enum place place;
    size_t depth, skipped; /* open objects and arrays; of those the ones inside something that is not read */
    char key[64];
    bool list; /* the file is an array */
    bool ended;
    bool deep;
    uint64_t tokens;
};

static void text_set(struct chrome_text *text, const char *from, size_t length)
{
    if (length + 1 > text->capacity) {
        text->capacity = length + 1 > 2 * text->capacity ? length + 1 : 2 * text->capacity;
        text->text = memory_resize(text->text, text->capacity);
    }
    memcpy(text->text, from, length);
    text->text[length] = '\0';
}

static void event_clear(struct chrome_event *event)
{
#define CHROME_MEMBER(name) text_set(&event->name, "", 0);
    CHROME_MEMBERS(CHROME_MEMBER)
#undef CHROME_MEMBER
#define CHROME_MEMBER(name) text_set(&event->args.name, "", 0);
    CHROME_ARGS(CHROME_MEMBER)
#undef CHROME_MEMBER
    event->series_count = 0;
}

static void parser_clear(struct parser *parser)
{
    struct chrome_event *event = &parser->event;
#define CHROME_MEMBER(name) free(event->name.text);
    CHROME_MEMBERS(CHROME_MEMBER)
#undef CHROME_MEMBER
#define CHROME_MEMBER(name) free(event->args.name.text);
    CHROME_ARGS(CHROME_MEMBER)
#undef CHROME_MEMBER
    for (size_t i = 0; i < event->series_capacity; i++)
        free(event->series[i].name.text);
    free(event->series);
    free(parser->facts.creator.text);
    free(parser->facts.begin_ns.text);
}

static struct chrome_text *member_of(struct parser *parser)
{
    struct chrome_event *event = &parser->event;
#define CHROME_MEMBER(name)                                                                                            \
    if (strcmp(parser->key, #name) == 0)                                                                               \
        return &event->name;
    if (parser->place == IN_EVENT) {
        CHROME_MEMBERS(CHROME_MEMBER)
    }
#undef CHROME_MEMBER
#define CHROME_MEMBER(name)                                                                                            \
    if (strcmp(parser->key, #name) == 0)                                                                               \
        return &event->args.name;
    if (parser->place == IN_ARGS) {
        CHROME_ARGS(CHROME_MEMBER)
    }
#undef CHROME_MEMBER
    if (parser->place == IN_FACTS && strcmp(parser->key, "creator") == 0)
        return &parser->facts.creator;
    if (parser->place == IN_FACTS && strcmp(parser->key, "begin_ns") == 0)
        return &parser->facts.begin_ns;
    return NULL;
}

static int take_value(struct parser *parser, const char *value, size_t length)
{
    parser->tokens++;
    struct chrome_text *member = parser->skipped == 0 ? member_of(parser) : NULL;
    if (member)
        text_set(member, value, length);
    return 1;
}

static void take_series(struct parser *parser, const char *digits, size_t length)
{
    struct chrome_event *event = &parser->event;
    char number[64];
    if (parser->place != IN_ARGS || parser->skipped > 0 || event->series_count == SERIES_MOST ||
        length >= sizeof number)
        return;
    memcpy(number, digits, length);
    number[length] = '\0';
    if (!isfinite(strtod(number, NULL)))
        return;
    if (event->series_count == event->series_capacity) {
        size_t before = event->series_capacity;
        ARRAY_RESERVE(event->series, event->series_capacity, before + 1);
        memset(event->series + before, 0, (event->series_capacity - before) * sizeof *event->series);
    }
    struct chrome_series *series = &event->series[event->series_count++];
    text_set(&series->name, parser->key, strlen(parser->key));
    series->value = strtod(number, NULL);
}

static int on_number(void *context, const char *digits, size_t length)
{
    take_series(context, digits, length);
    return take_value(context, digits, length);
}

static int on_string(void *context, const unsigned char *text, size_t length)
{
    return take_value(context, (const char *)text, length);
}

static int on_key(void *context, const unsigned char *key, size_t length)
{
    struct parser *parser = context;
    parser->tokens++;
    if (length >= sizeof parser->key)
        length = sizeof parser->key - 1; /* none of ours is so long */
    memcpy(parser->key, key, length);
    parser->key[length] = '\0';
    return 1;
}

static int on_nothing(void *context)
{
    return take_value(context, "", 0);
}

static int on_boolean(void *context, int value)
{
    return value ? take_value(context, "true", 4) : take_value(context, "false", 5);
}

/* An object or array inside of what is known: the place that it leads to; the same: it is not read. */
static enum place place_within(const struct parser *parser, bool list)
{
    switch (parser->place) {
    case IN_FILE:
        return list ? IN_EVENTS : IN_TOP;
    case IN_TOP:
        if (list && strcmp(parser->key, "traceEvents") == 0)
            return IN_EVENTS;
        return !list && strcmp(parser->key, "otherData") == 0 ? IN_FACTS : IN_TOP;
    case IN_EVENTS:
        return list ? IN_EVENTS : IN_EVENT;
    case IN_EVENT:
        return !list && strcmp(parser->key, "args") == 0 ? IN_ARGS : IN_EVENT;
    case IN_ARGS:
    case IN_FACTS:
        break;
    }
    return parser->place;
}

static int open_any(struct parser *parser, bool list)
{
    parser->tokens++;
    enum place place = place_within(parser, list);
    if (++parser->depth > NESTED_MOST) {
        parser->deep = true;
        return 0;
    }
    if (parser->skipped > 0 || place == parser->place) {
        parser->skipped++;
        return 1;
    }
    if (parser->place == IN_FILE)
        parser->list = list;
    parser->place = place;
    if (place == IN_EVENT)
        event_clear(&parser->event);
    return 1;
}

static int close_any(struct parser *parser)
{
    parser->tokens++;
    parser->depth--;
    if (parser->skipped > 0) {
        parser->skipped--;
        return 1;
    }
    switch (parser->place) {
    case IN_ARGS:
        parser->place = IN_EVENT;
        break;
    case IN_EVENT:
        parser->place = IN_EVENTS;
        if (*parser->event.ph.text) /* some writers begin with an empty one */
            parser->status = parser->take(parser->context, &parser->event, &parser->facts, parser->err);
        break;
    case IN_EVENTS:
        parser->place = parser->list ? IN_FILE : IN_TOP;
        break;
    case IN_FACTS:
        parser->place = IN_TOP;
        break;
    case IN_TOP:
    case IN_FILE:
        parser->place = IN_FILE;
        break;
    }
    parser->ended = parser->depth == 0;
    return parser->status == STATUS_OK;
}

static int on_open_map(void *context)
{
    return open_any(context, false);
}

static int on_open_array(void *context)
{
    return open_any(context, true);
}

static int on_close(void *context)
{
    return close_any(context);
}

static const yajl_callbacks callbacks = {.yajl_null = on_nothing,
                                         .yajl_boolean = on_boolean,
                                         .yajl_number = on_number,
                                         .yajl_string = on_string,
                                         .yajl_start_map = on_open_map,
                                         .yajl_map_key = on_key,
                                         .yajl_end_map = on_close,
                                         .yajl_start_array = on_open_array,
                                         .yajl_end_array = on_close};

/* A comma before the bracket that ends the events: many writers put one after each. */
static bool is_last_comma(const struct parser *parser, const unsigned char *data, size_t consumed)
{
    return parser->place == IN_EVENTS && parser->skipped == 0 && consumed > 0 && data[consumed - 1] == ']';
}

/* NULL: the piece was read. */
static const char *parse_piece(struct parser *parser, yajl_handle handle, const unsigned char *data, size_t size,
                               uint64_t *unseen)
{
    uint64_t before = parser->tokens;
    yajl_status status = yajl_parse(handle, data, size);
    *unseen = parser->tokens > before ? 0 : *unseen + size;
    if (parser->deep)
        return "objects are nested too deeply";
    if (status == yajl_status_error && is_last_comma(parser, data, yajl_get_bytes_consumed(handle)))
        parser->ended = true;
    else if (status == yajl_status_error)
        return "no JSON from here on";
    if (*unseen > TOKEN_MOST)
        return "a text without an end";
    return NULL;
}

/* Killed writers leave out the bracket of an array, which the format allows. */
static const char *at_end(const struct parser *parser)
{
    if (parser->ended || (parser->list && parser->depth <= 1))
        return NULL;
    return "the file ends before its last bracket";
}

enum status chrome_json_read(struct input *input, chrome_json_event *take, void *context, const char **wrong,
                             uint64_t *at, struct error *err)
{
    struct parser parser = {.take = take, .context = context, .err = err};
    yajl_handle handle = yajl_alloc(&callbacks, NULL, &parser);
    uint64_t unseen = 0;
    enum status status = STATUS_OK;
    yajl_config(handle, yajl_dont_validate_strings, 1);
    yajl_config(handle, yajl_allow_comments, 1);
    text_set(&parser.facts.creator, "", 0);
    text_set(&parser.facts.begin_ns, "", 0);
    *wrong = NULL;
    if (input_need(input, CHROME_MARK_SIZE, err) == STATUS_OK && memcmp(input->at, CHROME_MARK, CHROME_MARK_SIZE) == 0)
        input_consume(input, CHROME_MARK_SIZE);
    while (!*wrong && !parser.ended && parser.status == STATUS_OK &&
           (status = input_need(input, 1, err)) == STATUS_OK) {
        size_t size = input_available(input) < PIECE ? input_available(input) : PIECE;
        *wrong = parse_piece(&parser, handle, input->at, size, &unseen);
        *at = input->offset + (*wrong ? yajl_get_bytes_consumed(handle) : 0);
        if (!*wrong)
            input_consume(input, size);
    }
    if (status == STATUS_END) {
        *wrong = at_end(&parser);
        *at = input->offset;
        status = STATUS_OK;
    }
    if (parser.status != STATUS_OK) {
        *wrong = NULL;
        status = parser.status;
    }
    yajl_free(handle);
    parser_clear(&parser);
    return status;
}
