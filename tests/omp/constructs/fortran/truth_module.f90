! SPDX-License-Identifier: BSD-2-Clause
! truth_for_fortran.c's functions.
module truth
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function expect_main(construct) bind(c)
      import
      type(c_funptr), value :: construct
    end function
    type(c_ptr) function expect_region(in, line) bind(c)
      import
      type(c_ptr), value :: in
      integer(c_int), value :: line
    end function
    type(c_ptr) function expect_member(region) bind(c)
      import
      type(c_ptr), value :: region
    end function
    type(c_ptr) function expect_single(member) bind(c)
      import
      type(c_ptr), value :: member
    end function
    type(c_ptr) function expect_task(in, line) bind(c)
      import
      type(c_ptr), value :: in
      integer(c_int), value :: line
    end function
    subroutine expect_task_begin(t) bind(c)
      import
      type(c_ptr), value :: t
    end subroutine
    subroutine expect_task_end(t) bind(c)
      import
      type(c_ptr), value :: t
    end subroutine
    subroutine expect_task_created() bind(c)
    end subroutine
    subroutine expect_taskwait(t) bind(c)
      import
      type(c_ptr), value :: t
    end subroutine
    subroutine expect_barrier(t) bind(c)
      import
      type(c_ptr), value :: t
    end subroutine
    type(c_ptr) function expect_loop_here(member, line, schedule, first, step, trip) bind(c)
      import
      type(c_ptr), value :: member
      integer(c_int), value :: line, schedule
      integer(c_long), value :: first, step, trip
    end function
    subroutine expect_iteration(loop, k) bind(c)
      import
      type(c_ptr), value :: loop
      integer(c_long), value :: k
    end subroutine
  end interface
end module
