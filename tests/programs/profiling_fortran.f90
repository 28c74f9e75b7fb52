! SPDX-License-Identifier: BSD-3-Clause
! A tool in Fortran that is part of the program, and calls of PMPI_X. Lines say how many calls the trace has of them.
subroutine mpi_barrier(comm, ierr)
    implicit none
    integer :: comm, ierr
    call pmpi_barrier(comm, ierr)
end subroutine

subroutine modern()
    use mpi_f08
    integer :: one, all, i
    one = 1
    do i = 1, 6
        call PMPI_Allreduce(one, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD) ! 6 of each process
    end do
end subroutine

program profiling
    implicit none
    include 'mpif.h'
    integer :: ierr, rank, i, cart
    logical :: periods(1)
    call mpi_init(ierr)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
    do i = 1, 4
        call pmpi_bcast(rank, 1, MPI_INTEGER, 0, MPI_COMM_SELF, ierr) ! 4 of each process
    end do
    do i = 1, 3
        call mpi_barrier(MPI_COMM_WORLD, ierr) ! 3 of each process
    end do
    call modern()
    periods = .false.
    call pmpi_cart_create(MPI_COMM_SELF, 1, (/1/), periods, .false., cart, ierr) ! 1 of each process
    call carts()
    call mpi_finalize(ierr)
end program

! Here Open MPI's own library calls PMPI_X.
subroutine carts()
    use mpi_f08
    type(MPI_Comm) :: cart
    integer :: i
    logical :: periods(1)
    periods = .false.
    do i = 1, 5
        call MPI_Cart_create(MPI_COMM_SELF, 1, (/1/), periods, .false., cart) ! 5 of each process
    end do
end subroutine
