!> Owns how code with OpenACC brings to the host what an exchange of LFRic sends: one transfer of
!> what is packed on the device. It needs no storage.
module lfric_fetch_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use constants_mod, only: i_def
  use function_space_mod, only: function_space_type
  use lfric_sent_dofs_mod, only: sent_to_depth
  use storage_parts_mod, only: box_type

  implicit none
  private

  public :: fetch_sent

  interface fetch_sent
    module procedure fetch_real64, fetch_real32, fetch_int32
  end interface fetch_sent

contains

  !> Make the values of the host current that an exchange to a depth sends, of a field on a space.
  !> One that no device has, or that a device works on where it is, stays as it is.
  subroutine fetch_real64(values, space, depth)
    real(real64), target, contiguous, intent(inout) :: values(:)
    type(function_space_type), pointer, intent(in) :: space
    integer(i_def), intent(in) :: depth

    real(real64), allocatable :: part(:)

    include 'fetch_body.inc'
  end subroutine fetch_real64

  !> Make the values of the host current that an exchange to a depth sends, of a field on a space.
  !> One that no device has, or that a device works on where it is, stays as it is.
  subroutine fetch_real32(values, space, depth)
    real(real32), target, contiguous, intent(inout) :: values(:)
    type(function_space_type), pointer, intent(in) :: space
    integer(i_def), intent(in) :: depth

    real(real32), allocatable :: part(:)

    include 'fetch_body.inc'
  end subroutine fetch_real32

  !> Make the values of the host current that an exchange to a depth sends, of a field on a space.
  !> One that no device has, or that a device works on where it is, stays as it is.
  subroutine fetch_int32(values, space, depth)
    integer(int32), target, contiguous, intent(inout) :: values(:)
    type(function_space_type), pointer, intent(in) :: space
    integer(i_def), intent(in) :: depth

    integer(int32), allocatable :: part(:)

    include 'fetch_body.inc'
  end subroutine fetch_int32

  !> Return the dofs of runs.
  pure function dofs_in(runs) result(dofs)
    type(box_type), intent(in) :: runs(:)
    integer(i_def), allocatable :: dofs(:)

    integer(i_def) :: dof
    integer :: n, next

    allocate (dofs(sum(runs%last(1) - runs%first(1) + 1)))
    next = 0
    do n = 1, size(runs)
      do dof = int(runs(n)%first(1), i_def), int(runs(n)%last(1), i_def)
        next = next + 1
        dofs(next) = dof
      end do
    end do
  end function dofs_in

end module lfric_fetch_mod
