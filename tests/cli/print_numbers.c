/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of numbers: of each line of standard input, a kind and a number. For numbers.test, which compares them with
   those of the page. Kinds: "time" (ns), "bytes", "share"; or "value" and "rate" with the unit of a counter
   ("value:Hz"). */
#include "core/text.h"
#include "render/counter_text.h"

#include <stdio.h>
#include <string.h>

static const char *text_of(char buffer[TEXT_NUMBER_SIZE], const char *kind, double number)
{
    const char *unit = strchr(kind, ':');
    if (unit)
        return counter_text(buffer, unit + 1, *kind == 'r', number);
    if (strcmp(kind, "time") == 0)
        return text_duration(buffer, (int64_t)number);
    if (strcmp(kind, "bytes") == 0)
        return text_bytes(buffer, (uint64_t)number);
    return text_share(buffer, number);
}

int main(void)
{
    char kind[32], buffer[TEXT_NUMBER_SIZE];
    double number;
    while (scanf("%31s %lf", kind, &number) == 2)
        puts(text_of(buffer, kind, number));
    return 0;
}
