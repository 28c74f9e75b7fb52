/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_MPI_WRAP_H
#define SIGHT_RECORD_MPI_WRAP_H

/* A function that stands in front of the MPI library's own. */
#define EXPORT __attribute__((visibility("default")))

#endif
