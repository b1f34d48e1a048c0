!> Owns how code with OpenACC brings to the host what an exchange of LFRic sends: one transfer of
!> what is packed on the device. The list of what is sent, which never changes, stays there. It needs
!> no storage.
module lfric_fetch_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use constants_mod, only: i_def
  use function_space_mod, only: function_space_type
  use lfric_sent_dofs_mod, only: count_sent_lists, sent_list, sent_list_to_depth

  implicit none
  private

  public :: fetch_sent, release_sent

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

  !> Give up what the device in use has of the lists of what is sent, before meshes are freed: they
  !> go there once, and are brought anew if they are needed again.
  subroutine release_sent()
    integer(i_def), pointer, contiguous :: dofs(:)
    integer :: number

    do number = 1, count_sent_lists()
      dofs => sent_list(number)
      if (.not. associated(dofs)) cycle
      !$acc exit data delete(dofs) finalize
    end do
  end subroutine release_sent

end module lfric_fetch_mod
