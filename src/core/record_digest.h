/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_RECORD_DIGEST_H
#define SIGHT_CORE_RECORD_DIGEST_H

#include "core/record_format.h"

#include <stdbool.h>

/* Records become totals and are cut into segments, a block at a time: by the recorder where it keeps a sample only
   (record/keep.h), and by the merge for the blocks that the recorder had not digested when its process ended. Nothing
   is allocated on the way: the recorder may be in a signal handler.

   A segment ends with an anchor: a collective call that synchronises all processes. All of them make the same calls of
   that kind in the same order, so that all number their segments alike, without a message. At first every such call is
   an anchor; then the rarest of the frequent ones, as one of an iteration should be. Where anchors are missing for
   long, segments are slices of time. */

enum { RECORD_DIGEST_SITES = 1 << 16, RECORD_DIGEST_COMMS = 1 << 16, RECORD_DIGEST_IDS = 1 << 10 };

/* What is known of the id of an event of the program. */
enum record_id_role { RECORD_ID_UNKNOWN, RECORD_ID_MARK, RECORD_ID_START, RECORD_ID_END };
struct record_id {
    uint32_t id, used; /* used 0: a free place */
    uint32_t role;     /* enum record_id_role, of a description */
    uint32_t start;    /* of the state that it ends */
    uint32_t row;      /* in the totals, of the state that it begins, + 1 */
};

struct record_digest {
    struct record_totals *totals; /* updated; borrowed */
    int64_t ticks;                /* of the last record */
    uint32_t world;               /* processes */
    struct {
        uint32_t comm;
        uint32_t function;                /* + 1; 0: no such site */
    } * sites;                            /* by number */
    uint8_t *whole;                       /* by communicator: 1: of all processes */
    uint8_t row_of[RECORD_FUNCTIONS_MAX]; /* in the totals, + 1 */
    uint8_t
        anchor_of[RECORD_FUNCTIONS_MAX]; /* 1: synchronises all; 2: and all processes have the same number of bytes */
    uint32_t last_channel[RECORD_CHANNEL_KINDS];
    uint32_t *used, *stamps; /* channels of the current piece, and the piece that used each last */
    uint32_t used_count, stamp;
    uint32_t *index;       /* hash table of the totals' channels: place + 1 */
    struct record_id *ids; /* hash table of RECORD_DIGEST_IDS places */
    uint32_t id_count;
    bool definitions; /* there were some since this was set to false */
};

/* A digest without totals. False without memory. */
bool record_digest_open(struct record_digest *digest, uint32_t world, uint32_t channels);
void record_digest_close(struct record_digest *digest);

/* Empty totals with room for this many channels (a power of two). */
void record_totals_start(struct record_totals *totals, uint32_t channels);
size_t record_totals_size(uint32_t channels);

/* Makes these the totals of the digest: `totals` were written by it or another one. */
void record_digest_use(struct record_digest *digest, struct record_totals *totals);

/* Takes records from `at` on. Returns where it stopped: at `end`, at a word of 0, at what is no record (`bad`), or
   where a segment ended (`cut`): totals->segment is then the next one. */
const unsigned char *record_digest_run(struct record_digest *digest, const unsigned char *at, const unsigned char *end,
                                       bool *cut, bool *bad);

/* Only the definitions in a record: sites and communicators, which later records refer to. */
void record_digest_definition(struct record_digest *digest, const struct record_base *record);

/* The length of the record at `at`, of which `room` bytes are there; 0: it is none. */
size_t record_length(const unsigned char *at, size_t room);

/* True of records that are kept when those around them are not. */
bool record_is_definition(const struct record_base *record);

/* A new piece begins: no channel has been used in it. */
void record_digest_piece(struct record_digest *digest);

#endif
