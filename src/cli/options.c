/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/command.h"

#include "core/guess.h"
#include "core/input.h"
#include "core/text.h"
#include "render/field.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_SIZE = 256 };

static const struct option_row rows[OPTION_COUNT] = {
#define OPTION(bit, letter, name, value, member, help)                                                                 \
    [OPTION_BIT_##bit] = {letter, name, help, value, offsetof(struct options, member)},
#include "cli/options.def"
};

_Static_assert(OPTION_FIRST_ALWAYS <= 59, "the bits of options end where COMMAND_PASSES begins");

const struct option_row *option_at(size_t index)
{
    return &rows[index];
}

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

/* One character is a letter where the row has one. */
static bool row_has_name(const struct option_row *row, const char *name, size_t length)
{
    if (length == 1 && row->letter)
        return row->letter == *name;
    return strlen(row->name) == length && strncmp(row->name, name, length) == 0;
}

static const struct option_row *option_find(const struct command *command, const char *name, size_t length)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (command_takes(command, i) && row_has_name(&rows[i], name, length))
            return &rows[i];
    return NULL;
}

static bool option_unknown(const struct command *command, const char *text, struct error *err)
{
    char hint[64], nearest[GUESS_TEXT];
    bool is_long = strncmp(text, "--", 2) == 0;
    struct guess guess = guess_of(text + 2, is_long ? strcspn(text + 2, "=") : 0);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (command_takes(command, i))
            guess_try(&guess, rows[i].name);
    snprintf(hint, sizeof hint, " (try 'sight help %s')", command->name);
    error_set(err, ERROR_USAGE, "unknown option '%s'%s", text, guess_text(nearest, &guess, "--", hint));
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
            error_set(err, ERROR_USAGE, "option '--%s' does not take a value", row->name);
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

static int parse_option(struct options *options, const struct command *command, int argc, char **argv,
                        struct error *err)
{
    return argv[0][1] == '-' ? parse_long(options, command, argc, argv, err)
                             : parse_short(options, command, argc, argv, err);
}

/* SIGHT_FORMAT=json stands for --format json. */
static void options_environment(struct options *options, const struct command *command)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (!command_takes(command, i) || option_is_set(options, &rows[i]) || i == OPTION_BIT_HELP)
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

/* True if `word` is one of the `words` between the separators. */
static bool word_in(const char *words, char separator, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; at && *at; at = strchr(at, separator) ? strchr(at, separator) + 1 : NULL)
        if (strncmp(at, word, length) == 0 && (at[length] == separator || at[length] == '\0') && length > 0)
            return true;
    return false;
}

/* Of options that take one of some words, the word must be one of them. */
static bool check_words(const struct options *options, const struct command *command, struct error *err)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const char *value;
        if (!command_takes(command, i) || !rows[i].value || !strchr(rows[i].value, '|'))
            continue;
        memcpy(&value, (const char *)options + rows[i].at, sizeof value);
        if (value && !word_in(rows[i].value, '|', value)) {
            error_set(err, ERROR_USAGE, "--%s: '%s' is not one of %s", rows[i].name, value, rows[i].value);
            return false;
        }
    }
    return true;
}

static bool options_check(struct options *options, const struct command *command, struct error *err)
{
    int64_t jobs;
    if (!check_words(options, command, err))
        return false;
    if (options->jobs && !text_parse_i64(options->jobs, 1, 4096, &jobs)) {
        error_set(err, ERROR_USAGE, "'%s' is not a number of threads (1 to 4096)", options->jobs);
        return false;
    }
    double bytes = 0;
    if (options->max_unpacked && (!text_parse_bytes(options->max_unpacked, &bytes) || bytes < 1)) {
        error_set(err, ERROR_USAGE, "--max-unpacked: '%s' is not a number of bytes (such as 20G)",
                  options->max_unpacked);
        return false;
    }
    input_limit_unpacked((uint64_t)bytes);
    if (command->formats && options->format && !word_in(command->formats, ' ', options->format)) {
        error_set(err, ERROR_USAGE, "format '%s' is not supported by '%s'; there are: %s", options->format,
                  command->name, command->formats);
        return false;
    }
    return true;
}

/* The word is sight's own option. mpiexec's -np is not -n with the value "p". */
static bool is_own_option(const struct command *command, const char *word)
{
    if (word[0] != '-' || strcmp(word, "-np") == 0)
        return false;
    return word[1] == '-' ? option_find(command, word + 2, strcspn(word + 2, "=")) != NULL
                          : word[1] && option_find(command, word + 1, 1) != NULL;
}

/* Before "--" of a command that passes on: an option of sight's, or a word for the launcher. */
static int parse_or_pass(struct options *options, const struct command *command, int argc, char **argv,
                         struct error *err)
{
    if (strcmp(argv[0], "-np") == 0 && argc > 1) {
        options->number = argv[1];
        return 2;
    }
    if (is_own_option(command, argv[0]))
        return parse_option(options, command, argc, argv, err);
    options->passed[options->passed_count++] = argv[0];
    return 1;
}

static bool has_separator(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return true;
    return false;
}

bool options_parse(struct options *options, const struct command *command, int argc, char **argv, struct error *err)
{
    options->inputs = argv;
    bool only_inputs = false, passes = (command->options & COMMAND_PASSES) && has_separator(argc, argv);
    options->passed = passes ? argv : NULL;
    while (argc > 0) {
        int taken = 1;
        if (!only_inputs && strcmp(argv[0], "--") == 0 && !(command->options & COMMAND_GROUPS)) {
            only_inputs = true;
            if (passes)
                options->inputs = argv; /* what is passed on stands before */
        } else if (passes && !only_inputs) {
            taken = parse_or_pass(options, command, argc, argv, err);
        } else if (only_inputs || argv[0][0] != '-' || argv[0][1] == '\0' || strcmp(argv[0], "--") == 0) {
            options->inputs[options->input_count++] = argv[0];
        } else {
            taken = parse_option(options, command, argc, argv, err);
        }
        if (taken == 0)
            return false;
        argc -= taken;
        argv += taken;
    }
    options_environment(options, command);
    return options_check(options, command, err);
}

/* The value's name in help: a list of words is too wide for the column. */
static const char *value_title(const struct option_row *row)
{
    return strchr(row->value, '|') ? "WORD" : row->value;
}

/* True if the help of an option lists all its words, as in "auto, always or never". */
static bool help_lists_words(const struct option_row *row)
{
    for (const char *at = row->value; *at; at += *at == '|') {
        char word[32];
        int length = (int)strcspn(at, "|");
        snprintf(word, sizeof word, "%.*s", length, at);
        if (!strstr(row->help, word))
            return false;
        at += length;
    }
    return true;
}

/* ": a b c" after the help. */
static void append_words(char help[HELP_SIZE], const struct option_row *row)
{
    if (!row->value || !strchr(row->value, '|') || help_lists_words(row))
        return;
    text_append(help, HELP_SIZE, ": %s", row->value);
    for (char *at = strchr(help, '|'); at; at = strchr(at, '|'))
        *at = ' ';
}

void options_write_help(struct output *output, const struct command *command)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (!command_takes(command, i))
            continue;
        char left[64], first[80], help[HELP_SIZE];
        int length = rows[i].letter ? snprintf(left, sizeof left, "-%c, --%s", rows[i].letter, rows[i].name)
                                    : snprintf(left, sizeof left, "    --%s", rows[i].name);
        if (rows[i].value)
            snprintf(left + length, sizeof left - (size_t)length, " %s", value_title(&rows[i]));
        snprintf(first, sizeof first, "  %-22s ", left);
        snprintf(help, sizeof help, "%s", rows[i].help);
        if (i == OPTION_BIT_FORMAT && command->formats)
            text_append(help, sizeof help, ": %s", command->formats);
        append_words(help, &rows[i]);
        paragraph_write(output, first, "                         ", help);
    }
}
