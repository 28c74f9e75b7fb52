! SPDX-License-Identifier: BSD-3-Clause
! MPE's interface from Fortran: a state with data 7 times in each process, a solo event, and a message of its own.
program mpe_fortran
    implicit none
    include 'mpif.h'
    include 'mpe_logf.h'
    integer :: rank, size, first, last, mark, round, position, error
    character(len=32) :: bytes
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, size, error)
    error = MPE_Init_log()
    error = MPE_Log_get_state_eventIDs(first, last)
    error = MPE_Log_get_solo_eventID(mark)
    if (rank == 0) then
        error = MPE_Describe_info_state(first, last, 'work', 'red', 'round=%d')
        error = MPE_Describe_event(mark, 'milestone', 'green')
    end if
    do round = 1, 7
        error = MPE_Log_event(first, 0, ' ')
        position = 0
        bytes = ' '
        error = MPE_Log_pack(bytes, position, 'd', 1, round)
        error = MPE_Log_event(last, 0, bytes)
    end do
    error = MPE_Log_bare_event(mark)
    if (rank == 0 .and. size > 1) error = MPE_Log_send(1, 3, 80)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    if (rank == 1) error = MPE_Log_receive(0, 3, 80)
    error = MPE_Log_sync_clocks()
    error = MPE_Finish_log('mpe_fortran')
    call MPI_Finalize(error)
end program
