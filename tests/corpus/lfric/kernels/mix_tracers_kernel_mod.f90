!-----------------------------------------------------------------------------
! Corpus kernel: mix tracers.
!-----------------------------------------------------------------------------
!> @brief Mix seven tracers with their column neighbours.
module mix_tracers_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: mix_tracers_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD*7, GH_REAL, GH_WRITE, Wtheta), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, Wtheta)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: mix_tracers_code
  end type mix_tracers_kernel_type

  public :: mix_tracers_code

contains

  !> @brief Mix seven tracers with their column neighbours.
  !> @param[in,out] tracers_1 and on Real field bundle of 7 on Wtheta, overwritten.
  !> @param[in] mean Real field on Wtheta.
  subroutine mix_tracers_code(nlayers, &
                              tracers_1, tracers_2, tracers_3, tracers_4, tracers_5, &
                              tracers_6, tracers_7, &
                              mean, &
                              ndf_wtheta, undf_wtheta, map_wtheta)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_wtheta, undf_wtheta
    real(kind=r_def), intent(inout) :: tracers_1(undf_wtheta)
    real(kind=r_def), intent(inout) :: tracers_2(undf_wtheta)
    real(kind=r_def), intent(inout) :: tracers_3(undf_wtheta)
    real(kind=r_def), intent(inout) :: tracers_4(undf_wtheta)
    real(kind=r_def), intent(inout) :: tracers_5(undf_wtheta)
    real(kind=r_def), intent(inout) :: tracers_6(undf_wtheta)
    real(kind=r_def), intent(inout) :: tracers_7(undf_wtheta)
    real(kind=r_def), intent(in) :: mean(undf_wtheta)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)

    integer(kind=i_def) :: k

    do k = 0, nlayers
      tracers_1(map_wtheta(1)+k) = 1.0_r_def * mean(map_wtheta(1)+k)
      tracers_2(map_wtheta(1)+k) = 2.0_r_def * mean(map_wtheta(1)+k)
      tracers_3(map_wtheta(1)+k) = 3.0_r_def * mean(map_wtheta(1)+k)
      tracers_4(map_wtheta(1)+k) = 4.0_r_def * mean(map_wtheta(1)+k)
      tracers_5(map_wtheta(1)+k) = 5.0_r_def * mean(map_wtheta(1)+k)
      tracers_6(map_wtheta(1)+k) = 6.0_r_def * mean(map_wtheta(1)+k)
      tracers_7(map_wtheta(1)+k) = 7.0_r_def * mean(map_wtheta(1)+k)
    end do

  end subroutine mix_tracers_code

end module mix_tracers_kernel_mod
