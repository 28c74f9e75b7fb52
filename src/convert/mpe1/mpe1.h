/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_MPE1_MPE1_H
#define SIGHT_CONVERT_MPE1_MPE1_H

#include "convert/reader.h"

/* Shared by ALOG and CLOG, both formats of MPE-1: the meaning of event ids, names of functions, messages. */

enum {
    MPE1_SEND = -101, /* event ids of records */
    MPE1_RECEIVE = -102,
    MPE1_CONSTANT = -201,
    MPE1_USER_EVENTS = 500, /* ids below are the profiling library's own */
    MPE1_TEXT = 15          /* characters of texts and names that CLOG keeps */
};

enum { MPE1_NEAR = 1024 };
struct mpe1_ids {
    struct map roles;  /* event id -> index << 8 | kind + 1 */
    struct map states; /* hash of a definition's ids and texts -> index: finds repeated ones */
    struct map marks;
    uint64_t near[MPE1_NEAR]; /* the same for small ids, once used: nearly all are */
};
void mpe1_ids_clear(struct mpe1_ids *ids);

/* A state's definition: bytes as they are in the file, cut at a NUL. The first definition of ids wins; a repeated one
   is only counted, one with another text is kept as shadowed. MPE-1's own names become the MPI functions' (design: SEND
   is MPI_Send). */
void mpe1_define_state(struct mpe1_ids *ids, struct reader *reader, const int32_t numbers[3], const char *colour,
                       const char *name); /* numbers: state id (or EVENT_UNKNOWN), start, end */
void mpe1_define_mark(struct mpe1_ids *ids, struct reader *reader, int32_t id, const char *name);

/* Sets kind and state of an event by its id; an id that nothing defines becomes a mark named by its number. */
uint64_t mpe1_find_role(struct mpe1_ids *ids, struct reader *reader, int32_t id);
static inline void mpe1_set_role(struct mpe1_ids *ids, struct reader *reader, int32_t id, struct event *event)
{
    uint64_t role = (uint32_t)id < MPE1_NEAR ? ids->near[id] : 0;
    if (!role)
        role = mpe1_find_role(ids, reader, id);
    event->kind = (uint8_t)((role & 0xff) - 1);
    event->state = (uint32_t)(role >> 8);
}

/* Makes `event` a send or receive with `partner` and the "TAG SIZE" of its text. */
void mpe1_set_message(struct event *event, int32_t id, int64_t partner, const char *text, size_t length);

/* A decimal integer after blanks; false if there is none or it exceeds 64 bits. *at moves past it. */
bool mpe1_integer(const char **at, const char *end, int64_t *value);

#endif
