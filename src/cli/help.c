/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/help.h"

#include "cli/options.h"
#include "cli/run.h"
#include "convert/reader.h"
#include "convert/writer.h"
#include "core/guess.h"
#include "heuristics/finding.h"
#include "heuristics/glossary.h"
#include "render/terminal_text.h"

#include <stdio.h>
#include <string.h>

/* Commands that are named only, in lines of at most 80 characters. */
static void print_others(void)
{
    size_t used = (size_t)printf("  more:");
    for (size_t i = 0; i < command_count(); i++) {
        if (!(command_at(i)->kind & COMMAND_UNLISTED))
            continue;
        /* Broken by hand: the terminal would break within a name. */
        if (used + 1 + strlen(command_at(i)->name) > 80)
            used = (size_t)printf("\n ") - 1;
        used += (size_t)printf(" %s", command_at(i)->name);
    }
    putchar('\n');
}

static void print_help(void)
{
    puts("sight reads the trace of an MPI program's run and explains why it was slow.\n"
         "\n"
         "  sight run -n 4 -- ./app                  record a program and diagnose it\n"
         "  sight app.clog2                          the short diagnosis of a trace\n"
         "  sight report app.clog2 -o app.html       everything on one page, with charts\n"
         "  sight view app.clog2                     a timeline in your browser\n"
         "\nCommands:");
    for (size_t i = 0; i < command_count(); i++)
        if (!(command_at(i)->kind & COMMAND_UNLISTED))
            printf("  %-11s %s\n", command_at(i)->name, command_at(i)->summary);
    print_others();
    fputs("\n"
          "Traces: every format of `sight formats`, also gzip or zstd; - is standard input.\n"
          "Help: sight help COMMAND, sight help metric NAME, or sight help TOPIC, as\n",
          stdout);
    /* Topics are the table's, so that a new one is offered without a word here. */
    for (size_t i = 0; help_topic_at(i); i++)
        printf("%s ", help_topic_at(i));
    puts("- man sight.");
}

static void write_command(struct output *output, const void *context)
{
    const struct command *command = context;
    output_print(output, "sight %s%s%s\n  %s\n\nOptions:\n", command->name, *command->arguments ? " " : "",
                 command->arguments, command->summary);
    options_write_help(output, command);
}

int help_on_command(const struct command *command)
{
    return run_output(NULL, NULL, write_command, command, EXIT_DONE);
}

/* "late-sender   a receive that …", the text indented. */
static void write_entry(struct output *output, const char *name, const char *text)
{
    char first[40];
    snprintf(first, sizeof first, "  %-23s ", name);
    paragraph_write(output, first, "                          ", text);
}

static void write_formats(struct output *output)
{
    char title[64];
    for (size_t i = 0; i < format_count(); i++) {
        const struct format *format = format_at(i);
        snprintf(title, sizeof title, "%s%s", format->title, writer_format_find(format->name) ? "" : ", read only");
        write_entry(output, format->name, title);
    }
    for (size_t i = 0; i < writer_format_count(); i++) {
        const struct writer_format *format = writer_format_at(i);
        snprintf(title, sizeof title, "%s, written only", format->title);
        if (!format_is_read(format->name))
            write_entry(output, format->name, title);
    }
    write_entry(output, "metrics", "not a trace but the numbers computed from one: sight metrics --format xml");
    output_text(output, "\nTraces are recognised by their content, not by their names. Each\n"
                        "format has a manual page: man 5 clog2, ...; man sight-xml, man 5 sight-metrics\n");
}

/* Only names: each has its meaning under `sight help metric NAME`, and all of these would fill pages. Terms of one
   group stand together in the glossary. */
static void write_metrics(struct output *output)
{
    /* Room for the longest group of the glossary: a test counts its names. */
    char line[4096];
    for (size_t i = 0; i < glossary_count();) {
        struct term first = glossary_at(i);
        size_t used = 0;
        for (; i < glossary_count() && glossary_at(i).group == first.group && used < sizeof line; i++)
            used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", used ? " " : "", glossary_at(i).name);
        output_print(output, "%s (%s)\n", first.group->title, first.group->shown);
        paragraph_write(output, "  ", "  ", line);
    }
    output_text(output, "\nMeaning of a name: sight help metric NAME\n");
}

static void write_heuristics(struct output *output)
{
    output_text(output, "Each answers one question with an index, a verdict and advice.\n\n");
    for (size_t i = 0; i < heuristic_count(); i++)
        write_entry(output, heuristic_at(i)->id, heuristic_at(i)->question);
    output_text(output, "\nFormula and source: sight help metric NAME, or sight heuristics -v\n");
}

/* Meanings come from the glossary, so that help, manual and reports say the same. */
static void write_findings(struct output *output)
{
    paragraph_write(output, "", "",
                    "Problems that cost time. A finding is reported if fixing it would save more than 1 % of the run "
                    "and more than the clock error of the trace. The saving comes from a replay without the problem: "
                    "it is an upper bound, and savings do not add up.");
    output_text(output, "\n");
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++) {
        /* A finding without a meaning would fail the glossary's test; here it must not read beyond its end. */
        size_t at = glossary_find(finding_id(kind), 0);
        write_entry(output, finding_id(kind), at < glossary_count() ? glossary_at(at).meaning : "");
    }
    output_text(output, "\nDetails of a finding in a trace: sight explain FINDING TRACE\n");
}

static void write_numbers(struct output *output)
{
    /* The limits are those of the heuristics: help cannot state others. */
    char verdicts[400];
    snprintf(
        verdicts, sizeof verdicts,
        "Verdicts of heuristics: up to %d %% is good, up to %d %% fair, above that poor; unknown if the trace lacks "
        "the data. For deviations, the value is the larger of deviation / mean and (max - mean) / run, and if (max - "
        "mean) / run is at most 1 %% the verdict is always good; for AIMS's indices it is the index itself.",
        VERDICT_GOOD_PERCENT, VERDICT_FAIR_PERCENT);
    static const char *const paragraphs[] = {
        "Times in text have three digits and a unit (1.23 s, 45.6 ms, 789 µs, 12 ns; from 10,000 s on hours and days: "
        "2.78 h, 9.63 d); in JSON, CSV and XML they are "
        "seconds with nine decimals, and their names end in _s. Times are on the trace's own clock, except from_s and "
        "to_s of findings and the times in the output of explain, which count from the start of the run.",
        "Shares are fractions of 1 in JSON and percentages in text. Byte units are powers of 1000 (66 kB). A missing "
        "value is null: unknown, never guessed.",
        ("Processes are named by their rank in MPI_COMM_WORLD; 0–7,12 means processes 0 to 7 and 12; with ranks of "
         "1,000 and more: 448–575, 1,024 and 12 more."),
        "Efficiencies are POP's: 80 % or more is acceptable."};
    paragraph_write(output, "", "", verdicts);
    for (size_t i = 0; i < sizeof paragraphs / sizeof *paragraphs; i++) {
        output_text(output, "\n");
        paragraph_write(output, "", "", paragraphs[i]);
    }
}

static void write_exit_codes(struct output *output)
{
/* The table of command.h, so that help, manual and program have the same codes. */
#define WRITE_CODE(name, code, meaning) output_print(output, "  %3d  %s\n", code, meaning);
    EXIT_CODES(WRITE_CODE)
#undef WRITE_CODE
    output_text(output, "3 takes precedence over 1. With 4 and 5 no output file is changed.\n");
}

static const struct topic {
    const char *name;
    void (*write)(struct output *output);
} topics[] = {
#define TOPIC(name, function) {name, function},
#include "cli/topics.def"
};
enum { TOPICS = sizeof topics / sizeof *topics };

const char *help_topic_at(size_t index)
{
    return index < TOPICS ? topics[index].name : NULL;
}

static const struct topic *topic_find(const char *name)
{
    for (size_t i = 0; i < TOPICS; i++)
        if (strcmp(topics[i].name, name) == 0)
            return &topics[i];
    return NULL;
}

static void write_topic(struct output *output, const void *context)
{
    const struct topic *topic = context;
    topic->write(output);
}

static void write_term(struct output *output, const struct term *term)
{
    /* Only what a term has: most have no formula. */
    const char *const parts[][2] = {
        {"unit", term->unit}, {"formula", term->formula}, {"source", term->source}, {"shown by", term->group->shown}};
    output_print(output, "%s\n", term->name);
    paragraph_write(output, "  ", "  ", term->meaning);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char first[16];
        snprintf(first, sizeof first, "  %-10s", parts[i][0]);
        if (*parts[i][1])
            paragraph_write(output, first, "            ", parts[i][1]);
    }
}

/* A name may have several meanings: an efficiency and a finding are both called serialisation. */
static void write_terms(struct output *output, const void *context)
{
    const char *name = context;
    for (size_t i = glossary_find(name, 0), first = i; i < glossary_count(); i = glossary_find(name, i + 1)) {
        struct term term = glossary_at(i);
        if (i != first)
            output_text(output, "\n");
        write_term(output, &term);
    }
}

static int help_on_metric(const char *name)
{
    if (glossary_find(name, 0) < glossary_count())
        return run_output(NULL, NULL, write_terms, name, EXIT_DONE);
    char text[GUESS_TEXT];
    struct guess guess = guess_of(name, strlen(name));
    /* A name that is nearly one of the glossary's is most likely a typing error. */
    for (size_t i = 0; i < glossary_count(); i++)
        guess_try(&guess, glossary_at(i).name);
    fprintf(stderr, "sight: unknown name '%s'%s\n", name, guess_text(text, &guess, "", " (try 'sight help metrics')"));
    return EXIT_USAGE;
}

/* Commands and topics are guessed at together: a word may be meant as either. */
static int no_help(const char *word)
{
    char text[GUESS_TEXT];
    struct guess guess = guess_of(word, strlen(word));
    for (size_t i = 0; i < command_count(); i++)
        guess_try(&guess, command_at(i)->name);
    for (size_t i = 0; help_topic_at(i); i++)
        guess_try(&guess, help_topic_at(i));
    fprintf(stderr, "sight: no help for '%s'%s\n", word, guess_text(text, &guess, "", " (try 'sight help')"));
    return EXIT_USAGE;
}

int help(int argc, char **argv)
{
    if (argc == 0) {
        print_help();
        return EXIT_DONE;
    }
    bool metric = strcmp(argv[0], "metric") == 0;
    if (metric && argc > 1)
        return help_on_metric(argv[1]);
    const struct command *command = command_find(argv[0]);
    /* "metric" without a name lists the names. */
    const struct topic *topic = topic_find(metric ? "metrics" : argv[0]);
    if (!command && !topic) {
        return no_help(argv[0]);
    }
    /* A word may be both, such as metrics: the command first, then the topic. */
    int code = command ? help_on_command(command) : EXIT_DONE;
    if (command && topic)
        putchar('\n');
    fflush(stdout); /* outputs do not share stdio's buffer: what is in it must come first */
    if (!topic || code != EXIT_DONE)
        return code;
    return run_output(NULL, NULL, write_topic, topic, EXIT_DONE);
}
