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
        return " ";
    default:
        return c < 0x20 || c == 0x7F ? "\xEF\xBF\xBD" : NULL;
    }
}

static void write_valid(struct output *output, const char *text)
{
    const char *plain = text;
    for (const char *at = text; *at; at++) {
        const char *instead = entity((unsigned char)*at);
        if (!instead)
            continue;
        output_write(output, plain, (size_t)(at - plain));
        output_text(output, instead);
        plain = at + 1;
    }
    output_text(output, plain);
}

void markup_write(struct output *output, const char *text)
{
    /* Names of files are any bytes. */
    char *valid = g_utf8_validate(text, -1, NULL) ? NULL : g_utf8_make_valid(text, -1);
    write_valid(output, valid ? valid : text);
    g_free(valid);
}
