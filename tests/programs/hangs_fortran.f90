! SPDX-License-Identifier: BSD-3-Clause
! hangs_fortran NAME: programs in Fortran that hang, crash or poll, and some that are merely slow, as hangs.c;
! "hangs_fortran --list" prints their names with what is to be found of each, and from how many processes on.
module exchange
  use mpi
  implicit none
  integer, parameter :: tag = 7
  integer :: rank, processes, left, right, last, ierr
contains
  subroutine receive_from(from, with, comm)
    integer, intent(in) :: from, with, comm
    integer :: got
    call MPI_Recv(got, 1, MPI_INTEGER, from, with, comm, MPI_STATUS_IGNORE, ierr)
  end subroutine

  subroutine send_to(to, with, comm)
    integer, intent(in) :: to, with, comm
    call MPI_Send(rank, 1, MPI_INTEGER, to, with, comm, ierr)
  end subroutine

  ! Some iterations as they should be.
  subroutine work()
    integer :: i, in, out
    do i = 1, 10
      in = rank
      call MPI_Sendrecv(in, 1, MPI_INTEGER, right, tag, out, 1, MPI_INTEGER, left, tag, MPI_COMM_WORLD, &
                        MPI_STATUS_IGNORE, ierr)
      call MPI_Allreduce(in, out, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    end do
  end subroutine

  subroutine compute(seconds)
    double precision, intent(in) :: seconds
    double precision :: until
    until = MPI_Wtime() + seconds
    do while (MPI_Wtime() < until)
    end do
  end subroutine

  ! Without MPI calls, also for a recorder that is not asked for the time.
  subroutine compute_for_ever()
    real, volatile :: sum
    sum = 0
    do
      sum = sum + 1
    end do
  end subroutine

  subroutine wait_ring()
    integer :: got, request
    call work()
    call MPI_Irecv(got, 1, MPI_INTEGER, left, tag, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call send_to(right, tag, MPI_COMM_WORLD)
  end subroutine

  subroutine persistent_ring()
    integer :: got, request
    call MPI_Recv_init(got, 1, MPI_INTEGER, left, tag, MPI_COMM_WORLD, request, ierr)
    call MPI_Start(request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call send_to(right, tag, MPI_COMM_WORLD)
  end subroutine

  subroutine waitall_ring()
    integer :: got(2), requests(2), statuses(MPI_STATUS_SIZE, 2)
    call work()
    call MPI_Irecv(got(1), 1, MPI_INTEGER, left, tag, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Irecv(got(2), 1, MPI_INTEGER, right, tag + 1, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitall(2, requests, statuses, ierr)
    call send_to(right, tag, MPI_COMM_WORLD)
    call send_to(left, tag + 1, MPI_COMM_WORLD)
  end subroutine

  subroutine order_of_communicators()
    integer :: first, second
    call MPI_Comm_dup(MPI_COMM_WORLD, first, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, second, ierr)
    call work()
    call MPI_Barrier(merge(first, second, mod(rank, 2) == 1), ierr)
    call MPI_Barrier(merge(second, first, mod(rank, 2) == 1), ierr)
  end subroutine

  subroutine allreduce_or_barrier()
    integer :: out
    call work()
    if (mod(rank, 2) == 1) then
      call MPI_Allreduce(rank, out, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    else
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end subroutine

  subroutine wrong_tag()
    call work()
    if (rank == 0) call receive_from(1, tag, MPI_COMM_WORLD)
    if (rank == 1) call send_to(0, tag + 1, MPI_COMM_WORLD)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end subroutine

  subroutine tests()
    integer :: got, request
    logical :: done
    call work()
    if (rank == 0) then
      call MPI_Irecv(got, 1, MPI_INTEGER, 1, tag, MPI_COMM_WORLD, request, ierr)
      done = .false.
      do while (.not. done)
        call MPI_Test(request, done, MPI_STATUS_IGNORE, ierr)
      end do
    end if
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end subroutine

  subroutine slow_steps()
    integer :: i
    do i = 1, 10000
      call compute(0.01d0)
      call work()
    end do
  end subroutine

  subroutine slow_uneven()
    integer :: i
    do i = 1, 10000
      call compute(merge(0.2d0, 0.001d0, rank == 0))
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end do
  end subroutine
end module

! The same interfaces without the module of MPI.
subroutine old_ring()
  use exchange, only: rank, left, right
  implicit none
  include 'mpif.h'
  integer :: got, error, status(MPI_STATUS_SIZE)
  call MPI_Recv(got, 1, MPI_INTEGER, left, 3, MPI_COMM_WORLD, status, error)
  call MPI_Send(rank, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD, error)
end subroutine

program hangs_fortran
  use exchange
  implicit none
  character(len=40) :: name
  integer :: i
  character(len=40), parameter :: programs(19) = [character(len=40) :: &
    'recv_ring cycle 2', 'wait_ring cycle 2', 'persistent_ring cycle 2', 'waitall_ring cycle 2', 'old_ring cycle 2', &
    'probe_ring cycle 2', 'barrier_skipped missing 2', 'reduce_skipped missing 2', &
    'order_of_communicators mismatch 2', 'allreduce_or_barrier mismatch 2', 'wrong_tag unmatched 2', &
    'never_sent unmatched 2', 'stops ended 2', 'aborts ended 2', 'computes computing 2', 'tests polling 2', &
    'slow_steps null 2', 'slow_uneven null 2', 'done null 2']
  call get_command_argument(1, name)
  if (name == '--list') then
    do i = 1, size(programs)
      print '(a)', trim(programs(i))
    end do
    stop
  end if
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, processes, ierr)
  left = mod(rank + processes - 1, processes)
  right = mod(rank + 1, processes)
  last = processes - 1
  select case (name)
  case ('recv_ring')
    call work()
    call receive_from(left, tag, MPI_COMM_WORLD)
    call send_to(right, tag, MPI_COMM_WORLD)
  case ('wait_ring')
    call wait_ring()
  case ('persistent_ring')
    call persistent_ring()
  case ('waitall_ring')
    call waitall_ring()
  case ('old_ring')
    call old_ring()
  case ('probe_ring')
    call MPI_Probe(left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call send_to(right, tag, MPI_COMM_WORLD)
  case ('barrier_skipped')
    call work()
    if (rank /= last) call MPI_Barrier(MPI_COMM_WORLD, ierr)
  case ('reduce_skipped')
    call work()
    if (rank /= last) call MPI_Allreduce(rank, i, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  case ('order_of_communicators')
    call order_of_communicators()
  case ('allreduce_or_barrier')
    call allreduce_or_barrier()
  case ('wrong_tag')
    call wrong_tag()
  case ('never_sent')
    call work()
    if (rank == 0) call receive_from(1, tag + 5, MPI_COMM_WORLD)
  case ('stops')
    call work()
    call compute(0.3d0)
    if (rank == last) error stop 3
    call receive_from(last, tag, MPI_COMM_WORLD)
  case ('aborts')
    call work()
    call compute(0.3d0)
    if (rank == last) call MPI_Abort(MPI_COMM_WORLD, 5, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  case ('computes')
    call work()
    if (rank == last) call compute_for_ever()
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  case ('tests')
    call tests()
  case ('slow_steps')
    call slow_steps()
  case ('slow_uneven')
    call slow_uneven()
  case ('done')
    call work()
  end select
  call MPI_Finalize(ierr)
end program
