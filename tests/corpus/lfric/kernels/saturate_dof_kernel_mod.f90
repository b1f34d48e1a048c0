!-----------------------------------------------------------------------------
! Corpus kernel: saturate dof.
!-----------------------------------------------------------------------------
!> @brief Saturation at each dof of fields on one space.
module saturate_dof_kernel_mod

  use argument_mod, only : arg_type, DOF, GH_FIELD, GH_REAL, GH_READWRITE, ANY_SPACE_1, &
                           GH_READ, GH_SCALAR
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: saturate_dof_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_1), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ)  &
      /)
    integer :: operates_on = DOF
  contains
    procedure, nopass :: saturate_dof_code
  end type saturate_dof_kernel_type

  public :: saturate_dof_code

contains

  !> @brief Saturation at each dof of fields on one space.
  !> @param[in,out] excess Real field on ANY_SPACE_1, updated.
  !> @param[in] vapour Real field on ANY_SPACE_1.
  !> @param[in] limit Real scalar.
  subroutine saturate_dof_code(excess, &
                               vapour, &
                               limit)

    implicit none

    real(kind=r_def), intent(inout) :: excess
    real(kind=r_def), intent(in) :: vapour
    real(kind=r_def), intent(in) :: limit


    excess = excess + max(0.0_r_def, vapour - limit)

  end subroutine saturate_dof_code

end module saturate_dof_kernel_mod
