/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TESTS_UNIT_HAND_RECORDING_H
#define SIGHT_TESTS_UNIT_HAND_RECORDING_H

#include "core/mpi_function.h"
#include "core/record_format.h"
#include "unit/tap.h"

#include <unistd.h>

/* Recordings made by hand, for tests of what reads them. */

/* The header of a process of a program on this host that is not known to have ended. No process has its number. */
TAP_UNUSED static struct record_header hand_header(int rank, int processes)
{
    struct record_header header = {.magic = RECORD_MAGIC,
                                   .version = RECORD_VERSION,
                                   .block_size = RECORD_BLOCK_MIN,
                                   .function_count = (uint32_t)mpi_function_count(),
                                   .rank = rank,
                                   .size = processes,
                                   .world = 1,
                                   .pid = 0x7fffff00U + (uint32_t)rank,
                                   .end = RECORD_RUNNING,
                                   .clock = RECORD_CLOCK_MONOTONIC,
                                   .first_definition = RECORD_HEADER_SIZE + RECORD_BLOCK_HEAD};
    gethostname(header.host_name, sizeof header.host_name - 1);
    return header;
}

#endif
