/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cli/sql_prompt.h"

#include "core/memory.h"
#include "query/tables.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_LIBEDIT
#include <editline/readline.h>
#endif

struct sql_prompt {
    bool terminal;
    char history[4096];
};

/* As in SQLite's shell: the second one says that the statement has not ended. */
static const char *prompt_of(bool more)
{
    return more ? "   ...> " : "sight> ";
}

#ifdef HAVE_LIBEDIT
enum { HISTORY_LINES = 1000 };

static const char *const words[] = {"SELECT",  "FROM",     "WHERE", "GROUP BY", "ORDER BY", "LIMIT",
                                    "JOIN",    "count(*)", "sum(",  "DISTINCT", "HAVING",   "BETWEEN",
                                    ".tables", ".schema",  ".help", ".quit"};

/* What begins like the text, one after the other: words of SQL, tables, columns. */
static char *next_completion(const char *text, int state)
{
    /* readline asks for one after the other; `state` 0 begins anew. Of a table its own name comes before its columns,
       so that `column` is one ahead. */
    static size_t word, table, column;
    if (state == 0)
        word = table = column = 0;
    size_t length = strlen(text);
    while (word < sizeof words / sizeof *words)
        if (strncasecmp(words[word++], text, length) == 0)
            return memory_copy_string(words[word - 1]);
    for (; table < QUERY_TABLES; table++, column = 0) {
        const struct query_table *at = query_table_at(table);
        if (column == 0 && column++ == 0 && strncmp(at->name, text, length) == 0)
            return memory_copy_string(at->name);
        while (column <= at->column_count)
            if (strncmp(at->columns[column++ - 1].name, text, length) == 0)
                return memory_copy_string(at->columns[column - 2].name);
    }
    return NULL;
}

static char **complete(const char *text, int start, int end)
{
    (void)start;
    (void)end;
    rl_attempted_completion_over = 1; /* else names of files are offered where nothing fits */
    return rl_completion_matches(text, next_completion);
}

static void begin_editing(struct sql_prompt *prompt)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    rl_readline_name = "sight";
    rl_initialize();
    rl_attempted_completion_function = complete;
    using_history();
    if (state && *state)
        snprintf(prompt->history, sizeof prompt->history, "%s/sight-sql-history", state);
    else if (home && *home)
        snprintf(prompt->history, sizeof prompt->history, "%s/.local/state/sight-sql-history", home);
    if (*prompt->history)
        read_history(prompt->history);
}

static char *edited_line(bool more)
{
    char *line = readline(prompt_of(more));
    if (line && *line)
        add_history(line);
    return line;
}

static void end_editing(struct sql_prompt *prompt)
{
    char *slash = strrchr(prompt->history, '/');
    if (!slash)
        return;
    *slash = '\0';
    mkdir(prompt->history, 0700); /* ~/.local/state may be missing; a fault shows when the history is written */
    *slash = '/';
    stifle_history(HISTORY_LINES);
    write_history(prompt->history);
}
#else
static void begin_editing(struct sql_prompt *prompt)
{
    (void)prompt;
}

static char *edited_line(bool more)
{
    char *line = NULL;
    size_t size = 0;
    fputs(prompt_of(more), stdout);
    fflush(stdout);
    if (getline(&line, &size, stdin) >= 0)
        return line;
    free(line);
    return NULL;
}

static void end_editing(struct sql_prompt *prompt)
{
    (void)prompt;
}
#endif

struct sql_prompt *sql_prompt_new(void)
{
    struct sql_prompt *prompt = memory_new(sizeof *prompt);
    prompt->terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (prompt->terminal)
        begin_editing(prompt);
    return prompt;
}

bool sql_prompt_is_terminal(const struct sql_prompt *prompt)
{
    return prompt->terminal;
}

char *sql_prompt_line(struct sql_prompt *prompt, bool more)
{
    char *line = NULL;
    size_t size = 0;
    if (prompt->terminal) {
        line = edited_line(more);
    } else if (getline(&line, &size, stdin) < 0) {
        free(line);
        line = NULL;
    }
    if (line)
        line[strcspn(line, "\r\n")] = '\0';
    return line;
}

void sql_prompt_drop_line(struct sql_prompt *prompt)
{
    if (!prompt->terminal)
        return;
    /* Standard input has seen an error, which is none. */
    clearerr(stdin);
    fputc('\n', stdout);
    fflush(stdout);
}

void sql_prompt_free(struct sql_prompt *prompt)
{
    if (prompt->terminal)
        end_editing(prompt);
    free(prompt);
}
