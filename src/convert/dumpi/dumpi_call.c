/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/dumpi/dumpi_call.h"

#include <string.h>

enum { STATUS_STORED = 3 /* bits of the call's mask */ };

/* A length in a damaged file may be 2 GiB: no call of a real program has that many bytes of arguments. */
static bool need(struct dumpi_cursor *cursor, uint64_t bytes, struct error *err)
{
    if (cursor->cut || cursor->damaged || cursor->failed)
        return false;
    if (bytes > DUMPI_CALL_MOST || cursor->used + bytes > DUMPI_CALL_MOST) {
        cursor->damaged = true;
        return false;
    }
    enum status status = input_need(cursor->input, cursor->used + (size_t)bytes, err);
    cursor->cut = status == STATUS_END;
    cursor->failed = status == STATUS_FAILED;
    return status == STATUS_OK;
}

uint64_t dumpi_take(struct dumpi_cursor *cursor, size_t bytes, struct error *err)
{
    uint64_t number = 0;
    if (!need(cursor, bytes, err))
        return 0;
    for (size_t i = 0; i < bytes; i++)
        number = number << 8 | cursor->input->at[cursor->used++];
    return number;
}

/* The length of an array of elements of so many bytes, which are passed over. */
static struct dumpi_array take_array(struct dumpi_cursor *cursor, size_t size, struct error *err)
{
    int32_t count = (int32_t)(uint32_t)dumpi_take(cursor, 4, err);
    struct dumpi_array array = {.at = cursor->used, .count = count};
    if (count < 0)
        cursor->damaged = true;
    if (count <= 0 || !need(cursor, (uint64_t)count * size, err))
        array.count = 0;
    cursor->used += (size_t)array.count * size;
    return array;
}

/* Arrays of arrays, so deep. Each level costs at least four bytes of the file: however large a count is, the loop
   ends where the call does. */
static void skip_nested(struct dumpi_cursor *cursor, unsigned depth, size_t size, struct error *err)
{
    if (depth == 0) {
        take_array(cursor, size, err);
        return;
    }
    int32_t count = (int32_t)(uint32_t)dumpi_take(cursor, 4, err);
    for (int32_t i = 0; i < count && !cursor->cut && !cursor->damaged && !cursor->failed; i++)
        skip_nested(cursor, depth - 1, size, err);
}

static void skip_arguments_of_main(struct dumpi_cursor *cursor, struct error *err)
{
    int32_t count = (int32_t)(uint32_t)dumpi_take(cursor, 4, err);
    if (!dumpi_version_is(cursor->version, 0, 6, 2))
        dumpi_take(cursor, 4, err);
    for (int32_t i = 0; i < count && !cursor->cut && !cursor->damaged && !cursor->failed; i++)
        take_array(cursor, 1, err);
}

/* Bytes of a number by its letter; they all have a sign but handles. */
static int64_t take_number(struct dumpi_cursor *cursor, char letter, struct error *err)
{
    if (letter == 'l')
        return (int64_t)dumpi_take(cursor, 8, err);
    if (letter == 'b')
        return (int64_t)dumpi_take(cursor, 1, err);
    if (strchr("tUycvuzwFh", letter))
        return (int64_t)dumpi_take(cursor, 2, err);
    return (int32_t)(uint32_t)dumpi_take(cursor, 4, err);
}

static size_t element_size(const struct dumpi_call *call, char letter)
{
    if (letter == 'S')
        return call->status_size;
    if (strchr("TYH", letter))
        return 2;
    if (strchr("BC", letter))
        return 1;
    return 4;
}

/* Every argument must be taken, whether or not it is used: nothing else says where the next call begins. */
static void take_argument(struct dumpi_cursor *cursor, char letter, struct dumpi_call *call, struct error *err)
{
    if (letter == 'V' || letter == 'W') {
        skip_nested(cursor, 1, letter == 'V' ? 1 : 4, err);
    } else if (letter == '3') {
        skip_nested(cursor, 2, 1, err);
    } else if (letter == 'E') {
        skip_arguments_of_main(cursor, err);
        /* Lists that were a single number once. */
    } else if ((letter == 'J' && !dumpi_version_is(cursor->version, 0, 6, 9)) ||
               (letter == 'D' && !dumpi_version_is(cursor->version, 0, 6, 8))) {
        dumpi_take(cursor, 4, err);
    } else if (letter == 'S' && (call->mask & STATUS_STORED) == 0) {
        return;
    } else if (strchr("RXqpAJDTYHBCS", letter)) {
        call->array[letter - 'A'] = take_array(cursor, element_size(call, letter), err);
        call->has |= UINT64_C(1) << (letter - 'A');
    } else {
        call->number[letter - 'A'] = take_number(cursor, letter, err);
        call->has |= UINT64_C(1) << (letter - 'A');
    }
}

void dumpi_arguments(struct dumpi_cursor *cursor, const char *signature, struct dumpi_call *call, struct error *err)
{
    /* The tag came with version 0.6.3. */
    call->status_size = dumpi_version_is(cursor->version, 0, 6, 3) ? 14 : 10;
    for (const char *letter = signature; *letter && !cursor->cut && !cursor->damaged && !cursor->failed; letter++) {
        /* What follows is recorded at the root only: m is the process's own rank, o the root's. */
        if (*letter == '?' && dumpi_number(call, 'm') != dumpi_number(call, 'o'))
            letter++;
        else if (*letter != '?')
            take_argument(cursor, *letter, call, err);
    }
}

bool dumpi_status(const struct dumpi_call *call, int32_t index, struct dumpi_status *status)
{
    if (index < 0 || index >= dumpi_count(call, 'S'))
        return false;
    const unsigned char *at = call->data + call->array['S' - 'A'].at + call->status_size * (size_t)index;
    *status = (struct dumpi_status){.bytes = bytes_i32(at, true),
                                    .source = bytes_i32(at + 4, true),
                                    .cancelled = at[8] != 0,
                                    .tag = call->status_size > 10 ? bytes_i32(at + 10, true) : -1};
    return true;
}
