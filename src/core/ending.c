/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/ending.h"

#include "core/mpi_error.h"
#include "core/payload.h"
#include "core/text.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Signals of real time have no abbreviation. */
static const char *signal_name(int32_t number)
{
    const char *name = sigabbrev_np(number);
    return name ? name : "?";
}

/* Of a process that left no note. */
static void say_died(char text[ENDING_TEXT_SIZE], int32_t code)
{
    if (code == SIGKILL)
        snprintf(text, ENDING_TEXT_SIZE, "was killed (SIGKILL, as by the kernel for lack of memory)");
    else if (code > 0)
        snprintf(text, ENDING_TEXT_SIZE, "was killed by signal %" PRId32 " (SIG%s)", code, signal_name(code));
    else if (code < 0)
        snprintf(text, ENDING_TEXT_SIZE, "ended with exit code %" PRId32 " by _exit() or exec", death_by_exit(code));
    else
        snprintf(text, ENDING_TEXT_SIZE,
                 "ended without a word (killed, for example by the kernel when memory ran out, or by _exit() or exec)");
}

char *ending_text(char text[ENDING_TEXT_SIZE], int32_t what, int32_t code)
{
    text[0] = '\0';
    if (what == PENDING_DIED) {
        say_died(text, code);
    } else if (what == PENDING_ERROR) {
        const char *class = mpi_error_name((uint32_t)code);
        snprintf(text, ENDING_TEXT_SIZE, "was ended by MPI for an error%s%s%s", class ? " (" : "", class ? class : "",
                 class ? ")" : "");
    } else if (what == PENDING_SIGNAL) {
        snprintf(text, ENDING_TEXT_SIZE, "crashed with signal %" PRId32 " (SIG%s)", code, signal_name(code));
    } else if (what == PENDING_EXIT) {
        snprintf(text, ENDING_TEXT_SIZE, "exited with code %" PRId32 " and without MPI_Finalize", code);
    }
    return text;
}

const char *ending_word(int32_t what, int32_t code)
{
    switch (what) {
    case PENDING_SIGNAL:
        return "crashed";
    case PENDING_EXIT:
        return "exited";
    case PENDING_ERROR:
        return "ended by MPI";
    case PENDING_DIED:
        return code > 0 ? "killed" : "died";
    default:
        return "";
    }
}

void endings_add(struct endings *endings, uint32_t process, int32_t what, int32_t code)
{
    const char *word = ending_word(what, code);
    if (!*word)
        return;
    if (endings->count > 0 && strcmp(endings->word, word) != 0)
        word = "ended early";
    if (endings->count < ENDINGS_NAMED)
        endings->process[endings->count] = process;
    endings->count++;
    endings->word = word;
}

char *endings_text(char text[ENDING_TEXT_SIZE], const struct endings *endings, size_t all)
{
    char first[TEXT_NUMBER_SIZE], second[TEXT_NUMBER_SIZE];
    if (endings->count == 1)
        snprintf(text, ENDING_TEXT_SIZE, "%s %s", text_thousands(first, endings->process[0]), endings->word);
    else if (endings->count == 2)
        snprintf(text, ENDING_TEXT_SIZE, "%s and %s %s", text_thousands(first, endings->process[0]),
                 text_thousands(second, endings->process[1]), endings->word);
    else if (endings->count == all)
        snprintf(text, ENDING_TEXT_SIZE, "all %s %s", text_thousands(first, all), endings->word);
    else
        snprintf(text, ENDING_TEXT_SIZE, "%s of %s %s", text_thousands(first, endings->count),
                 text_thousands(second, all), endings->word);
    return text;
}
