/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/mpi_error.h"

#include <stddef.h>

static const char *const names[] = {
#define MPI_ERROR_CLASS(NAME) "MPI_ERR_" #NAME,
#include "core/mpi_errors.def"
#undef MPI_ERROR_CLASS
};

bool mpi_error_known(uint32_t number)
{
    return number > 0 && number <= sizeof names / sizeof *names;
}

const char *mpi_error_name(uint32_t number)
{
    return mpi_error_known(number) ? names[number - 1] : NULL;
}
