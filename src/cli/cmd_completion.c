/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/help.h"
#include "cli/options.h"
#include "cli/run.h"
#include "convert/writer.h"
#include "heuristics/finding.h"
#include "heuristics/glossary.h"
#include "render/charts/chart.h"
#include "render/reports/metrics_report.h"

#include <string.h>

/* The scripts are the tables of commands and options in the words of a shell: a new row needs nothing here. Not in the
   tables, since main.c handles them: `help`, --help, --version, and that a trace in place of a command is diagnosed. */

/* The kind of a word on the command line. */
enum place {
    PLACE_FREE, /* a number, a time: nothing is offered */
    PLACE_FILES,
    PLACE_WORDS
};

/* Of sight metrics; other tables are words of their rows. */
static bool is_table(const struct option_row *row)
{
    return row->kind == OPTION_TEXT && strcmp(row->name, "table") == 0;
}

static enum place place_of_value(const struct option_row *row)
{
    if (strcmp(row->value, "FILE") == 0)
        return PLACE_FILES;
    if (row->kind == OPTION_FORMAT || row->kind == OPTION_CHOICE || is_table(row))
        return PLACE_WORDS;
    return PLACE_FREE;
}

static enum place place_of_arguments(const struct command *command)
{
    if (*command->arguments == '\0')
        return PLACE_FREE;
    /* "bash|zsh" are words; a "|" between several arguments is a choice of usages, and [DIRECTORY|PID] one of places */
    if (strchr(command->arguments, '|') && !strpbrk(command->arguments, " ["))
        return PLACE_WORDS;
    return PLACE_FILES;
}

static void write_chart_names(struct output *output)
{
    output_text(output, "all");
    for (size_t i = 0; i < chart_count(); i++)
        output_print(output, " %s", chart_at(i)->name);
}

static void write_finding_ids(struct output *output)
{
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++)
        output_print(output, "%s%s", kind ? " " : "", finding_id(kind));
}

/* Commands that take names from a table beside their traces, before or after them. */
static const struct argument_names {
    const char *command, *what;
    void (*write)(struct output *output); /* blank-separated */
} argument_names[] = {{"chart", "chart", write_chart_names}, {"explain", "finding", write_finding_ids}};

/* NULL: the command takes none. */
static const struct argument_names *names_of_arguments(const struct command *command)
{
    for (size_t i = 0; i < sizeof argument_names / sizeof *argument_names; i++)
        if (strcmp(argument_names[i].command, command->name) == 0)
            return &argument_names[i];
    return NULL;
}

/* A list a|b|c with blanks in place of the bars. */
static void write_list(struct output *output, const char *list)
{
    for (const char *at = list; *at; at += *at == '|') {
        int length = (int)strcspn(at, "|");
        output_print(output, "%.*s%s", length, at, at[length] ? " " : "");
        at += length;
    }
}

/* The words of an option's value, blank-separated. */
static void write_words(struct output *output, const struct command *command, const struct option_row *row)
{
    if (is_table(row)) {
        for (size_t i = 0; metrics_table_name(i); i++)
            output_print(output, "%s%s", i ? " " : "", metrics_table_name(i));
    } else if (row->kind == OPTION_FORMAT && command->formats) {
        output_text(output, command->formats);
    } else if (row->kind == OPTION_FORMAT) { /* a trace is written */
        for (size_t i = 0; i < writer_format_count(); i++)
            output_print(output, "%s%s", i ? " " : "", writer_format_at(i)->name);
    } else {
        write_list(output, row->value);
    }
}

static void write_command_names(struct output *output, const char *between)
{
    for (size_t i = 0; i < command_count(); i++)
        output_print(output, "%s%s", command_at(i)->name, between);
    output_text(output, "help");
}

/* Arguments of `sight help` other than commands. */
static void write_topics(struct output *output)
{
    for (size_t i = 0; help_topic_at(i); i++)
        if (!command_find(help_topic_at(i)))
            output_print(output, " %s", help_topic_at(i));
    output_text(output, " metric");
}

/* Names of numbers: `sight help metric NAME`. */
static void write_terms(struct output *output)
{
    for (size_t i = 0; i < glossary_count(); i++)
        output_print(output, "%s%s", i ? " " : "", glossary_at(i).name);
}

/* Bash splits words at = and : (COMP_WORDBREAKS), which the script puts together again. In the script, `offer` is the
 * list of possible words at the cursor; @files is what bash offers itself, and words may follow it. Chart names may be
 * a list: what is before the last comma stays. */

static const char bash_begin[] =
    "# bash completion of sight, printed by 'sight completion bash'.\n"
    "# Files beside the words that are offered: in _sight, whose variables it uses.\n"
    "_sight_files()\n"
    "{\n"
    "    while IFS= read -r file; do\n"
    "        COMPREPLY+=(\"$file\")\n"
    "    done < <(compgen -f -- \"$current\")\n"
    "    compopt -o filenames 2>/dev/null\n"
    "}\n"
    "_sight()\n"
    "{\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}\n"
    "    local offer= file IFS=$' \\t\\n'\n"
    "    COMPREPLY=()\n"
    "    # Bash takes --name=value for three words.\n"
    "    if [[ $current == = ]]; then\n"
    "        current=\n"
    "    elif [[ $previous == = ]]; then\n"
    "        previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    if ((COMP_CWORD == 1)); then\n"
    "        # Nothing found leaves it to complete -o default, which knows quotes and ~.\n"
    "        COMPREPLY=($(compgen -W '--help --version ";

static const char bash_first[] = "' -- \"$current\"))\n"
                                 "        _sight_files\n"
                                 "        return\n"
                                 "    fi\n"
                                 "    case $command in\n"
                                 "    ";

static const char bash_commands[] = ") ;;\n"
                                    "    *) command=diagnose ;;\n"
                                    "    esac\n"
                                    "    case $command in\n";

static const char bash_end[] =
    "    esac\n"
    "    [[ $offer == @files ]] && return\n"
    "    if [[ $offer == '@files '* ]]; then\n"
    "        local listed=\n"
    "        [[ $current == *,* ]] && listed=${current%,*},\n"
    "        COMPREPLY=($(compgen -P \"$listed\" -W \"${offer#@files }\" -- \"${current##*,}\"))\n"
    "        _sight_files\n"
    "        return\n"
    "    fi\n"
    "    compopt +o default 2>/dev/null\n"
    "    COMPREPLY=($(compgen -W \"$offer\" -- \"$current\"))\n"
    "}\n"
    "complete -o default -F _sight sight\n";

static void bash_arguments(struct output *output, const struct command *command)
{
    enum place place = place_of_arguments(command);
    output_text(output, "        offer='");
    if (place == PLACE_WORDS)
        write_list(output, command->arguments);
    output_text(output, place == PLACE_FILES ? "@files" : "");
    const struct argument_names *names = names_of_arguments(command);
    if (names) {
        output_text(output, " ");
        names->write(output);
    }
    output_text(output, "'\n");
}

/* Only after a "-": else a file is more likely meant. */
static void bash_option_names(struct output *output, const struct command *command)
{
    const char *between = "        [[ $current == -* ]] && offer='";
    for (const struct option_row *row = NULL; (row = option_next(command, row));) {
        output_print(output, "%s--%s", between, row->name);
        if (row->letter)
            output_print(output, " -%c", row->letter);
        between = " ";
    }
    output_text(output, "'\n");
}

/* The words after an option with a value; what a shell offers for FILE it knows best itself. */
static void bash_value(struct output *output, const struct command *command, const struct option_row *row)
{
    enum place place = place_of_value(row);
    output_text(output, "        ");
    if (row->letter)
        output_print(output, "-%c | ", row->letter);
    output_print(output, "--%s) offer='", row->name);
    if (place == PLACE_WORDS)
        write_words(output, command, row);
    output_text(output, place == PLACE_FILES ? "@files' ;;\n" : "' ;;\n");
}

static void bash_command(struct output *output, const struct command *command)
{
    output_print(output, "    %s)\n", command->name);
    bash_arguments(output, command);
    bash_option_names(output, command);
    output_text(output, "        case $previous in\n");
    for (const struct option_row *row = NULL; (row = option_next(command, row));)
        if (row->value)
            bash_value(output, command, row);
    output_text(output, "        esac\n        ;;\n");
}

static void write_bash(struct output *output, const void *context)
{
    (void)context;
    output_text(output, bash_begin);
    write_command_names(output, " ");
    output_text(output, bash_first);
    write_command_names(output, " | ");
    output_text(output, bash_commands);
    for (size_t i = 0; i < command_count(); i++)
        bash_command(output, command_at(i));
    output_text(output, "    help)\n        ((COMP_CWORD == 2)) && offer='");
    write_command_names(output, " ");
    write_topics(output);
    output_text(output, "'\n        [[ $previous == metric ]] && offer='");
    write_terms(output);
    output_text(output, "'\n        ;;\n");
    output_text(output, bash_end);
}

/* Zsh: the specifications of its function _arguments. */

static const char zsh_begin[] = "#compdef sight\n"
                                "# zsh completion of sight, printed by 'sight completion zsh'.\n"
                                "_sight_commands() {\n"
                                "    local -a commands\n"
                                "    commands=(\n";

static const char zsh_commands[] =
    "        'help:help on a command, a topic or a number'\n"
    "    )\n"
    "    _describe -t commands command commands\n"
    "}\n"
    "_sight() {\n"
    "    local command=diagnose\n"
    "    if (( CURRENT == 2 )); then\n"
    "        if [[ $PREFIX == -* ]]; then\n"
    "            _arguments '(- *)'{-h,--help}'[this help]' '(- *)'{-V,--version}'[the version]'\n"
    "        else\n"
    "            _alternative 'commands:command:_sight_commands' 'files:trace:_files'\n"
    "        fi\n"
    "        return\n"
    "    fi\n"
    "    # _arguments takes the first word for the program: after a command, that is the command.\n"
    "    case $words[2] in\n"
    "    ";

static const char zsh_case[] = ")\n"
                               "        command=$words[2]\n"
                               "        shift words\n"
                               "        (( CURRENT-- ))\n"
                               "        ;;\n"
                               "    esac\n"
                               "    case $command in\n";

/* Read by the completion system from its path, or sourced. */
static const char zsh_end[] = "    esac\n"
                              "}\n"
                              "if [[ $funcstack[1] == _sight ]]; then\n"
                              "    _sight \"$@\"\n"
                              "else\n"
                              "    compdef _sight sight\n"
                              "fi\n";

/* Text inside '...[...]...' or '...:...' of zsh. */
/* The bracket, the colon and the backslash are the specification's own; a quote ends the shell's word. */
static void zsh_quoted(struct output *output, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            output_text(output, "'\\'");
        else if (strchr("[]:\\", *text))
            output_text(output, "\\");
        output_print(output, "%c", *text);
    }
}

/* ":title:what": the value of an option or an argument. */
static void zsh_place(struct output *output, enum place place, const char *title)
{
    output_text(output, ":");
    zsh_quoted(output, title);
    static const char *const actions[] = {[PLACE_FREE] = ": ", [PLACE_FILES] = ":_files", [PLACE_WORDS] = ":("};
    output_text(output, actions[place]);
}

static void zsh_option(struct output *output, const struct command *command, const struct option_row *row)
{
    const char *joint = row->value ? "=" : "";
    output_text(output, " \\\n            ");
    if (row->letter)
        output_print(output, "'(-%c --%s)'{-%c%s,--%s%s}'[", row->letter, row->name, row->letter, row->value ? "+" : "",
                     row->name, joint);
    else
        output_print(output, "'--%s%s[", row->name, joint);
    zsh_quoted(output, row->help);
    output_text(output, "]");
    if (row->value) {
        enum place place = place_of_value(row);
        zsh_place(output, place, row->name);
        if (place == PLACE_WORDS) {
            write_words(output, command, row);
            output_text(output, ")");
        }
    }
    output_text(output, "'");
}

/* "*": any number of files; "1": one word. */
static void zsh_arguments(struct output *output, const struct command *command)
{
    enum place place = place_of_arguments(command);
    if (place == PLACE_FREE)
        return;
    const struct argument_names *names = names_of_arguments(command);
    if (names) {
        output_print(output, " \\\n            '*:input:{_alternative \"names:%s:(", names->what);
        names->write(output);
        output_text(output, ")\" \"files:input:_files\"}'");
        return;
    }
    output_print(output, " \\\n            '%s", place == PLACE_FILES ? "*" : "1");
    zsh_place(output, place, place == PLACE_FILES ? "input" : "word");
    if (place == PLACE_WORDS) {
        write_list(output, command->arguments);
        output_text(output, ")");
    }
    output_text(output, "'");
}

static void zsh_command(struct output *output, const struct command *command)
{
    output_print(output, "    %s)\n        _arguments -s -S", command->name);
    for (const struct option_row *row = NULL; (row = option_next(command, row));)
        zsh_option(output, command, row);
    zsh_arguments(output, command);
    output_text(output, "\n        ;;\n");
}

static void write_zsh(struct output *output, const void *context)
{
    (void)context;
    output_text(output, zsh_begin);
    for (size_t i = 0; i < command_count(); i++) {
        output_print(output, "        '%s:", command_at(i)->name);
        zsh_quoted(output, command_at(i)->summary);
        output_text(output, "'\n");
    }
    output_text(output, zsh_commands);
    write_command_names(output, " | ");
    output_text(output, zsh_case);
    for (size_t i = 0; i < command_count(); i++)
        zsh_command(output, command_at(i));
    output_text(output, "    help)\n"
                        "        (( CURRENT == 2 )) && _sight_commands && compadd --");
    write_topics(output);
    output_text(output, "\n        (( CURRENT == 3 )) && [[ $words[2] == metric ]] && compadd -- ");
    write_terms(output);
    output_text(output, "\n        ;;\n");
    output_text(output, zsh_end);
}

int cmd_completion(const struct command *command, const struct completion_options *options)
{
    /* printed, not installed: a user without rights on the machine can source them */
    static const struct {
        const char *name;
        void (*write)(struct output *output, const void *context);
    } shells[] = {{"bash", write_bash}, {"zsh", write_zsh}};
    if (options->common.input_count != 1)
        return command_usage(command, "give one shell: bash or zsh");
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(options->common.inputs[0], shells[i].name) == 0)
            return run_output(NULL, NULL, shells[i].write, NULL, EXIT_DONE);
    return command_usage(command, "'%s' is not bash or zsh", options->common.inputs[0]);
}
