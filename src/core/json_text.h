/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_JSON_TEXT_H
#define SIGHT_CORE_JSON_TEXT_H

/* UTF-8 as a string of JSON, in quotes: quotes, backslashes and control characters are escaped. free(). */
char *json_text(const char *utf8);

#endif
