!> One step of Jacobi's method for `x - c (sum of differences to the four neighbours) = b`.
module smooth_kernel_mod

  use argument_mod, only: arg_type, CELL_COLUMN, CROSS, GH_FIELD, GH_READ, GH_REAL, GH_SCALAR, &
                          GH_WRITE, STENCIL
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W3
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: smooth_code

  type, public, extends(kernel_type) :: smooth_type
    private
    type(arg_type) :: meta_args(4) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &                 ! better x
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(CROSS)), &  ! x
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &                  ! b
      arg_type(GH_SCALAR, GH_REAL, GH_READ) &                      ! c
    /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: smooth_code
  end type smooth_type

  ! Four fifths of a step damp the shortest waves in two dimensions best.
  real(r_def), parameter :: damping = 0.8_r_def

contains

  !> Set a column of better values; `around(1, n)` leads to the neighbours for n > 1.
  subroutine smooth_code(nlayers, better, x, size_x, around, b, c, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, size_x, ndf, undf
    integer(i_def), intent(in) :: around(ndf, size_x), map(ndf)
    real(r_def), intent(inout) :: better(undf)
    real(r_def), intent(in) :: x(undf), b(undf), c

    real(r_def) :: own, neighbours, diagonal
    integer(i_def) :: k

    diagonal = 1.0_r_def + c * real(size_x - 1, r_def)
    do k = 0, nlayers - 1
      own = x(map(1) + k)
      neighbours = sum(x(around(1, 2:) + k))
      better(map(1) + k) = own + damping * (b(map(1) + k) + c * neighbours - diagonal * own) / diagonal
    end do
  end subroutine smooth_code

end module smooth_kernel_mod
