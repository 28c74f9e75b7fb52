/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_TEXT_H
#define SIGHT_CORE_TEXT_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXT_NUMBER_SIZE = 32 };

/* Writes `value` with thousands separators ("40,108,032") into a buffer of TEXT_NUMBER_SIZE; returns the buffer. */
char *text_thousands(char buffer[TEXT_NUMBER_SIZE], uint64_t value);

/* The same as a value, for a process's number or a count in a sentence: printf("process %s", text_number(rank).text).
 */
struct number_text {
    char text[TEXT_NUMBER_SIZE];
};
struct number_text text_number(uint64_t value);

/* The last part of a path, a part of it: the file without its folders. The whole path where nothing stands after the
   last "/". */
const char *text_file_name(const char *path);

/* The word for one, or for any other number: text_plural(count, "it does", "they do"). */
const char *text_plural(uint64_t count, const char *one, const char *many);

/* Times from these on are written in hours and in days, where seconds would have more digits than a reader compares. */
#define TEXT_HOUR_NS 3.6e12
#define TEXT_DAY_NS 8.64e13
#define TEXT_HOURS_FROM_NS 9999.5e9
#define TEXT_DAYS_FROM_NS (47.95 * TEXT_HOUR_NS)

/* A time with three significant digits and a unit that keeps it readable: "1.23 s", "45.6 ms", "789 µs", "12 ns"; "0".
 */
char *text_duration(char buffer[TEXT_NUMBER_SIZE], int64_t ns);

/* Bytes as "512 B", "66 kB", "1.2 GB" (powers of 1000). */
char *text_bytes(char buffer[TEXT_NUMBER_SIZE], uint64_t bytes);

/* A share in [0,1] as whole per cent from 10 %, with one decimal below and where nearly all would read as all; 0 is "0
   %", and anything above it at least "< 0.1 %". */
char *text_share(char buffer[TEXT_NUMBER_SIZE], double share);

/* "2.5", "11": how many times as fast something is. */
char *text_times(char buffer[TEXT_NUMBER_SIZE], double ratio);

/* Writes digits of `value`, no terminator; returns the end. At most 20 bytes. */
char *text_put_u64(char *at, uint64_t value);

/* Latin-1 bytes as UTF-8, and back. Both return a new string (free()). Back: a character beyond Latin-1 becomes '?'. */
char *text_from_latin1(const char *bytes, size_t length);
char *text_to_latin1(const char *utf8);

/* Bytes of the UTF-8 character that begins `bytes`, which has `left` of them: 1 to 4; 0 where none does. */
size_t text_character(const char *bytes, size_t left);

/* True if Latin-1 has all letters of these bytes of UTF-8. */
bool text_fits_latin1(const char *utf8, size_t length);

/* Bytes that are UTF-8 as they are, others as Latin-1: of formats that do not say which they have. A new string. */
char *text_from_bytes(const char *bytes, size_t length);

/* The time at which a file says it was made, UTC, in strftime()'s format: SOURCE_DATE_EPOCH where that is set, so that
   the same run gives the same file. */
void text_date(char *buffer, size_t size, const char *format);

/* True if the first `length` bytes of a text end so. */
bool text_ends_with(const char *text, size_t length, const char *end);

/* At most `most` bytes of UTF-8, without parting a character: for "%.*s". */
int text_beginning(const char *utf8, int most);

/* Appends to a text in a buffer of `size` bytes; what does not fit is cut after a whole character. */
void text_append(char *buffer, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);

/* Removes an incomplete character at the end of UTF-8 that was cut to a number of bytes. */
void text_end_whole(char *utf8);

/* The whole number nearest to `value`, within the range of a count. */
uint64_t text_whole(double value);

/* Reads a whole decimal integer of `text` (optional sign); false if it is none or leaves [min, max]. */
bool text_parse_i64(const char *text, int64_t min, int64_t max, int64_t *value);

/* Reads a number of bytes: "64k", "10G", "1e9" (k, M, G, T: powers of 1000); false if it is none, or beyond 9e18. */
bool text_parse_bytes(const char *text, double *bytes);

/* Reads a time: "90", "90s", "250ms", "10m", "2h", "1d", with decimals; false if it is none, or not above 0. */
bool text_parse_time(const char *text, int64_t *ns);

#endif
