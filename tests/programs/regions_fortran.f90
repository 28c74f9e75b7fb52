! SPDX-License-Identifier: BSD-3-Clause
! Regions of sight.h from Fortran.
program regions
  use mpi
  implicit none
  integer :: error, i
  integer, external :: sight_threads
  call MPI_Init(error)
  do i = 1, 4
    call sight_region_begin('from fortran  ')
    call sight_region_end('from fortran')
  end do
  print '(i0)', sight_threads()
  call MPI_Finalize(error)
end program
