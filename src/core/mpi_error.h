/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_MPI_ERROR_H
#define SIGHT_CORE_MPI_ERROR_H

#include <stdbool.h>
#include <stdint.h>

/* Classes of errors of the MPI standard, as recordings number them: 1 + the row in mpi_errors.def. */

/* True for numbers of that list. */
bool mpi_error_known(uint32_t number);

/* "MPI_ERR_TRUNCATE"; NULL for other numbers. */
const char *mpi_error_name(uint32_t number);

#endif
