/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_OUTPUT_ZSTD_H
#define SIGHT_CORE_OUTPUT_ZSTD_H

#include "core/output_codec.h"

/* The codec of .zst files: frames of 1 MB with a seek_table.h after them, packed in several threads. See output_codec.h
   for what each function does. Memory: 4 MB for each thread, and what zstd takes. */

void *output_zstd_open(unsigned threads, bool hold);
enum encoded output_zstd_encode(void *state, struct output_flow *flow);
void output_zstd_patch(void *state, uint64_t offset, const void *data, size_t size);
const unsigned char *output_zstd_held(void *state, size_t *size);
void output_zstd_close(void *state);

#endif
