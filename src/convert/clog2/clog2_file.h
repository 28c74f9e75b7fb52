/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_CLOG2_FILE_H
#define SIGHT_CONVERT_CLOG2_CLOG2_FILE_H

#include "convert/clog2/clog2_format.h"
#include "core/bytes.h"
#include "core/error.h"
#include "core/input.h"

#include <stdbool.h>
#include <stdint.h>

/* One CLOG-2 file as a sequence of records: preamble, blocks, damage. read_clog2.c interprets the records. */

struct clog2_preamble {
    uint32_t version; /* 244 for CLOG-02.44 */
    bool big_endian, finalized;
    uint32_t block_size;
    uint32_t processes, threads; /* as stated; 0: not stated */
    uint64_t table_at;           /* offset of the communicator table; 0: none */
    bool states_table;           /* version states where the table is (from 02.42 on) */
};

struct reader;
struct clog2_file {
    struct reader *reader; /* for damage */
    struct input *input;   /* borrowed */
    struct clog2_preamble preamble;
    uint8_t sizes[CLOG2_KINDS]; /* of whole records */
    uint8_t header_size, kind_at;
    uint64_t block_left; /* bytes of the block that are not consumed */
    uint64_t used;       /* offset after the last good record */
    bool quiet;          /* second pass: the damage has been noted */
    bool ended;          /* no more records */
    bool end_of_log;     /* the end-of-log record was met */
    uint64_t counts[CLOG2_KINDS];
};

/* True if the bytes begin a CLOG-2 file. */
bool clog2_is_file(const unsigned char *data, size_t size);

/* Reads the preamble at the start of `input`; the first record is next. */
enum status clog2_file_open(struct clog2_file *file, struct reader *reader, struct input *input, struct error *err);

/* Back to the first record of an input that was rewound or opened again. */
enum status clog2_file_restart(struct clog2_file *file, struct input *input, struct error *err);

enum status clog2_file_slow(struct clog2_file *file, uint32_t *kind, struct error *err);

/* The next record, whole at input->at: its kind (never an end). STATUS_END: end-of-log or the file's end. Then
   clog2_file_take it. */
static inline enum status clog2_file_next(struct clog2_file *file, uint32_t *kind, struct error *err)
{
    if (input_available(file->input) >= CLOG2_RECORD_MAX && file->block_left >= CLOG2_RECORD_MAX) {
        *kind = bytes_u32(file->input->at + file->kind_at, file->preamble.big_endian);
        if (*kind > CLOG2_ENDBLOCK && *kind < CLOG2_KINDS)
            return STATUS_OK;
    }
    return clog2_file_slow(file, kind, err);
}

static inline void clog2_file_take(struct clog2_file *file, uint32_t kind)
{
    input_consume(file->input, file->sizes[kind]);
    file->block_left -= file->sizes[kind];
    file->counts[kind]++;
}

/* After the last block: moves to the communicator table. STATUS_END: there is none, or the file ends before it. */
enum status clog2_file_to_table(struct clog2_file *file, struct error *err);

/* Notes damage at the current record. */
void clog2_file_damage(struct clog2_file *file, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
