/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_VIEWER_VIEWER_ARGS_H
#define SIGHT_CONVERT_VIEWER_VIEWER_ARGS_H

#include "convert/viewer/viewer.h"

/* What an event says beside its time and name, as arguments: of a state its place in the source, payload and requests;
   of a message partner, tag, bytes and communicator; and so on. Only what is known. */
void viewer_args_of(struct viewer_args *args, const struct defs *defs, const struct event *event,
                    const unsigned char *arena);

void viewer_args_number(struct viewer_args *args, const char *key, int64_t number);
void viewer_args_text(struct viewer_args *args, const char *key, const char *text); /* NULL: not added */

/* The name of what stands for an event that is no state, and the kind of an event: borrowed. */
const char *viewer_event_name(const struct defs *defs, const struct event *event);
const char *viewer_event_category(const struct defs *defs, const struct event *event);

#endif
