/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/same_hosts.h"

#include "cli/program.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

struct words {
    char **word;
    size_t count;
};

static void words_add(struct words *words, const char *const *more, size_t count)
{
    words->word = memory_resize(words->word, (words->count + count) * sizeof *words->word);
    memcpy(words->word + words->count, more, count * sizeof *more);
    words->count += count;
}

/* Programs of several parts are separated by a word of their own: mpiexec -n 1 ./a : -n 3 ./b */
static size_t part_length(char *const *words, size_t count)
{
    size_t length = 0;
    while (length < count && strcmp(words[length], ":") != 0)
        length++;
    return length;
}

/* How many words of a part stand before its program; `count`: none is known for one. */
static size_t words_before_program(char *const *part, size_t count)
{
    struct program program = program_find(part, count);
    size_t before = 0;
    while (before < count && part[before] != program.name)
        before++;
    /* That could be the value of an option, such as what the launcher calls in place of ssh. */
    if (before > 0 && before < count && program.kind == MPI_KIND_NONE && part[before - 1][0] == '-')
        return count;
    return before;
}

/* False: a part has no known program. */
static bool words_make(struct words *words, char *const *command, size_t count, const char *const *instead,
                       size_t instead_count)
{
    const char *const *word = (const char *const *)command;
    words_add(words, word, 1); /* the launcher, which is a program too */
    for (size_t at = 1; at <= count;) {
        size_t length = part_length(command + at, count - at);
        size_t before = words_before_program(command + at, length);
        if (before == length)
            return false;
        words_add(words, word + at, before);
        words_add(words, instead, instead_count);
        at += length;
        if (at < count)
            words_add(words, word + at, 1);
        at++;
    }
    return true;
}

enum status same_hosts_run(char *const *command, size_t count, const char *const *instead, size_t instead_count,
                           bool *started, struct launch_result *result, struct error *err)
{
    struct words words = {0};
    enum status status = STATUS_OK;
    *started =
        count > 0 && program_is_launcher(command[0]) && words_make(&words, command, count, instead, instead_count);
    if (*started)
        status = launch(words.word, words.count, NULL, NULL, result, err);
    free(words.word);
    return status;
}
