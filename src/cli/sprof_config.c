/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/sprof_config.h"

#include "core/input.h"
#include "core/memory.h"
#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A list of all 4,096 numbers of threads has about 20,000 characters. */
enum { LINE_MOST = 32768, TESTS_MOST = 1000 };

/* What the file says; 0: nothing. */
struct settings {
    int64_t tests, most, step;
    bool is_power, is_constant;
    char *list; /* "2,4,8" */
};

struct line {
    const char *file;
    unsigned number;
};

/* Faults of a configuration are of usage: the file is an option's value, not an input. */
static enum status set_number(const struct line *line, const char *name, const char *value, int64_t most,
                              int64_t *number, struct error *err)
{
    if (!text_parse_i64(value, 1, most, number))
        return error_set(err, ERROR_USAGE, "%s: line %u: %s: '%.40s' is not a number from 1 to %lld", line->file,
                         line->number, name, value, (long long)most);
    return STATUS_OK;
}

/* {2,4,8}, {} or nothing. */
static enum status set_list(const struct line *line, const char *value, struct settings *settings, struct error *err)
{
    size_t length = strlen(value);
    free(settings->list); /* of a line before: the last one counts */
    settings->list = NULL;
    if (length == 0 || strcmp(value, "{}") == 0)
        return STATUS_OK;
    if (length < 3 || value[0] != '{' || value[length - 1] != '}' || strspn(value + 1, "0123456789,") != length - 2)
        return error_set(err, ERROR_USAGE, "%s: line %u: list_threads_values: '%.40s' is not a list like {2,4,8}",
                         line->file, line->number, value);
    settings->list = memory_copy_string(value + 1);
    settings->list[length - 2] = '\0';
    int64_t number;
    for (const char *at = settings->list;; at++) {
        char copy[24];
        size_t digits = strcspn(at, ",");
        snprintf(copy, sizeof copy, "%.*s", (int)(digits < 20 ? digits : 20), at);
        if (!text_parse_i64(copy, 2, SPROF_THREADS_MOST, &number))
            return error_set(err, ERROR_USAGE,
                             "%s: line %u: list_threads_values: '%s' is not a number of threads from 2 to %d "
                             "(the run with 1 is always made)",
                             line->file, line->number, copy, SPROF_THREADS_MOST);
        at += digits;
        if (!*at)
            return STATUS_OK;
    }
}

static enum status set_type(const struct line *line, const char *value, struct settings *settings, struct error *err)
{
    settings->is_power = strcmp(value, "power") == 0;
    settings->is_constant = strcmp(value, "constant") == 0;
    if (!settings->is_power && !settings->is_constant)
        return error_set(err, ERROR_USAGE, "%s: line %u: type_of_step: '%.40s' is neither power nor constant",
                         line->file, line->number, value);
    return STATUS_OK;
}

static enum status take_line(const struct line *line, char *text, struct settings *settings, struct error *err)
{
    char *equals = strchr(text, '=');
    if (*text == '#' || *text == '\0')
        return STATUS_OK;
    if (!equals)
        return error_set(err, ERROR_USAGE, "%s: line %u: '%.60s' is not NAME=VALUE", line->file, line->number, text);
    *equals = '\0';
    const char *value = equals + 1;
    if (strcmp(text, "number_of_tests") == 0)
        return set_number(line, text, value, TESTS_MOST, &settings->tests, err);
    if (strcmp(text, "list_threads_values") == 0)
        return set_list(line, value, settings, err);
    if (strcmp(text, "max_number_threads") == 0)
        return set_number(line, text, value, SPROF_THREADS_MOST, &settings->most, err);
    if (strcmp(text, "type_of_step") == 0)
        return set_type(line, value, settings, err);
    if (strcmp(text, "value_of_step") == 0)
        return set_number(line, text, value, SPROF_THREADS_MOST, &settings->step, err);
    return error_set(err, ERROR_USAGE,
                     "%s: line %u: '%.60s' is no setting of Sprof (number_of_tests, list_threads_values, "
                     "max_number_threads, type_of_step, value_of_step)",
                     line->file, line->number, text);
}

static enum status take_lines(const char *file, struct input *input, struct settings *settings, struct error *err)
{
    struct line line = {file, 0};
    for (;;) {
        char text[LINE_MOST + 1];
        if (input_need(input, LINE_MOST + 1, err) == STATUS_FAILED)
            return STATUS_FAILED;
        size_t available = input_available(input);
        if (available == 0)
            return STATUS_OK;
        line.number++;
        const unsigned char *end = memchr(input->at, '\n', available);
        size_t length = end ? (size_t)(end - input->at) : available;
        if (length > LINE_MOST)
            return error_set(err, ERROR_USAGE, "%s: line %u: longer than %d characters", file, line.number, LINE_MOST);
        memcpy(text, input->at, length);
        text[length > 0 && text[length - 1] == '\r' ? length - 1 : length] = '\0';
        input_consume(input, length + (end != NULL)); /* the last line may have no end */
        if (take_line(&line, text, settings, err) != STATUS_OK)
            return STATUS_FAILED;
    }
}

static enum status check(const char *file, const struct settings *settings, struct error *err)
{
    const char *missing = NULL;
    if (settings->tests == 0)
        missing = "number_of_tests";
    else if (settings->list) /* replaces the three below */
        missing = NULL;
    else if (settings->most == 0)
        missing = "max_number_threads";
    else if (!settings->is_power && !settings->is_constant)
        missing = "type_of_step";
    else if (settings->step == 0)
        missing = "value_of_step";
    if (missing)
        return error_set(err, ERROR_USAGE, "%s: %s is missing", file, missing);
    if (!settings->list && settings->is_power && settings->step < 2)
        return error_set(err, ERROR_USAGE, "%s: value_of_step: a power of 1 never grows", file);
    return STATUS_OK;
}

/* "1,2,4": from 1 on as far as the maximum. */
static char *progression(const struct settings *settings)
{
    size_t size = 8 * (size_t)settings->most + 8, used = 1;
    char *text = memory_new(size);
    *text = '1';
    for (int64_t n = settings->is_power ? settings->step : 1 + settings->step; n <= settings->most;
         n = settings->is_power ? n * settings->step : n + settings->step)
        used += (size_t)snprintf(text + used, size - used, ",%lld", (long long)n);
    return text;
}

enum status sprof_config_read(const char *path, struct sprof_config *config, struct error *err)
{
    struct settings settings = {0};
    *config = (struct sprof_config){0};
    struct input *input = input_open(path, err);
    if (!input)
        return STATUS_FAILED;
    enum status status = take_lines(path, input, &settings, err);
    input_close(input);
    if (status == STATUS_OK)
        status = check(path, &settings, err);
    if (status == STATUS_OK) {
        config->tests = (unsigned)settings.tests;
        if (!settings.list)
            config->threads = progression(&settings);
        else if (asprintf(&config->threads, "1,%s", settings.list) < 0)
            memory_failed();
    }
    free(settings.list);
    return status;
}

void sprof_config_clear(struct sprof_config *config)
{
    free(config->threads);
    *config = (struct sprof_config){0};
}
