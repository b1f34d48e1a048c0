!-----------------------------------------------------------------------------
! Corpus kernel: any space stencil.
!-----------------------------------------------------------------------------
!> @brief Spread a field on any space through a region.
module any_space_stencil_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, &
                           ANY_SPACE_1, GH_READ, STENCIL, REGION, ANY_SPACE_2, X1D
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: any_space_stencil_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_1, STENCIL(REGION)), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_2, STENCIL(X1D))  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: any_space_stencil_code
  end type any_space_stencil_kernel_type

  public :: any_space_stencil_code

contains

  !> @brief Spread a field on any space through a region.
  !> @param[in,out] out Real field on ANY_SPACE_1, incremented.
  !> @param[in] x Real field on ANY_SPACE_1, read through a stencil (region).
  !> @param[in] y Real field on ANY_SPACE_2, read through a stencil (x1d).
  subroutine any_space_stencil_code(nlayers, &
                                    out, &
                                    x, x_size, x_stencil, &
                                    y, y_size, y_stencil, &
                                    ndf_s1, undf_s1, map_s1, &
                                    ndf_s2, undf_s2, map_s2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, x_size, y_size, ndf_s1, undf_s1
    integer(kind=i_def), intent(in) :: ndf_s2, undf_s2
    real(kind=r_def), intent(inout) :: out(undf_s1)
    real(kind=r_def), intent(in) :: x(undf_s1)
    integer(kind=i_def), intent(in) :: x_stencil(ndf_s1, x_size)
    real(kind=r_def), intent(in) :: y(undf_s2)
    integer(kind=i_def), intent(in) :: y_stencil(ndf_s2, y_size)
    integer(kind=i_def), intent(in) :: map_s1(ndf_s1)
    integer(kind=i_def), intent(in) :: map_s2(ndf_s2)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      out(map_s1(1)+k) = out(map_s1(1)+k) + x(x_stencil(1, x_size)+k) &
          * y(y_stencil(1, y_size)+k)
    end do

  end subroutine any_space_stencil_code

end module any_space_stencil_kernel_mod
