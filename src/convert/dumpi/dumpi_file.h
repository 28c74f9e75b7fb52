/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_DUMPI_FILE_H
#define SIGHT_CONVERT_DUMPI_FILE_H

#include "convert/dumpi/dumpi_call.h"

/* The file of one process: the index at its end, and its calls one after the other. */

enum { DUMPI_MAGIC_SIZE = 8 };
extern const unsigned char dumpi_magic[DUMPI_MAGIC_SIZE];

struct dumpi_file {
    struct input *input;
    bool borrowed; /* the input is somebody else's */
    bool indexed;  /* false: a run that was killed, or a file that cannot be read from the middle */
    uint64_t header, body, footer, sizes; /* 0: not there */
    uint8_t version[3];
    uint64_t started_s;          /* when the process began, in s since 1970; 0: not given */
    char *host;                  /* NULL: not given */
    uint16_t functions;          /* the number after the last one of MPI */
    int64_t cpu_ns, wall_ns;     /* what times count from */
    int64_t wrapped_ns, last_ns; /* seconds have 16 bits */
    bool counted;                /* the footer could be read */
    uint64_t calls, ignored;     /* by the footer: recorded, and switched off */
    uint64_t read;
};

enum dumpi_step { DUMPI_READ, DUMPI_ENDED, DUMPI_DAMAGED, DUMPI_FAILED };

/* NULL and a fault: it cannot be opened, or is none. */
struct dumpi_file *dumpi_file_open(const char *path, struct error *err);

/* The same of an input that is open, at its first byte, and stays so. */
struct dumpi_file *dumpi_file_borrow(struct input *input, struct error *err);

/* The next call. DUMPI_DAMAGED: there is no more that can be read, from call->byte on, and *wrong says why. */
enum dumpi_step dumpi_file_next(struct dumpi_file *file, struct dumpi_call *call, const char **wrong,
                                struct error *err);

/* Sizes of predefined datatypes by their number; those that the file does not give are as in 64-bit C. Fills up to
   `most`; returns how many there are. */
size_t dumpi_file_sizes(struct dumpi_file *file, int32_t *sizes, size_t most, struct error *err);

void dumpi_file_close(struct dumpi_file *file);

/* Name of a function by its number; NULL: there is none. */
const char *dumpi_function(uint16_t number);
size_t dumpi_function_count(void);

#endif
