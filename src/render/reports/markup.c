/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/markup.h"

#include <glib.h>
#include <string.h>

static const char *entity(unsigned char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\t':
    case '\n':
        /* Readers turn tabs and line ends in attributes into blanks in any case. */
        return " ";
    default:
        /* XML 1.0 allows no other control character, not even escaped. */
        if (c < 0x20 || c == 0x7F)
            return "\xEF\xBF\xBD";
        return NULL;
    }
}

static void write_valid(struct output *output, const char *text)
{
    const char *plain = text;
    for (const char *at = text; *at; at++) {
        const char *instead = entity((unsigned char)*at);
        if (!instead)
            continue;
        /* What needs no escaping is written in one piece: names are mostly plain. */
        output_write(output, plain, (size_t)(at - plain));
        output_text(output, instead);
        plain = at + 1;
    }
    output_text(output, plain);
}

void markup_write(struct output *output, const char *text)
{
    /* Names of files are any bytes. */
    char *valid = NULL;
    if (!g_utf8_validate(text, -1, NULL))
        valid = g_utf8_make_valid(text, -1);
    write_valid(output, valid != NULL ? valid : text);
    g_free(valid);
}
