!-----------------------------------------------------------------------------
! Corpus kernel: wind to cell.
!-----------------------------------------------------------------------------
!> @brief Average the wind of a cross of cells into the middle cell.
module wind_to_cell_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ, &
                           STENCIL, CROSS
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: wind_to_cell_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2, STENCIL(CROSS))  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: wind_to_cell_code
  end type wind_to_cell_kernel_type

  public :: wind_to_cell_code

contains

  !> @brief Average the wind of a cross of cells into the middle cell.
  !> @param[in,out] speed Real field on W3, overwritten.
  !> @param[in] u Real field on W2, read through a stencil (cross).
  subroutine wind_to_cell_code(nlayers, &
                               speed, &
                               u, u_size, u_stencil, &
                               ndf_w3, undf_w3, map_w3, &
                               ndf_w2, undf_w2, map_w2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, u_size, ndf_w3, undf_w3, ndf_w2
    integer(kind=i_def), intent(in) :: undf_w2
    real(kind=r_def), intent(inout) :: speed(undf_w3)
    real(kind=r_def), intent(in) :: u(undf_w2)
    integer(kind=i_def), intent(in) :: u_stencil(ndf_w2, u_size)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)

    integer(kind=i_def) :: k, p

    do k = 0, nlayers - 1
      speed(map_w3(1)+k) = 0.0_r_def
      do p = 1, u_size
        speed(map_w3(1)+k) = speed(map_w3(1)+k) + sum(u(u_stencil(:, p)+k))
      end do
    end do

  end subroutine wind_to_cell_code

end module wind_to_cell_kernel_mod
