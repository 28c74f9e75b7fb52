/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_WRITE_CLOG2_SAMPLES_H
#define SIGHT_CONVERT_CLOG2_WRITE_CLOG2_SAMPLES_H

#include "convert/clog2/write_clog2_record.h"

/* Samples in a CLOG-2 file: several of a process in one record (struct sample_pack). */

/* Finds the mark that stands for samples, or gives one an id where the source has none. */
void clog2_find_samples_mark(struct clog2_writer *clog2);

/* Adds a sample to those of its process; a full pack is written. */
void clog2_put_sample(struct clog2_writer *clog2, const struct event *event);

/* Writes those of a process that wait, at a time not before any of them. */
void clog2_write_pack(struct clog2_writer *clog2, struct sample_pack *pack, int64_t time_ns);

#endif
