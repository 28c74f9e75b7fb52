! SPDX-License-Identifier: BSD-3-Clause
program ring_f08
    use mpi_f08
    implicit none
    integer :: rank, size, next, before, ierror, i
    type(MPI_Comm) :: world
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: status
    integer :: in(100), out(100) = 0
    character(len=80) :: line, line2
    call mpi_init(ierror)
    include 'ring_body.inc'
end program
