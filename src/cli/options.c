/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/command.h"

#include "core/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct option_row {
    char letter;
    const char *name, *value, *help;
    size_t at; /* of the member in struct options: a bool, or a const char * where there is a value */
};

static const struct option_row rows[OPTION_COUNT] = {
#define OPTION(bit, letter, name, value, member, help)                                                                 \
    [OPTION_BIT_##bit] = {letter, name, value, help, offsetof(struct options, member)},
#include "cli/options.def"
};

static void option_set(struct options *options, const struct option_row *row, const char *value)
{
    char *member = (char *)options + row->at;
    if (row->value)
        memcpy(member, &value, sizeof value);
    else
        *(bool *)member = true;
}

static bool option_is_set(const struct options *options, const struct option_row *row)
{
    const char *member = (const char *)options + row->at;
    const char *value;
    memcpy(&value, member, row->value ? sizeof value : 0);
    return row->value ? value != NULL : *(const bool *)member;
}

static const struct option_row *option_find(const struct command *command, const char *name, size_t length)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if ((command->options >> i & 1) &&
            (length == 1 && rows[i].letter
                 ? rows[i].letter == *name
                 : strlen(rows[i].name) == length && strncmp(rows[i].name, name, length) == 0))
            return &rows[i];
    return NULL;
}

static bool option_unknown(const struct command *command, const char *text, struct error *err)
{
    error_set(err, ERROR_USAGE, "unknown option '%s' (try 'sight help %s')", text, command->name);
    return false;
}

/* --name, --name=value, --name value. Returns how many arguments it took; 0 is a fault. */
static int parse_long(struct options *options, const struct command *command, int argc, char **argv, struct error *err)
{
    const char *name = argv[0] + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const struct option_row *row = length > 1 ? option_find(command, name, length) : NULL;
    if (!row)
        return option_unknown(command, argv[0], err);
    if (!row->value) {
        if (equals)
            error_set(err, ERROR_USAGE, "option '--%s' takes no value", row->name);
        else
            option_set(options, row, NULL);
        return equals ? 0 : 1;
    }
    if (!equals && argc < 2) {
        error_set(err, ERROR_USAGE, "option '--%s' needs a value (%s)", row->name, row->value);
        return 0;
    }
    option_set(options, row, equals ? equals + 1 : argv[1]);
    return equals ? 1 : 2;
}

/* -a, -abc, -oFILE, -o FILE. */
static int parse_short(struct options *options, const struct command *command, int argc, char **argv, struct error *err)
{
    for (const char *at = argv[0] + 1; *at; at++) {
        const struct option_row *row = option_find(command, at, 1);
        if (!row)
            return option_unknown(command, argv[0], err);
        if (!row->value) {
            option_set(options, row, NULL);
            continue;
        }
        if (at[1] == '\0' && argc < 2) {
            error_set(err, ERROR_USAGE, "option '-%c' needs a value (%s)", row->letter, row->value);
            return 0;
        }
        option_set(options, row, at[1] ? at + 1 : argv[1]);
        return at[1] ? 1 : 2;
    }
    return 1;
}

/* SIGHT_FORMAT=json stands for --format json. */
static void options_environment(struct options *options, const struct command *command)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (!(command->options >> i & 1) || option_is_set(options, &rows[i]) || i == OPTION_BIT_HELP)
            continue;
        char name[64];
        int length = snprintf(name, sizeof name, "SIGHT_%s", rows[i].name);
        for (int k = 0; k < length; k++)
            name[k] = name[k] == '-' ? '_' : (char)toupper((unsigned char)name[k]);
        const char *value = getenv(name);
        if (value && *value && (rows[i].value || strcmp(value, "0") != 0))
            option_set(options, &rows[i], value);
    }
}

/* True if `word` is one of the blank-separated `words`. */
static bool word_in(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; at && *at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
        if (strncmp(at, word, length) == 0 && (at[length] == ' ' || at[length] == '\0') && length > 0)
            return true;
    return false;
}

static bool options_check(struct options *options, const struct command *command, struct error *err)
{
    const char *const when[] = {options->color, options->progress};
    for (size_t i = 0; i < 2; i++)
        if (when[i] && !word_in("auto always never", when[i])) {
            error_set(err, ERROR_USAGE, "'%s' is not auto, always or never", when[i]);
            return false;
        }
    int64_t jobs;
    if (options->jobs && !text_parse_i64(options->jobs, 1, 4096, &jobs)) {
        error_set(err, ERROR_USAGE, "'%s' is no number of threads (1 to 4096)", options->jobs);
        return false;
    }
    if (command->formats && options->format && !word_in(command->formats, options->format)) {
        error_set(err, ERROR_USAGE, "format '%s' is not supported by '%s'; there are: %s", options->format,
                  command->name, command->formats);
        return false;
    }
    return true;
}

bool options_parse(struct options *options, const struct command *command, int argc, char **argv, struct error *err)
{
    options->inputs = argv;
    bool only_inputs = false;
    while (argc > 0) {
        int taken = 1;
        if (only_inputs || argv[0][0] != '-' || argv[0][1] == '\0')
            options->inputs[options->input_count++] = argv[0];
        else if (strcmp(argv[0], "--") == 0)
            only_inputs = true;
        else
            taken = argv[0][1] == '-' ? parse_long(options, command, argc, argv, err)
                                      : parse_short(options, command, argc, argv, err);
        if (taken == 0)
            return false;
        argc -= taken;
        argv += taken;
    }
    options_environment(options, command);
    return options_check(options, command, err);
}

void options_print_help(const struct command *command)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (!(command->options >> i & 1))
            continue;
        char left[64];
        int length = rows[i].letter ? snprintf(left, sizeof left, "-%c, --%s", rows[i].letter, rows[i].name)
                                    : snprintf(left, sizeof left, "    --%s", rows[i].name);
        if (rows[i].value)
            snprintf(left + length, sizeof left - (size_t)length, " %s", rows[i].value);
        printf("  %-22s %s", left, rows[i].help);
        if (i == OPTION_BIT_FORMAT && command->formats)
            printf(": %s", command->formats);
        putchar('\n');
    }
}
