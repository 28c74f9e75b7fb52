! SPDX-License-Identifier: BSD-3-Clause
program ring_mpifh
    implicit none
    include 'mpif.h'
    integer :: rank, size, next, before, ierror, i, world, requests(2), status(MPI_STATUS_SIZE)
    integer :: in(100), out(100) = 0
    character(len=80) :: line, line2
    call mpi_init(ierror)
    include 'ring_body.inc'
end program
