/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of functions that only call MPI for others, and of those that do not. */
#include "convert/record/record_wrappers.h"
#include "unit/tap.h"

#include <stddef.h>

static void names_of_wrappers(void)
{
    static const char *const names[][2] = {
        {"hypre_MPI_Waitall", "MPI_Waitall"},
        {"mpi_send", "MPI_Send"},
        {"MPI_Send", "MPI_Send"},
        {"my_mpi_all_reduce", "MPI_Allreduce"},
        {"MpiComm::allReduce", "MPI_Allreduce"},
        {"net::mpi::send(int, char*)", "MPI_Send"},
        {"MPISendImpl", "MPI_Send"},
        {"safe_mpi_comm_split_wrapper", "MPI_Comm_split"},
        {"mpiWaitAny", "MPI_Waitany"},
        {"__mpi_routines_MOD_mpi_bcast", "MPI_Bcast"},
        {"xMPI_Send", "MPI_Send"},
        {"boost::mpi::communicator::send_impl<int>", "MPI_Send"},
        {"Teuchos::MpiComm<std::pair<int, mpi::tag> >::barrier", "MPI_Barrier"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        tap_ok(wrapper_is_of(names[i][0], names[i][1]) && wrapper_may_be(names[i][0]), "%s is a wrapper of %s",
               names[i][0], names[i][1]);
}

static void other_names(void)
{
    static const char *const names[][2] = {
        {"main", "MPI_Send"},
        {"send", "MPI_Send"},
        {"exchange", "MPI_Sendrecv"},
        {"mpi_sender", "MPI_Send"},
        {"mpi_send_all", "MPI_Send"},
        {"mpi_target", "MPI_Get"},
        {"mpi_send", "MPI_Recv"},
        {"mpi", "MPI_Send"},
        {"", "MPI_Send"},
        {"compiler", "MPI_Send"},
        {"send_mpi", "MPI_Send"},
        {"run(MPI_Send)", "MPI_Send"},
        {"mpi_comm_loop", "MPI_Comm_dup"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        tap_ok(!wrapper_is_of(names[i][0], names[i][1]), "%s is no wrapper of %s", names[i][0], names[i][1]);
    tap_ok(!wrapper_may_be(NULL) && !wrapper_may_be("main") && !wrapper_may_be("mpi"), "of nothing");
}

int main(void)
{
    names_of_wrappers();
    other_names();
    return tap_done();
}
