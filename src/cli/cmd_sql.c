/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight sql TRACE... "SELECT ..."`: queries over traces. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cli/commands.h"

#ifdef HAVE_SQLITE

#include "cli/named_input.h"
#include "cli/run.h"
#include "cli/sql_print.h"
#include "cli/sql_prompt.h"
#include "core/memory.h"
#include "render/terminal_text.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MEMORY_USUAL = 1000000000, WIDTH_LEAST = 20 };

struct session {
    const struct sql_options *options;
    struct asking asking;
    struct query_trace **traces;
    char **paths; /* parts of the arguments */
    size_t trace_count;
    struct sql *sql;
    struct output *output;
    struct sql_printer *printer;
};

/* What is asked, as the last argument: it is no file, and no name of one. */
static bool is_query(const char *argument)
{
    if (access(argument, F_OK) == 0) /* also of a file with blanks in its name */
        return false;
    if (argument[0] == '.' && isalpha((unsigned char)argument[1]))
        return !strchr(argument, '/');
    return strpbrk(argument, " \t\n;") != NULL && strcmp(argument, "-") != 0;
}

/* True if another trace before it has the name, too. */
static bool is_taken(const struct session *session, const char *name)
{
    for (size_t i = 0; i < session->trace_count; i++)
        if (strcmp(query_trace_name(session->traces[i]), name) == 0)
            return true;
    return false;
}

/* Each argument is a run of its own. Of equal names the later ones are whole paths. */
static enum status open_traces(struct session *session, size_t count, struct error *err)
{
    session->traces = memory_new(count * sizeof *session->traces);
    session->paths = memory_new(count * sizeof *session->paths);
    for (size_t i = 0; i < count; i++) {
        struct engine_request request = session->asking.request;
        char *name;
        session->paths[i] = named_input_split(session->options->common.inputs[i], &name);
        /* A query may need no trace, and then none is opened. */
        if (strcmp(session->paths[i], "-") != 0 && access(session->paths[i], R_OK) != 0) {
            error_set_errno(err, ERROR_INPUT, "%s: cannot open", session->paths[i]);
            free(name);
            return STATUS_FAILED;
        }
        request.inputs = &session->paths[i];
        request.input_count = 1;
        session->traces[i] = query_trace_new(&request, is_taken(session, name) ? session->paths[i] : name);
        session->trace_count++;
        free(name);
    }
    if (count == 0)
        return error_set(err, ERROR_USAGE, "no trace given");
    return STATUS_OK;
}

static struct sql_limits limits_of(const struct sql_options *options)
{
    struct sql_limits limits = {.seconds = (double)options->max_time.ns / 1e9, .bytes = MEMORY_USUAL};
    if (options->max_memory.text)
        limits.bytes = (int64_t)options->max_memory.value;
    return limits;
}

static enum sql_format format_of(struct choice format)
{
    if (choice_is(format, "csv"))
        return SQL_CSV;
    if (choice_is(format, "json"))
        return SQL_JSON;
    return SQL_TEXT;
}

/* Commands with a dot, as SQLite's shell has them. */

static void write_tables(struct output *output)
{
    for (size_t i = 0; i < QUERY_TABLES; i++) {
        char first[40];
        snprintf(first, sizeof first, "%-16s", query_table_at(i)->name);
        paragraph_write(output, first, "                ", query_table_at(i)->meaning);
    }
}

static void write_schema(struct output *output, const struct query_table *table)
{
    static const char *const types[] = {
        [QUERY_TEXT] = "TEXT",     [QUERY_INTEGER] = "INTEGER", [QUERY_TIME] = "REAL",
        [QUERY_BYTES] = "INTEGER", [QUERY_RATIO] = "NUMERIC",   [QUERY_BOOL] = "INTEGER"};
    output_print(output, "CREATE TABLE %s( -- %s\n", table->name, table->meaning);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct query_column *column = &table->columns[i];
        const char *unit = query_type_unit(column->type);
        char declared[64], first[80];
        snprintf(declared, sizeof declared, "%s %s%s", column->name, types[column->type],
                 i + 1 < table->column_count ? "," : "");
        if (*unit)
            snprintf(first, sizeof first, "  %-28s -- (%s) ", declared, unit);
        else
            snprintf(first, sizeof first, "  %-28s -- ", declared);
        paragraph_write(output, first, "                               --   ", column->meaning);
    }
    output_text(output, ");\n");
}

static enum status schema_command(struct session *session, const char *name, struct error *err)
{
    const struct query_table *table = *name ? query_table_find(name) : NULL;
    if (*name && !table)
        return error_set(err, ERROR_USAGE, "there is no table '%s' (.tables lists them)", name);
    for (size_t i = 0; i < QUERY_TABLES; i++)
        if (!table || table == query_table_at(i))
            write_schema(session->output, query_table_at(i));
    return STATUS_OK;
}

static enum status dot_command(struct session *session, const char *line, struct error *err)
{
    char word[32] = "", argument[64] = "";
    sscanf(line, "%31s %63s", word, argument); /* longer ones are none of the commands, and no table */
    if (strcmp(word, ".tables") == 0)
        write_tables(session->output);
    else if (strcmp(word, ".schema") == 0)
        return schema_command(session, argument, err);
    else if (strcmp(word, ".help") == 0)
        output_text(session->output, ".tables          all tables\n.schema [TABLE]  their columns, with units\n"
                                     ".quit            end\nSELECT ...;      a query\n");
    else
        return error_set(err, ERROR_USAGE, "'%s' is none of .tables, .schema [TABLE], .help and .quit", word);
    return STATUS_OK;
}

static enum status run_text(struct session *session, const char *text, struct error *err)
{
    if (*text == '.')
        return dot_command(session, text, err);
    enum status status = sql_run(session->sql, text, sql_printer_result(session->printer), err);
    /* the table is read while the first rows are made: from now on there is text where the progress stood */
    progress_end(&session->asking.progress);
    sql_printer_end(session->printer);
    return status;
}

/* The prompt. */

/* The query that Ctrl-C stops at the prompt; without one it drops the line that is being typed. */
static struct sql *volatile running;
static volatile sig_atomic_t interrupted;

static void stop_query(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
    if (running)
        sql_stop(running); /* NOLINT(bugprone-signal-handler): sqlite3_interrupt may be called from one */
}

/* Without SA_RESTART: waiting for a line ends as well. */
static void catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = stop_query};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

/* The next line. An empty one, and what was typed of the statement is dropped, where Ctrl-C ended it. NULL: the end. */
static char *next_line(struct sql_prompt *prompt, char **text)
{
    interrupted = 0;
    char *line = sql_prompt_line(prompt, *text != NULL);
    if (!interrupted)
        return line;
    free(line);
    free(*text);
    *text = NULL;
    sql_prompt_drop_line(prompt);
    return memory_copy_string("");
}

/* Statements may take several lines; the line's end stays, since a comment of SQL goes as far as that. */
static char *joined(char *text, const char *line)
{
    size_t length = 0, more = strlen(line);
    if (text)
        length = strlen(text);
    text = memory_resize(text, length + more + 2);
    memcpy(text + length, line, more);
    memcpy(text + length + more, "\n", 2);
    return text;
}

static enum status run_typed(struct session *session, const char *text, bool terminal, struct error *err)
{
    if (*text != '.')
        running = session->sql;
    enum status status = run_text(session, text, err);
    running = NULL;
    output_flush(session->output); /* someone is waiting for it */
    if (status != STATUS_FAILED || !terminal)
        return status;
    command_fault(err);
    *err = (struct error){0};
    return STATUS_OK;
}

static enum status run_prompt(struct session *session, struct error *err)
{
    struct sql_prompt *prompt = sql_prompt_new();
    bool terminal = sql_prompt_is_terminal(prompt);
    char *text = NULL, *line;
    enum status status = STATUS_OK;
    if (terminal) /* a script is ended by Ctrl-C as a whole */
        catch_interrupts();
    while (status == STATUS_OK && (line = next_line(prompt, &text))) {
        if (!text && (strncmp(line, ".quit", 5) == 0 || strncmp(line, ".exit", 5) == 0)) {
            free(line);
            break;
        }
        if (!text && *line == '.') {
            status = run_typed(session, line, terminal, err);
        } else if (text || *line) {
            text = joined(text, line);
            if (sql_is_complete(text)) {
                status = run_typed(session, text, terminal, err);
                free(text);
                text = NULL;
            }
        }
        free(line);
    }
    /* a last statement without its semicolon, as `sight sql < file` may have */
    if (text && status == STATUS_OK)
        status = run_typed(session, text, terminal, err);
    free(text);
    sql_prompt_free(prompt);
    return status;
}

/* Only now: a trace is read when a table of it is, and not at all where none is asked about. */
static int damage_of(const struct session *session)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < session->trace_count; i++) {
        int64_t last_ns;
        const struct trace_end *end = query_trace_end(session->traces[i], &last_ns);
        if (end && run_report_damage(end, last_ns) != EXIT_DONE)
            code = EXIT_DAMAGED;
    }
    return code;
}

/* Asks, or saves, into the output. */
static enum status answer(struct session *session, const char *query, struct error *err)
{
    const struct sql_options *options = session->options;
    struct target_options target = options->target;
    if (options->save)
        target.path = options->save;
    uint32_t width = run_width(&options->width, &options->target, WIDTH_LEAST);
    session->output = run_open(&target, err);
    if (!session->output)
        return STATUS_FAILED;
    session->printer = sql_printer_new(session->output, format_of(options->format), width);
    enum status status;
    if (options->save)
        status = sql_save(session->sql, session->output, err);
    else if (query)
        status = run_text(session, query, err);
    else
        status = run_prompt(session, err);
    progress_end(&session->asking.progress);
    sql_printer_free(session->printer);
    struct error closing = {0};
    if (status == STATUS_OK)
        return output_close(session->output, true, err);
    /* the first fault is the one to report */
    return output_close(session->output, false, &closing) == STATUS_OK ? status : STATUS_FAILED;
}

static enum status session_run(struct session *session, struct error *err)
{
    const struct sql_options *options = session->options;
    char **inputs = options->common.inputs;
    size_t count = options->common.input_count;
    const char *query = count > 0 && is_query(inputs[count - 1]) ? inputs[--count] : NULL;
    struct sql_limits limits = limits_of(options);
    /* --save writes a database, into which a result has no place */
    if (query && options->save)
        return error_set(err, ERROR_USAGE, "--save writes whole tables: it goes without a query");
    if (open_traces(session, count, err) != STATUS_OK)
        return STATUS_FAILED;
    session->sql = sql_open(session->traces, session->trace_count, &limits, err);
    return session->sql ? answer(session, query, err) : STATUS_FAILED;
}

int cmd_sql(const struct command *command, const struct sql_options *options)
{
    (void)command;
    struct error err = {0};
    struct session session = {.options = options};
    asking_begin(&session.asking, &options->common, &options->trace, 0);
    enum status status = session_run(&session, &err);
    asking_end(&session.asking);
    sql_close(session.sql);
    int code = status == STATUS_OK ? damage_of(&session) : command_fault(&err);
    for (size_t i = 0; i < session.trace_count; i++)
        query_trace_free(session.traces[i]);
    free(session.traces);
    free(session.paths);
    return code;
}

#else

int cmd_sql(const struct command *command, const struct sql_options *options)
{
    (void)options;
    return command_usage(command, "this build has no SQLite: install libsqlite3-dev and build again");
}

#endif
