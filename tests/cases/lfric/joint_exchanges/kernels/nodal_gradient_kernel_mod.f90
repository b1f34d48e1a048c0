!-----------------------------------------------------------------------------
! Corpus kernel: nodal gradient.
!-----------------------------------------------------------------------------
!> @brief Spread the gradient of a cell field over three nodal components.
module nodal_gradient_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W0, W3, W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: nodal_gradient_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD*3, GH_REAL, GH_INC, W0), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
      arg_type(GH_FIELD*2, GH_REAL, GH_READ, W2)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: nodal_gradient_code
  end type nodal_gradient_kernel_type

  public :: nodal_gradient_code

contains

  !> @brief Spread the gradient of a cell field over three nodal components.
  !> @param[in,out] grad_1 and on Real field bundle of 3 on W0, incremented.
  !> @param[in] p Real field on W3.
  !> @param[in] wind_1 and on Real field bundle of 2 on W2.
  subroutine nodal_gradient_code(nlayers, &
                                 grad_1, grad_2, grad_3, &
                                 p, &
                                 wind_1, wind_2, &
                                 ndf_w0, undf_w0, map_w0, &
                                 ndf_w3, undf_w3, map_w3, &
                                 ndf_w2, undf_w2, map_w2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w0, undf_w0, ndf_w3, undf_w3
    integer(kind=i_def), intent(in) :: ndf_w2, undf_w2
    real(kind=r_def), intent(inout) :: grad_1(undf_w0)
    real(kind=r_def), intent(inout) :: grad_2(undf_w0)
    real(kind=r_def), intent(inout) :: grad_3(undf_w0)
    real(kind=r_def), intent(in) :: p(undf_w3)
    real(kind=r_def), intent(in) :: wind_1(undf_w2)
    real(kind=r_def), intent(in) :: wind_2(undf_w2)
    integer(kind=i_def), intent(in) :: map_w0(ndf_w0)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_w0
        grad_1(map_w0(df)+k) = grad_1(map_w0(df)+k) + p(map_w3(1)+k)
        grad_2(map_w0(df)+k) = grad_2(map_w0(df)+k) + wind_1(map_w2(1)+k)
        grad_3(map_w0(df)+k) = grad_3(map_w0(df)+k) + wind_2(map_w2(1)+k)
      end do
    end do

  end subroutine nodal_gradient_code

end module nodal_gradient_kernel_mod
