/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/payload.h"

#include <string.h>

static uint64_t big_endian(const unsigned char *payload, size_t length, size_t at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | (at + i < length ? payload[at + i] : 0);
    return value;
}

/* Bytes that the value at `at` takes, a text with its length. */
static size_t value_size(char letter, const unsigned char *payload, size_t length, size_t at)
{
    return letter == 's' ? 2 + (size_t)big_endian(payload, length, at, 2) : payload_size(letter);
}

/* True if the label that ends at `end` is the name and an equals sign. */
static bool is_label(const char *begin, const char *end, const char *name)
{
    size_t size = strlen(name);
    begin += strspn(begin, " ,;");
    return (size_t)(end - begin) == size + 1 && end[-1] == '=' && memcmp(begin, name, size) == 0;
}

bool payload_integer(const char *format, const unsigned char *payload, size_t length, const char *name, int64_t *value)
{
    size_t at = 0;
    for (const char *label = format; label;) {
        const char *percent = strchr(label, '%');
        size_t size = percent ? value_size(percent[1], payload, length, at) : 0;
        if (size == 0)
            return false;
        if (is_label(label, percent, name) && strchr("hdl", percent[1])) {
            uint64_t raw = big_endian(payload, length, at, size);
            *value = size == 2 ? (int16_t)raw : size == 4 ? (int32_t)raw : (int64_t)raw;
            return true;
        }
        at += size;
        label = percent + 2;
    }
    return false;
}
