/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/payload.h"

#include "core/bytes.h"
#include "core/event.h"
#include "core/numbers.h"

#include <string.h>

void payload_get_neighbours(const unsigned char *payload, size_t length, struct neighbours *neighbours)
{
    unsigned char whole[NEIGHBOURS_MARK_SIZE] = {0};
    /* A payload may be shorter, as in a damaged record: what is missing is 0. */
    memcpy(whole, payload, smaller(length, sizeof whole));
    neighbours->way = bytes_i32(whole, true);
    for (size_t i = 0; i < NEIGHBOURS_RANKS; i++)
        neighbours->ranks[i] = bytes_i32(whole + 4 + 4 * i, true);
}

void payload_put_neighbours(unsigned char payload[NEIGHBOURS_MARK_SIZE], const struct neighbours *neighbours)
{
    bytes_put_i32(payload, true, neighbours->way);
    for (size_t i = 0; i < NEIGHBOURS_RANKS; i++)
        bytes_put_i32(payload + 4 + 4 * i, true, neighbours->ranks[i]);
}

void payload_get_samples(const unsigned char *payload, size_t length, struct samples *samples)
{
    unsigned char whole[SAMPLES_MARK_SIZE] = {0};
    memcpy(whole, payload, smaller(length, sizeof whole));
    *samples = (struct samples){.ns = bytes_u32(whole, true)};
    for (const unsigned char *at = whole + 4; samples->count < SAMPLES_AT_ONCE && bytes_u32(at + 4, true); at += 8) {
        samples->before_ns[samples->count] = bytes_u32(at, true);
        samples->path[samples->count++] = bytes_u32(at + 4, true);
    }
}

void payload_put_samples(unsigned char payload[SAMPLES_MARK_SIZE], const struct samples *samples)
{
    memset(payload, 0, SAMPLES_MARK_SIZE);
    bytes_put_u32(payload, true, samples->ns);
    for (uint32_t i = 0; i < samples->count; i++) {
        bytes_put_u32(payload + 4 + 8 * i, true, samples->before_ns[i]);
        bytes_put_u32(payload + 8 + 8 * i, true, samples->path[i]);
    }
}

static const char *const words_formats[] = {[PAYLOAD_HAS_VALUE] = "value=%l",
                                            [PAYLOAD_HAS_TEXT] = "text=%s",
                                            [PAYLOAD_HAS_VALUE | PAYLOAD_HAS_TEXT] = "value=%l, text=%s"};
enum { WORDS_FORMATS = sizeof words_formats / sizeof *words_formats };

const char *payload_words_format(unsigned words)
{
    if (words < WORDS_FORMATS)
        return words_formats[words];
    return NULL;
}

unsigned payload_words_of(const char *format)
{
    unsigned words = WORDS_FORMATS - 1;
    while (words > 0 && !(format && strcmp(format, words_formats[words]) == 0))
        words--;
    return words;
}

bool payload_gives_moved(const char *format)
{
    return format && (strcmp(format, PAYLOAD_MOVED_FORMAT) == 0 || strcmp(format, PAYLOAD_TARGET_FORMAT) == 0);
}

void payload_get_moved(const unsigned char payload[PAYLOAD_MOVED_SIZE], struct event *event)
{
    int32_t root = bytes_i32(payload, true);
    int64_t sent = (int64_t)bytes_u64(payload + 4, true), received = (int64_t)bytes_u64(payload + 12, true);
    /* ROOT_SELF and ROOT_BESIDE are MPI_ROOT and MPI_PROC_NULL of intercommunicators; other negative numbers say
       nothing. */
    event->tag = root >= 0 || root == ROOT_SELF || root == ROOT_BESIDE ? root : EVENT_UNKNOWN;
    event->bytes_sent = sent < 0 ? BYTES_UNKNOWN : sent;
    event->bytes_received = received < 0 ? BYTES_UNKNOWN : received;
}

void payload_put_moved(unsigned char payload[PAYLOAD_MOVED_SIZE], const struct event *event)
{
    bool has_root = event->tag >= 0 || event->tag == ROOT_SELF || event->tag == ROOT_BESIDE;
    bytes_put_i32(payload, true, has_root ? event->tag : -1);
    bytes_put_u64(payload + 4, true, event->bytes_sent < 0 ? UINT64_MAX : (uint64_t)event->bytes_sent);
    bytes_put_u64(payload + 12, true, event->bytes_received < 0 ? UINT64_MAX : (uint64_t)event->bytes_received);
}

bool payload_mark_is_ours(const char *name)
{
    static const char *const ours[] = {REQUEST_MARK_NAME, BEGIN_MARK_NAME,      END_MARK_NAME,    RANKS_MARK_NAME,
                                       PENDING_MARK_NAME, NEIGHBOURS_MARK_NAME, SAMPLES_MARK_NAME};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(name, ours[i]) == 0)
            return true;
    return false;
}

bool payload_gives_requests(const char *format)
{
    return format && (strcmp(format, PAYLOAD_REQUESTS_FORMAT) == 0 || strcmp(format, PAYLOAD_REQUEST_FORMAT) == 0);
}

void payload_get_requests(const unsigned char *payload, size_t length, struct event *event)
{
    unsigned char whole[PAYLOAD_REQUESTS_SIZE] = {0};
    memcpy(whole, payload, smaller(length, sizeof whole));
    int32_t first = bytes_i32(whole, true), count = bytes_i32(whole + 4, true);
    /* 0: the call has no request. */
    if (first <= 0)
        return;
    event->request = (uint64_t)first;
    /* Records from before the count was written have one request. */
    event->requests = count > 0 ? (uint32_t)count : 1;
}

void payload_put_requests(unsigned char payload[PAYLOAD_REQUESTS_SIZE], const struct event *event)
{
    bytes_put_u32(payload, true, (uint32_t)event->request);
    bytes_put_u32(payload + 4, true, event->requests);
}

void payload_get_pending(const unsigned char *payload, size_t length, struct pending *pending)
{
    unsigned char whole[PENDING_MARK_SIZE] = {0};
    memcpy(whole, payload, smaller(length, sizeof whole));
    *pending = (struct pending){.what = bytes_i32(whole, true),
                                .partner = bytes_i32(whole + 4, true),
                                .tag = bytes_i32(whole + 8, true),
                                .how = bytes_i32(whole + 12, true),
                                .request = bytes_i32(whole + 16, true),
                                .partitions = bytes_i32(whole + 20, true),
                                .ready = bytes_i32(whole + 24, true)};
}

void payload_put_pending(unsigned char payload[PENDING_MARK_SIZE], const struct pending *pending)
{
    bytes_put_i32(payload, true, pending->what);
    bytes_put_i32(payload + 4, true, pending->partner);
    bytes_put_i32(payload + 8, true, pending->tag);
    bytes_put_i32(payload + 12, true, pending->how);
    bytes_put_i32(payload + 16, true, pending->request);
    bytes_put_i32(payload + 20, true, pending->partitions);
    bytes_put_i32(payload + 24, true, pending->ready);
}
