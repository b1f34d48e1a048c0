!> Owns iterations that happen at the same time, as threads would have it in the worst case.
!>
!> Each iteration starts from the values before all of them; where several change a value, the last
!> one wins. An iteration that adds to what another has added to is lost, every time.
module at_once_mod

  use, intrinsic :: iso_fortran_env, only: i_def => int32, int32, real32, real64

  implicit none
  private

  public :: begin_all, begin_one, end_one, end_all

  !> The values of one array before all iterations, and after those that are done.
  type :: values_type
    real(real64), allocatable :: before(:), after(:)
  end type values_type

  interface begin_all
    module procedure begin_all_real64, begin_all_real32, begin_all_int32
  end interface begin_all

  interface begin_one
    module procedure begin_one_real64, begin_one_real32, begin_one_int32
  end interface begin_one

  interface end_one
    module procedure end_one_real64, end_one_real32, end_one_int32
  end interface end_one

  interface end_all
    module procedure end_all_real64, end_all_real32, end_all_int32
  end interface end_all

  ! The arrays of a loop, numbered as they come.
  type(values_type), save :: known(16)

contains

  !> Remember an array before all iterations.
  subroutine begin_all_real64(array, values)
    integer(i_def), intent(in) :: array
    real(real64), intent(in) :: values(:)

    known(array)%before = values
    known(array)%after = values
  end subroutine begin_all_real64

  !> Give an iteration the values before all of them.
  subroutine begin_one_real64(array, values)
    integer(i_def), intent(in) :: array
    real(real64), intent(inout) :: values(:)

    values = known(array)%before
  end subroutine begin_one_real64

  !> Remember what an iteration has changed.
  subroutine end_one_real64(array, values)
    integer(i_def), intent(in) :: array
    real(real64), intent(in) :: values(:)

    where (values /= known(array)%before) known(array)%after = values
  end subroutine end_one_real64

  !> Return what all iterations have made of the array.
  subroutine end_all_real64(array, values)
    integer(i_def), intent(in) :: array
    real(real64), intent(inout) :: values(:)

    values = known(array)%after
  end subroutine end_all_real64

  !> As for the other precision.
  subroutine begin_all_real32(array, values)
    integer(i_def), intent(in) :: array
    real(real32), intent(in) :: values(:)

    call begin_all(array, real(values, real64))
  end subroutine begin_all_real32

  !> As for the other precision.
  subroutine begin_one_real32(array, values)
    integer(i_def), intent(in) :: array
    real(real32), intent(inout) :: values(:)

    values = real(known(array)%before, real32)
  end subroutine begin_one_real32

  !> As for the other precision.
  subroutine end_one_real32(array, values)
    integer(i_def), intent(in) :: array
    real(real32), intent(in) :: values(:)

    call end_one(array, real(values, real64))
  end subroutine end_one_real32

  !> As for the other precision.
  subroutine end_all_real32(array, values)
    integer(i_def), intent(in) :: array
    real(real32), intent(inout) :: values(:)

    values = real(known(array)%after, real32)
  end subroutine end_all_real32

  !> As for real values.
  subroutine begin_all_int32(array, values)
    integer(i_def), intent(in) :: array
    integer(int32), intent(in) :: values(:)

    call begin_all(array, real(values, real64))
  end subroutine begin_all_int32

  !> As for real values.
  subroutine begin_one_int32(array, values)
    integer(i_def), intent(in) :: array
    integer(int32), intent(inout) :: values(:)

    values = nint(known(array)%before, int32)
  end subroutine begin_one_int32

  !> As for real values.
  subroutine end_one_int32(array, values)
    integer(i_def), intent(in) :: array
    integer(int32), intent(in) :: values(:)

    call end_one(array, real(values, real64))
  end subroutine end_one_int32

  !> As for real values.
  subroutine end_all_int32(array, values)
    integer(i_def), intent(in) :: array
    integer(int32), intent(inout) :: values(:)

    values = nint(known(array)%after, int32)
  end subroutine end_all_int32

end module at_once_mod
