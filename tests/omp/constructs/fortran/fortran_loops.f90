! SPDX-License-Identifier: BSD-2-Clause
! Loops of several schedules and steps.
module loops
  use truth
  implicit none
contains
  subroutine construct(initial) bind(c)
    type(c_ptr), value :: initial
    type(c_ptr) :: region, member, loop
    integer(c_long) :: i
    region = expect_region(initial, __LINE__ + 1)
    !$omp parallel private(member, loop)
    member = expect_member(region)
    loop = expect_loop_here(member, __LINE__ + 1, 1, 1_c_long, 1_c_long, 60_c_long)
    !$omp do schedule(dynamic, 4)
    do i = 1, 60
      call expect_iteration(loop, i - 1)
    end do
    !$omp end do
    call expect_barrier(member)
    loop = expect_loop_here(member, __LINE__ + 1, 2, 100_c_long, -2_c_long, 50_c_long)
    !$omp do schedule(guided, 2)
    do i = 100, 1, -2
      call expect_iteration(loop, (100 - i) / 2)
    end do
    !$omp end do
    call expect_barrier(member)
    !$omp end parallel
  end subroutine
end module

program fortran_loops
  use loops
  call exit(expect_main(c_funloc(construct)))
end program
