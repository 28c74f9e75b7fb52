/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_DUMPI_CALL_H
#define SIGHT_CONVERT_DUMPI_CALL_H

#include "core/bytes.h"
#include "core/input.h"

/* One call of a DUMPI file: its times and its arguments, which dumpi_calls.def names by letters. The numbers:

     n t  what is given: count (of vectors: blocks), datatype     N U  what is got: count (of vectors: in a block),
   datatype d s  destination, source       g G  tag, tag of what is received     c    communicator           r request
     x    index of a request        f    flag, reordering                 o    root                   m    own rank in c
     k K  colour, key               v    communicator that is made        u z  group, group that is made
     y    datatype that is made     e    target                           w F  window, file
     i h b l  other numbers of 4, 2, 1 and 8 bytes

   The arrays, each with its length (i32) before it:

     R requests   X indices   q p  numbers of what is given and got; of constructors, lengths   A other numbers
     T Y H  of 2 bytes   B C  of 1   S statuses   V of C   W of A   3 of V

   J and D are A, but one number before versions 0.6.9 and 0.6.8; E is V, with one more number before 0.6.2. What
   follows a ? is there only at the root. */

enum { DUMPI_LETTERS = 64, DUMPI_CALL_MOST = 1 << 26 };

struct dumpi_array {
    size_t at; /* byte of the call, after the length */
    int32_t count;
};

struct dumpi_call {
    uint16_t function, thread;
    uint8_t mask;
    uint64_t byte; /* where it begins */
    int64_t enter_ns, leave_ns;
    uint64_t has; /* bits of letters - 'A' */
    int64_t number[DUMPI_LETTERS];
    struct dumpi_array array[DUMPI_LETTERS];
    size_t status_size;
    size_t length;             /* bytes in the file */
    const unsigned char *data; /* those; valid until the next call is read */
};

struct dumpi_status {
    int64_t bytes;
    int32_t source, tag;
    bool cancelled;
};

/* True if the call has what this letter stands for. */
static inline bool dumpi_has(const struct dumpi_call *call, char letter)
{
    return (call->has >> (letter - 'A') & 1) != 0;
}

/* What it is; 0 if the call has none. */
static inline int64_t dumpi_number(const struct dumpi_call *call, char letter)
{
    return call->number[letter - 'A'];
}

static inline int32_t dumpi_count(const struct dumpi_call *call, char letter)
{
    return dumpi_has(call, letter) ? call->array[letter - 'A'].count : 0;
}

/* A member of an array of numbers of 4 bytes. */
static inline int32_t dumpi_at(const struct dumpi_call *call, char letter, int32_t index)
{
    return bytes_i32(call->data + call->array[letter - 'A'].at + 4 * (size_t)index, true);
}

/* A member of an array of numbers of 2 bytes. */
static inline uint16_t dumpi_short_at(const struct dumpi_call *call, char letter, int32_t index)
{
    const unsigned char *at = call->data + call->array[letter - 'A'].at + 2 * (size_t)index;
    return (uint16_t)(at[0] << 8 | at[1]);
}

/* False: there is none of that index. */
bool dumpi_status(const struct dumpi_call *call, int32_t index, struct dumpi_status *status);

/* What a call's arguments are decoded with. */
struct dumpi_cursor {
    struct input *input;
    size_t used; /* bytes of the call, from input->at on */
    uint8_t version[3];
    bool cut, damaged; /* the file ends in the call; a length is none */
    bool failed;       /* it could not be read: see the error */
};

/* Decodes arguments by their signature, from the cursor on. */
void dumpi_arguments(struct dumpi_cursor *cursor, const char *signature, struct dumpi_call *call, struct error *err);

/* Big-endian numbers at the cursor. */
uint64_t dumpi_take(struct dumpi_cursor *cursor, size_t bytes, struct error *err);

/* True from this version of the format on. */
static inline bool dumpi_version_is(const uint8_t version[3], uint8_t major, uint8_t minor, uint8_t patch)
{
    int have = version[0] << 16 | version[1] << 8 | version[2], want = major << 16 | minor << 8 | patch;
    return have >= want;
}

#endif
