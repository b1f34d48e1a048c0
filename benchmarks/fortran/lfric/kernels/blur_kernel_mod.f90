!> Replaces the values of a column by the means over a cross of neighbours.
module blur_kernel_mod

  use argument_mod, only: arg_type, CELL_COLUMN, CROSS, GH_FIELD, GH_READ, GH_REAL, GH_WRITE, &
                          STENCIL
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W3
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: blur_code

  type, public, extends(kernel_type) :: blur_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(CROSS)) &
    /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: blur_code
  end type blur_type

contains

  !> Set one column; `stencil_map(:, s)` leads to the column of the neighbour s.
  subroutine blur_code(nlayers, mean, field, stencil_size, stencil_map, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, stencil_size, ndf, undf
    integer(i_def), intent(in) :: stencil_map(ndf, stencil_size), map(ndf)
    real(r_def), intent(inout) :: mean(undf)
    real(r_def), intent(in) :: field(undf)

    integer(i_def) :: k, s

    do k = 0, nlayers - 1
      mean(map(1) + k) = field(stencil_map(1, 1) + k)
    end do
    do s = 2, stencil_size
      do k = 0, nlayers - 1
        mean(map(1) + k) = mean(map(1) + k) + field(stencil_map(1, s) + k)
      end do
    end do
    do k = 0, nlayers - 1
      mean(map(1) + k) = mean(map(1) + k) / real(stencil_size, r_def)
    end do
  end subroutine blur_code

end module blur_kernel_mod
