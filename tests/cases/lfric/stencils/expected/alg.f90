!-----------------------------------------------------------------------------
! Two lines with directions of their own.
!-----------------------------------------------------------------------------
module stencil_xory1d_two_fields_alg_mod

  use constants_mod, only : i_def
  use field_mod, only : field_type
  use two_lines_kernel_mod, only : two_lines_kernel_type
  use stencil_xory1d_two_fields_alg_mod_psy, only: invoke_0_two_lines_kernel_type

  implicit none

  private
  public :: stencil_xory1d_two_fields_alg

contains

  !> @brief Two lines with directions of their own.
  subroutine stencil_xory1d_two_fields_alg(out, a, b, depth_a, depth_b, dir_a, dir_b)

    implicit none

    type(field_type), intent(inout) :: out, a, b
    integer(kind=i_def), intent(in) :: depth_a, depth_b, dir_a, dir_b

    call invoke_0_two_lines_kernel_type(out, a, b, depth_a, depth_b, dir_a, dir_b)

  end subroutine stencil_xory1d_two_fields_alg

end module stencil_xory1d_two_fields_alg_mod
