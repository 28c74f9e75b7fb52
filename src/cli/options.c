/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/options.h"

#include "cli/selection.h"
#include "convert/writer.h"
#include "core/guess.h"
#include "core/input.h"
#include "core/memory.h"
#include "core/output.h"
#include "core/parallel.h"
#include "core/text.h"
#include "render/field.h"
#include "render/terminal_text.h"
#include "search/hypotheses.h"
#include "team/team.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_SIZE = 256 };

/* The text that each type of option_types.h but bool begins with. */
static const char *row_text(const struct option_row *row, const void *options)
{
    const char *text;
    memcpy(&text, (const char *)options + row->at, sizeof text);
    return text;
}

static void row_set(const struct option_row *row, void *options, const char *text)
{
    char *member = (char *)options + row->at;
    /* copied: the member is a text of its own, or the first member of one of the structs */
    if (row->value)
        memcpy(member, &text, sizeof text);
    else
        *(bool *)member = true;
}

/* Whether it was given, for the environment's sake: what the command line says goes first. */
static bool row_is_set(const struct option_row *row, const void *options)
{
    if (row->value)
        return row_text(row, options) != NULL;
    return *(const bool *)((const char *)options + row->at);
}

/* One character is a letter where the row has one. */
static bool row_has_name(const struct option_row *row, const char *name, size_t length)
{
    if (length == 1 && row->letter)
        return row->letter == *name;
    return strlen(row->name) == length && strncmp(row->name, name, length) == 0;
}

/* Only whole names: an abbreviation that is unique today would be ambiguous after the next option is added. */
static const struct option_row *option_find(const struct command *command, const char *name, size_t length)
{
    const struct option_row *row = NULL;
    while ((row = option_next(command, row)))
        if (row_has_name(row, name, length))
            return row;
    return NULL;
}

const char *options_text(const struct command *command, const void *options, const char *name)
{
    const struct option_row *row = option_find(command, name, strlen(name));
    if (!row || !row->value)
        return NULL;
    return row_text(row, options);
}

bool options_have(const struct command *command, const char *name)
{
    return option_find(command, name, strlen(name)) != NULL;
}

double options_bytes(const struct command *command, const void *options, const char *name)
{
    const struct option_row *row = option_find(command, name, strlen(name));
    if (!row || row->kind != OPTION_BYTES)
        return 0;
    return ((const struct bytes_option *)(const void *)((const char *)options + row->at))->value;
}

static bool option_unknown(const struct command *command, const char *text, struct error *err)
{
    char hint[64], nearest[GUESS_TEXT];
    bool is_long = strncmp(text, "--", 2) == 0;
    /* of letters nothing is guessed: each is as near to the others */
    struct guess guess = guess_of(text + 2, is_long ? strcspn(text + 2, "=") : 0);
    for (const struct option_row *row = NULL; (row = option_next(command, row));)
        guess_try(&guess, row->name);
    snprintf(hint, sizeof hint, " (try 'sight help %s')", command->name);
    error_set(err, ERROR_USAGE, "unknown option '%s'%s", text, guess_text(nearest, &guess, "--", hint));
    return false;
}

/* A command line on its way into a command's struct. */
struct parsing {
    const struct command *command;
    void *options;
    struct common_options *common; /* what they begin with */
    bool separated;                /* there is a "--" */
};

/* --name, --name=value, --name value. Returns how many arguments it took; 0 is a fault. */
static int parse_long(struct parsing *parsing, int argc, char **argv, struct error *err)
{
    const char *name = argv[0] + 2;
    size_t length = strcspn(name, "=");
    bool has_value = name[length] == '=';
    const struct option_row *row = NULL;
    if (length > 1) /* else --o would be -o */
        row = option_find(parsing->command, name, length);
    if (!row)
        return option_unknown(parsing->command, argv[0], err);
    if (has_value && !row->value) {
        error_set(err, ERROR_USAGE, "option '--%s' does not take a value", row->name);
        return 0;
    }
    if (!row->value || has_value) {
        row_set(row, parsing->options, name + length + has_value);
        return 1;
    }
    if (argc < 2) {
        error_set(err, ERROR_USAGE, "option '--%s' needs a value (%s)", row->name, row->value);
        return 0;
    }
    row_set(row, parsing->options, argv[1]);
    return 2;
}

/* -a, -abc, -oFILE, -o FILE. */
static int parse_short(struct parsing *parsing, int argc, char **argv, struct error *err)
{
    for (const char *at = argv[0] + 1; *at; at++) {
        const struct option_row *row = option_find(parsing->command, at, 1);
        if (!row)
            return option_unknown(parsing->command, argv[0], err);
        if (!row->value) {
            row_set(row, parsing->options, NULL);
            continue;
        }
        if (at[1]) {
            row_set(row, parsing->options, at + 1);
            return 1;
        }
        if (argc < 2) {
            error_set(err, ERROR_USAGE, "option '-%c' needs a value (%s)", row->letter, row->value);
            return 0;
        }
        row_set(row, parsing->options, argv[1]);
        return 2;
    }
    return 1;
}

static int parse_option(struct parsing *parsing, int argc, char **argv, struct error *err)
{
    if (argv[0][1] == '-')
        return parse_long(parsing, argc, argv, err);
    return parse_short(parsing, argc, argv, err);
}

/* True if `word` is one of the `words` between the separators. Not even then if it is empty. */
static bool word_in(const char *words, char separator, const char *word)
{
    const char separators[] = {separator, '\0'};
    size_t wanted = strlen(word);
    for (const char *at = words; *at; at += *at == separator) {
        size_t length = strcspn(at, separators);
        if (length == wanted && length > 0 && strncmp(at, word, length) == 0)
            return true;
        at += length;
    }
    return false;
}

/* SIGHT_FIX_CLOCKS of --fix-clocks. */
static void variable_of(const struct option_row *row, char *name, size_t size)
{
    snprintf(name, size, "SIGHT_%s", row->name);
    for (char *at = name; *at; at++) {
        *at = (char)toupper((unsigned char)*at);
        if (*at == '-')
            *at = '_';
    }
}

/* The value that the environment has for an option; NULL: none. */
static const char *environment_of(const struct option_row *row)
{
    char name[64];
    variable_of(row, name, sizeof name);
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* A fault in a value of the environment names the variable. */
static enum status blame_variable(const struct option_row *row, struct error *err)
{
    char name[64];
    const struct error fault = *err;
    variable_of(row, name, sizeof name);
    return error_set(err, ERROR_USAGE, "%s: %s", name, fault.text);
}

static enum status take_flag(const struct option_row *row, void *options, const char *value, struct error *err)
{
    static const char on[] = "1|yes|true", off[] = "0|no|false";
    if (word_in(on, '|', value))
        row_set(row, options, value);
    else if (!word_in(off, '|', value)) {
        (void)error_set(err, ERROR_USAGE, "'%s' is neither 1 nor 0", value);
        return blame_variable(row, err);
    }
    return STATUS_OK;
}

/* SIGHT_FORMAT=json stands for --format json. A variable that asks every command for help would help nobody. */
static enum status take_environment(struct parsing *parsing, struct error *err)
{
    for (const struct option_row *row = NULL; (row = option_next(parsing->command, row));) {
        if (row_is_set(row, parsing->options) || strcmp(row->name, "help") == 0)
            continue;
        const char *value = environment_of(row);
        if (value && row->value)
            row_set(row, parsing->options, value);
        else if (value && take_flag(row, parsing->options, value, err) != STATUS_OK)
            return STATUS_FAILED;
    }
    return STATUS_OK;
}

bool choice_is(struct choice choice, const char *word)
{
    return choice.word && strcmp(choice.word, word) == 0;
}

static enum status fault_of(const struct option_row *row, const char *text, struct error *err)
{
    return error_set(err, ERROR_USAGE, "--%s: '%s' %s", row->name, text, row->fault);
}

static enum status read_choice(const struct option_row *row, const char *text, struct error *err)
{
    if (word_in(row->value, '|', text))
        return STATUS_OK;
    return error_set(err, ERROR_USAGE, "--%s: '%s' is not one of %s", row->name, text, row->value);
}

/* The words of --format are the command's own, not the row's: one row serves all commands. A command without a list
   checks the word itself, as convert does with the formats of writers. */
static enum status read_format(const struct command *command, const char *text, struct error *err)
{
    if (!command->formats || word_in(command->formats, ' ', text))
        return STATUS_OK;
    return error_set(err, ERROR_USAGE, "format '%s' is not supported by '%s'; there are: %s", text, command->name,
                     command->formats);
}

/* Bounds are the row's: a value is checked before the command starts, and fits whatever type it is turned into. */
static enum status read_number(const struct option_row *row, struct number_option *number, struct error *err)
{
    if (text_parse_i64(number->text, row->least, row->most, &number->value))
        return STATUS_OK;
    return fault_of(row, number->text, err);
}

static enum status read_bytes(const struct option_row *row, struct bytes_option *bytes, struct error *err)
{
    if (text_parse_bytes(bytes->text, &bytes->value) && bytes->value >= (double)row->least)
        return STATUS_OK;
    return fault_of(row, bytes->text, err);
}

static enum status read_time(const struct option_row *row, struct time_option *time, struct error *err)
{
    if (text_parse_time(time->text, &time->ns))
        return STATUS_OK;
    return fault_of(row, time->text, err);
}

static enum status read_share(const struct option_row *row, struct share_option *share, struct error *err)
{
    if (threshold_parse(share->text, &share->value) && share->value <= (double)row->most)
        return STATUS_OK;
    return fault_of(row, share->text, err);
}

/* The value of an option that was given, from its text. */
static enum status read_value(const struct command *command, const struct option_row *row, void *member,
                              struct error *err)
{
    struct time_option *duration = member;
    struct moment_option *moment = member;
    struct list_option *list = member;
    const char *text;
    memcpy(&text, member, sizeof text);
    switch (row->kind) {
    case OPTION_CHOICE:
        return read_choice(row, text, err);
    case OPTION_FORMAT:
        return read_format(command, text, err);
    case OPTION_NUMBER:
        return read_number(row, member, err);
    case OPTION_BYTES:
        return read_bytes(row, member, err);
    case OPTION_TIME:
        return read_time(row, member, err);
    case OPTION_SHARE:
        return read_share(row, member, err);
    case OPTION_DURATION:
        return selection_time(text, &duration->ns, err);
    case OPTION_MOMENT:
        return selection_moment(text, &moment->time, err);
    case OPTION_LIST:
        return selection_ranks(text, &list->numbers, &list->count, err);
    case OPTION_FLAG:
    case OPTION_TEXT: /* only its command knows what it may be */
        break;
    }
    return STATUS_OK;
}

static unsigned threads_of_packing(const struct common_options *common)
{
    if (common->jobs.value)
        return (unsigned)common->jobs.value * (unsigned)team_here(common->team);
    return parallel_processors();
}

/* Without --format the suffix of the output says it, where it is a format of the command: out.json.gz is JSON. */
static void take_suffix(struct parsing *parsing)
{
    static const char *const suffixes[] = {".csv", ".dot", ".html", ".json", ".jsonl", ".sarif", ".xml"};
    const struct option_row *row = option_find(parsing->command, "format", strlen("format"));
    const char *path = options_text(parsing->command, parsing->options, "output");
    if (!row || row_is_set(row, parsing->options) || !parsing->command->formats || !path)
        return;
    size_t length = output_plain_length(path);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (text_ends_with(path, length, suffixes[i]) && word_in(parsing->command->formats, ' ', suffixes[i] + 1))
            row_set(row, parsing->options, suffixes[i] + 1);
}

/* Only the last text of an option that is given twice counts: texts become values when all are there. */
static bool read_values(struct parsing *parsing, struct error *err)
{
    for (const struct option_row *row = NULL; (row = option_next(parsing->command, row));)
        if (row->value && row_is_set(row, parsing->options) &&
            read_value(parsing->command, row, (char *)parsing->options + row->at, err) != STATUS_OK) {
            if (row_text(row, parsing->options) == environment_of(row))
                (void)blame_variable(row, err);
            return false;
        }
    /* for all inputs that are opened from now on, also metrics files and configurations */
    input_limit_unpacked((uint64_t)parsing->common->max_unpacked.value);
    input_unpack_threads(threads_of_packing(parsing->common));
    output_pack_threads(threads_of_packing(parsing->common));
    return true;
}

/* Only lists are owned; a list that could not be read may have a part of its numbers. */
void options_clear(const struct command *command, void *options)
{
    for (const struct option_row *row = NULL; (row = option_next(command, row));)
        if (row->kind == OPTION_LIST)
            free(((struct list_option *)(void *)((char *)options + row->at))->numbers);
}

/* The word is sight's own option. mpiexec's -np is not -n with the value "p". */
static bool is_own_option(const struct command *command, const char *word)
{
    if (word[0] != '-' || strcmp(word, "-np") == 0)
        return false;
    if (word[1] == '-')
        return option_find(command, word + 2, strcspn(word + 2, "=")) != NULL;
    return word[1] && option_find(command, word + 1, 1) != NULL;
}

/* Before "--" of a command that passes on: an option of sight's, or a word for the launcher. */
static int parse_or_pass(struct parsing *parsing, int argc, char **argv, struct error *err)
{
    const struct option_row *number = option_find(parsing->command, "n", 1);
    if (strcmp(argv[0], "-np") == 0 && argc > 1 && number) {
        row_set(number, parsing->options, argv[1]);
        return 2;
    }
    if (is_own_option(parsing->command, argv[0]))
        return parse_option(parsing, argc, argv, err);
    /* Which of the words are values of options, and which the program, only "--" can say. */
    if (!parsing->separated) {
        (void)error_set(err, ERROR_USAGE,
                        "unknown option '%s'; options of the launcher go before --: sight %s %s ... -- PROGRAM",
                        argv[0], parsing->command->name, argv[0]);
        return 0;
    }
    parsing->common->passed[parsing->common->passed_count++] = argv[0];
    return 1;
}

static bool has_separator(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return true;
    return false;
}

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && strcmp(word, "--") != 0;
}

/* Inputs are gathered at the front of argv, over words that were read already. */
static bool parse_words(struct parsing *parsing, int argc, char **argv, struct error *err)
{
    struct common_options *common = parsing->common;
    unsigned kind = parsing->command->kind;
    bool only_inputs = false, passes = (kind & COMMAND_PASSES) != 0;
    parsing->separated = has_separator(argc, argv);
    common->inputs = argv;
    if (passes)
        common->passed = argv; /* what is kept is never ahead of what is read: argv is overwritten from its front */
    while (argc > 0) {
        int taken = 1;
        if ((kind & COMMAND_STARTS) && !parsing->separated && !is_option(argv[0]))
            only_inputs = true; /* options after it are the program's */
        if (!only_inputs && strcmp(argv[0], "--") == 0 && !(kind & COMMAND_GROUPS)) {
            only_inputs = true;
            if (passes)
                common->inputs = argv; /* what is passed on stands before */
        } else if (passes && !only_inputs) {
            taken = parse_or_pass(parsing, argc, argv, err);
        } else if (only_inputs || !is_option(argv[0])) {
            common->inputs[common->input_count++] = argv[0];
        } else {
            taken = parse_option(parsing, argc, argv, err);
        }
        if (taken == 0)
            return false;
        argc -= taken;
        argv += taken;
    }
    return true;
}

bool options_parse(const struct command *command, void *options, int argc, char **argv, struct error *err)
{
    struct parsing parsing = {.command = command, .options = options, .common = options};
    if (!parse_words(&parsing, argc, argv, err))
        return false;
    if (take_environment(&parsing, err) != STATUS_OK)
        return false;
    take_suffix(&parsing);
    return read_values(&parsing, err);
}

/* The value's name in help: a list of words is too wide for the column. */
static const char *value_title(const struct option_row *row)
{
    if (strchr(row->value, '|'))
        return "WORD";
    return row->value;
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

/* Of a command without formats of its own: those that traces are written in. */
static void append_formats(char help[HELP_SIZE], const struct command *command)
{
    text_append(help, HELP_SIZE, ": %s", command->formats ? command->formats : "");
    for (size_t i = 0; !command->formats && i < writer_format_count(); i++)
        text_append(help, HELP_SIZE, "%s%s", i ? " " : "", writer_format_at(i)->name);
}

void options_write_help(struct output *output, const struct command *command)
{
    enum { LEFT_COLUMNS = 22 };
    static const char indent[] = "                         ";
    for (const struct option_row *row = NULL; (row = option_next(command, row));) {
        char left[64], first[80], help[HELP_SIZE];
        char letter[] = "    "; /* or "-o, " */
        if (row->letter)
            snprintf(letter, sizeof letter, "-%c, ", row->letter);
        int length = snprintf(left, sizeof left, "%s--%s", letter, row->name);
        if (row->value)
            snprintf(left + length, sizeof left - (size_t)length, " %s", value_title(row));
        snprintf(first, sizeof first, "  %-22s ", left);
        if (strlen(left) > LEFT_COLUMNS) {
            output_print(output, "  %s\n", left);
            snprintf(first, sizeof first, "%s", indent);
        }
        snprintf(help, sizeof help, "%s", row->help);
        if (row->kind == OPTION_FORMAT)
            append_formats(help, command);
        append_words(help, row);
        paragraph_write(output, first, indent, help);
    }
}
