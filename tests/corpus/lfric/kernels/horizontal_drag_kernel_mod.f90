!-----------------------------------------------------------------------------
! Corpus kernel: horizontal drag.
!-----------------------------------------------------------------------------
!> @brief Slow the horizontal wind down near rough ground.
module horizontal_drag_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ, &
                           GH_SCALAR
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2h, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: horizontal_drag_kernel_type
    private
    type(arg_type) :: meta_args(4) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W2h), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2h), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: horizontal_drag_code
  end type horizontal_drag_kernel_type

  public :: horizontal_drag_code

contains

  !> @brief Slow the horizontal wind down near rough ground.
  !> @param[in,out] u_h Real field on W2h, incremented.
  !> @param[in] u_ref Real field on W2h.
  !> @param[in] roughness Real field on W3.
  !> @param[in] coefficient Real scalar.
  subroutine horizontal_drag_code(nlayers, &
                                  u_h, &
                                  u_ref, &
                                  roughness, &
                                  coefficient, &
                                  ndf_w2h, undf_w2h, map_w2h, &
                                  ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2h, undf_w2h, ndf_w3, undf_w3
    real(kind=r_def), intent(inout) :: u_h(undf_w2h)
    real(kind=r_def), intent(in) :: u_ref(undf_w2h)
    real(kind=r_def), intent(in) :: roughness(undf_w3)
    real(kind=r_def), intent(in) :: coefficient
    integer(kind=i_def), intent(in) :: map_w2h(ndf_w2h)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: df

    do df = 1, ndf_w2h
      u_h(map_w2h(df)) = u_h(map_w2h(df)) - 0.5_r_def * coefficient &
          * roughness(map_w3(1)) * u_ref(map_w2h(df))
    end do

  end subroutine horizontal_drag_code

end module horizontal_drag_kernel_mod
