/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/terminal_text.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "render/terminal.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

/* Length of the character at `at`; `shown`: it is one that a terminal shows, and that does not turn the order of the
   others. A byte that is no UTF-8 is a character of its own. */
static size_t character(const char *at, bool *shown)
{
    gunichar c = g_utf8_get_char_validated(at, -1);
    /* g_utf8_get_char_validated() marks errors by values beyond the last character of Unicode. */
    bool valid = c < 0x110000;
    /* Escape sequences of a name would change colours or move the cursor: C0, DEL and C1 are replaced. */
    /* Line separators, embeddings and isolates (U+2028 to U+202E, U+2066 to U+2069) turn the order of what follows. */
    bool control = c < 0x20 || (c >= 0x7F && c < 0xA0),
         turns = (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
    *shown = valid && !control && !turns;
    return valid ? (size_t)(g_utf8_next_char(at) - at) : 1;
}

/* Columns of a terminal that the character at `at` takes: none if it joins the one before, two for those of East Asia.
 */
static size_t character_columns(const char *at)
{
    gunichar c = (unsigned char)*at < 0x80 ? (gunichar)*at : g_utf8_get_char_validated(at, -1);
    if (c < 0x300 || c >= 0x110000)
        return 1;
    if (g_unichar_iszerowidth(c))
        return 0;
    return g_unichar_iswide(c) ? 2 : 1;
}

size_t terminal_columns(const char *text)
{
    size_t count = 0, length;
    bool shown;
    for (const char *at = text; *at; at += length) {
        length = character(at, &shown);
        count += shown ? character_columns(at) : 1;
    }
    return count;
}

/* Paths, and names with their namespace or class: "/" or "::", and blanks only within brackets. */
static bool says_most_at_its_end(const char *text)
{
    int depth = 0;
    /* A comment begins as a path does. */
    if (*text == '/' && text[1] != '*' && text[1] != '/')
        return true;
    for (const char *at = text; *at; at++) {
        depth += *at == '<' || *at == '(';
        depth -= *at == '>' || *at == ')';
        if (*at == ' ' && depth <= 0)
            return false;
    }
    return strstr(text, "::") || strchr(text, '/');
}

/* Of such a name: from where it and the mark of the cut fit; of a path whole parts. */
static const char *fitting_end(const char *text, size_t size, size_t columns)
{
    size_t count = terminal_columns(text), length;
    const char *at = text;
    for (bool shown; *at && (count + 1 > columns || strlen(at) + sizeof "…" > size); at += length) {
        length = character(at, &shown);
        count -= shown ? character_columns(at) : 1;
    }
    /* An operator of C++ may be a slash, too. */
    const char *slash = strstr(text, "::") ? NULL : strchr(at, '/');
    return slash && slash[1] ? slash : at;
}

void text_for_terminal(char *buffer, size_t size, const char *text, size_t columns)
{
    if (says_most_at_its_end(text) && terminal_columns(text) > columns) {
        memcpy(buffer, "…", sizeof "…" - 1);
        buffer += sizeof "…" - 1;
        size -= sizeof "…" - 1;
        text = fitting_end(text, size, columns--);
    }
    size_t used = 0, last = 0, count = 0, length;
    for (const char *at = text; *at; at += length) {
        bool shown;
        length = character(at, &shown);
        /* What is not shown is a question mark. */
        size_t wide = shown ? character_columns(at) : 1;
        /* Room for the mark of the cut is kept from the start, so that it never needs to be made afterwards. */
        if (count + wide > columns || used + length + sizeof "…" > size) {
            memcpy(buffer + last, "…", 3);
            used = last + 3;
            break;
        }
        /* The mark takes the place of the last character that leaves it one. */
        if (count < columns)
            last = used;
        count += wide;
        if (!shown) {
            buffer[used++] = '?';
            continue;
        }
        memcpy(buffer + used, at, length);
        used += length;
    }
    buffer[used] = '\0';
}

/* Bytes of the character at `at`. */
static size_t character_length(const char *at)
{
    bool shown;
    return (unsigned char)*at < 0x80 ? 1 : character(at, &shown);
}

/* Bytes of the begin of a text that fits into so many columns. */
static size_t fitting_length(const char *text, size_t columns)
{
    const char *at = text;
    for (size_t used = 0; *at; at += character_length(at)) {
        used += character_columns(at);
        if (used > columns)
            break;
    }
    return (size_t)(at - text);
}

/* True if the text continues with a unit, which must stay on the line of its number. */
static bool is_unit(const char *text)
{
    static const char *const units[] = {"%", "s", "ms", "µs", "ns", "B", "kB", "MB", "GB", "TB"};
    size_t length = strcspn(text, " ,.;:)");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == length && memcmp(text, units[i], length) == 0)
            return true;
    return false;
}

/* Bytes up to the next place where a line may end. */
static size_t word_length(const char *text)
{
    size_t length = strcspn(text, " ");
    /* "12 ms" is one word here: a line must not end between a number and its unit. */
    if (length > 0 && text[length] == ' ' && text[length - 1] >= '0' && text[length - 1] <= '9' &&
        is_unit(text + length + 1))
        length += 1 + strcspn(text + length + 1, " ");
    return length;
}

size_t paragraph_write(struct output *output, const char *first, const char *indent, const char *text)
{
    enum { COLUMNS = 80, WORD_SIZE = 256 };
    size_t column = 0, lines = 0;
    while (*text) {
        char word[WORD_SIZE];
        const char *margin = column > 0 ? indent : first;
        /* A word that is longer than a line goes on in the next. */
        size_t room = COLUMNS - smaller(terminal_columns(margin), COLUMNS / 2);
        size_t length = smaller(word_length(text), larger(fitting_length(text, room), 1));
        length = smaller(length, sizeof word - 1);
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        size_t width = terminal_columns(word);
        bool fits = column > 0 && column + 1 + width <= COLUMNS;
        /* Without an output only the lines are counted, by the same rules. */
        lines += !fits;
        const char *end = column > 0 ? "\n" : ""; /* of the line before */
        if (output && fits)
            output_print(output, " %s", word);
        else if (output)
            output_print(output, "%s%s%s", end, margin, word);
        column = fits ? column + 1 + width : terminal_columns(margin) + width;
        text += length;
        text += strspn(text, " ");
    }
    if (output)
        output_text(output, "\n");
    return lines;
}

void headline_write(struct output *output, const char *title, const char *facts)
{
    size_t size = strlen(title) + strlen(facts) + 8;
    char *line = memory_new(size);
    snprintf(line, size, "%s — %s", title, facts);
    paragraph_write(output, "", "  ", line);
    free(line);
}

void heading_write(struct output *output, const char *title)
{
    output_text(output, "\n");
    terminal_style(output, TERMINAL_BOLD);
    output_text(output, title);
    terminal_style(output, NULL);
    output_text(output, "\n");
}
