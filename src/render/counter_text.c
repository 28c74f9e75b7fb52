/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/counter_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { UNIT_MOST = 12 };

/* Units with a prefix of their own, as plain ones. */
static const struct {
    const char *unit, *plain;
    double scale;
} prefixed[] = {{"kHz", "Hz", 1e3}, {"MHz", "Hz", 1e6}, {"GHz", "Hz", 1e9}, {"uJ", "J", 1e-6}};

static void drop_zeros(char *digits)
{
    size_t length = strlen(digits);
    /* Zeros of an exponent are digits like others. */
    if (!strchr(digits, '.') || strchr(digits, 'e'))
        return;
    while (digits[length - 1] == '0')
        length--;
    if (digits[length - 1] == '.')
        length--;
    digits[length] = '\0';
}

/* With three digits and a prefix of its unit: "2.41 G", "950 kHz", "12". */
static void short_number(char buffer[TEXT_NUMBER_SIZE], double value, const char *unit, const char *per)
{
    static const struct {
        const char *name;
        double size;
    } prefixes[] = {{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"", 1}};
    char digits[TEXT_NUMBER_SIZE];
    size_t at = 0;
    while (prefixes[at].size > 1 && fabs(value) < 0.9995 * prefixes[at].size)
        at++;
    double number = value / prefixes[at].size, size = fabs(number);
    int decimals = 2;
    if (size >= 100)
        decimals = 0;
    else if (size >= 10)
        decimals = 1;
    if (size > 0 && size < 0.1)
        snprintf(digits, sizeof digits, "%.3g", number);
    else
        snprintf(digits, sizeof digits, "%.*f", decimals, number);
    drop_zeros(digits);
    bool blank = *prefixes[at].name || *unit;
    buffer[0] = '\0';
    text_append(buffer, TEXT_NUMBER_SIZE, "%s%s%s%.*s%s", digits, blank ? " " : "", prefixes[at].name,
                text_beginning(unit, UNIT_MOST), unit, per);
}

char *counter_text(char buffer[TEXT_NUMBER_SIZE], const char *unit, bool rate, double value)
{
    const char *per = rate ? "/s" : "";
    bool time = strcmp(unit, "ns") == 0;
    if (time && rate)
        return text_share(buffer, value / 1e9);
    if (time)
        return text_duration(buffer, (int64_t)llrint(fmin(fmax(value, -9e18), 9e18)));
    if (strcmp(unit, "B") == 0) {
        char bytes[TEXT_NUMBER_SIZE];
        buffer[0] = '\0';
        text_append(buffer, TEXT_NUMBER_SIZE, "%s%s%s", value < 0 ? "-" : "",
                    text_bytes(bytes, text_whole(fabs(value))), per);
        return buffer;
    }
    double scale = 1;
    for (size_t i = 0; i < sizeof prefixed / sizeof *prefixed; i++)
        if (strcmp(unit, prefixed[i].unit) == 0) {
            unit = prefixed[i].plain;
            scale = prefixed[i].scale;
            break;
        }
    if (rate && strcmp(unit, "J") == 0) {
        unit = "W";
        per = "";
    }
    short_number(buffer, value * scale, unit, per);
    return buffer;
}

char *counter_amount_text(char buffer[TEXT_NUMBER_SIZE], const char *unit, double value)
{
    /* Above this a double has no single ones. */
    bool counts = *unit == '\0' && value >= 0 && value < 9e15;
    if (isnan(value))
        snprintf(buffer, TEXT_NUMBER_SIZE, "-");
    else if (counts && (value == floor(value) || value >= 1000))
        text_thousands(buffer, text_whole(value));
    else
        counter_text(buffer, unit, false, value);
    return buffer;
}
