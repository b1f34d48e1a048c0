!-----------------------------------------------------------------------------
! Corpus kernel: wind speed dof.
!-----------------------------------------------------------------------------
!> @brief Speed from three components at each dof.
module wind_speed_dof_kernel_mod

  use argument_mod, only : arg_type, DOF, GH_FIELD, GH_REAL, GH_WRITE, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: wind_speed_dof_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_FIELD*3, GH_REAL, GH_READ, W3)  &
      /)
    integer :: operates_on = DOF
  contains
    procedure, nopass :: code => wind_speed_dof_code
  end type wind_speed_dof_kernel_type

  public :: wind_speed_dof_code

contains

  !> @brief Speed from three components at each dof.
  !> @param[in,out] speed Real field on W3, overwritten.
  !> @param[in] v_1 and on Real field bundle of 3 on W3.
  subroutine wind_speed_dof_code(speed, v_1, v_2, v_3)

    implicit none

    real(kind=r_def), intent(inout) :: speed
    real(kind=r_def), intent(in) :: v_1
    real(kind=r_def), intent(in) :: v_2
    real(kind=r_def), intent(in) :: v_3


    speed = sqrt(v_1**2 + v_2**2 + v_3**2)

  end subroutine wind_speed_dof_code

end module wind_speed_dof_kernel_mod
