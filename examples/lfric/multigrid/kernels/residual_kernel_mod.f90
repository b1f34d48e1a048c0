!> What is left of b: `b - x + c (sum of differences to the four neighbours)`.
module residual_kernel_mod

  use argument_mod, only: arg_type, CELL_COLUMN, CROSS, GH_FIELD, GH_READ, GH_REAL, GH_SCALAR, &
                          GH_WRITE, STENCIL
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W3
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: residual_code

  type, public, extends(kernel_type) :: residual_type
    private
    type(arg_type) :: meta_args(4) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &                 ! residual
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(CROSS)), &  ! x
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &                  ! b
      arg_type(GH_SCALAR, GH_REAL, GH_READ) &                      ! c
    /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: residual_code
  end type residual_type

contains

  !> Set a column of residuals; `around(1, n)` leads to the neighbours for n > 1.
  subroutine residual_code(nlayers, residual, x, size_x, around, b, c, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, size_x, ndf, undf
    integer(i_def), intent(in) :: around(ndf, size_x), map(ndf)
    real(r_def), intent(inout) :: residual(undf)
    real(r_def), intent(in) :: x(undf), b(undf), c

    integer(i_def) :: k

    do k = 0, nlayers - 1
      residual(map(1) + k) = b(map(1) + k) - x(map(1) + k) &
                             + c * sum(x(around(1, 2:) + k) - x(map(1) + k))
    end do
  end subroutine residual_code

end module residual_kernel_mod
