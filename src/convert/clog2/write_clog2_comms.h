/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_WRITE_CLOG2_COMMS_H
#define SIGHT_CONVERT_CLOG2_WRITE_CLOG2_COMMS_H

#include "convert/clog2/write_clog2_record.h"

/* Communicators of a CLOG-2 file: records, ranks, UUIDs, and the table at the end. */

/* Finds the source's world, or makes one up: MPE's tools need one. */
void clog2_find_world(struct clog2_writer *clog2);

/* Communicator and rank of a process in it, as in records; unknown ones are in the world. */
void clog2_put_side(struct clog2_writer *clog2, int32_t comm, uint32_t process, int32_t *comm_id, int32_t *rank);

/* The UUID of a communicator with this id: the source's, or one made up. */
void clog2_comm_uuid(const struct clog2_writer *clog2, int32_t comm, int32_t id, unsigned char uuid[COMM_UUID_SIZE]);

/* A UUID for a communicator that the source has none for: its id makes it one of its kind within the file. */
void clog2_made_up_uuid(unsigned char uuid[COMM_UUID_SIZE], int32_t id, bool window);

/* A record of step, communicator, rank in it and world rank. A UUID of NULL is left out. */
void clog2_write_comm(struct clog2_writer *clog2, const struct clog2_place *place, const int32_t numbers[4],
                      const unsigned char *uuid);

/* The record of EVENT_COMM_MADE or EVENT_COMM_FREED. */
void clog2_write_comm_event(struct clog2_writer *clog2, const struct clog2_place *place, const struct event *event);

/* The table, which follows the last block. */
void clog2_write_table(struct clog2_writer *clog2);

#endif
