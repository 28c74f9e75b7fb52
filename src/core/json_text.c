/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/json_text.h"

#include "core/memory.h"

#include <stdio.h>
#include <string.h>

enum { ESCAPED_MOST = 6 }; /* \u001f */

char *json_text(const char *utf8)
{
    char *text = memory_resize(NULL, strlen(utf8) * ESCAPED_MOST + sizeof "\"\""), *at = text;
    *at++ = '"';
    for (; *utf8; utf8++) {
        unsigned char c = (unsigned char)*utf8;
        if (c < 0x20 || c == 0x7f) {
            at += sprintf(at, "\\u%04x", c);
            continue;
        }
        if (c == '"' || c == '\\')
            *at++ = '\\';
        *at++ = (char)c;
    }
    memcpy(at, "\"", sizeof "\"");
    return text;
}
