! SPDX-License-Identifier: BSD-2-Clause
! Tasks made in a module's procedure and in the main program's single.
module tree
  use truth
  implicit none
contains
  recursive subroutine grow(in, depth)
    type(c_ptr), intent(in) :: in
    integer, intent(in) :: depth
    type(c_ptr) :: t
    integer :: i
    if (depth == 0) return
    do i = 1, 3
      t = expect_task(in, __LINE__ + 1)
      !$omp task firstprivate(t, depth)
      call expect_task_begin(t)
      call grow(t, depth - 1)
      call expect_task_end(t)
      !$omp end task
      call expect_task_created()
    end do
    !$omp taskwait
    call expect_taskwait(in)
  end subroutine

  subroutine construct(initial) bind(c)
    type(c_ptr), value :: initial
    type(c_ptr) :: region, member, in
    region = expect_region(initial, __LINE__ + 1)
    !$omp parallel private(member, in)
    member = expect_member(region)
    in = expect_single(member)
    !$omp single
    call grow(in, 3)
    !$omp end single
    call expect_barrier(member)
    !$omp end parallel
  end subroutine
end module

program fortran_tasks
  use tree
  call exit(expect_main(c_funloc(construct)))
end program
