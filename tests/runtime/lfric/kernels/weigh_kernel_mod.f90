!> Adds to a continuous field what another has in the same cell, in the precision of the fields.
module weigh_kernel_mod

  use, intrinsic :: iso_fortran_env, only: real32, real64
  use argument_mod, only: ANY_SPACE_1, ANY_SPACE_2, arg_type, CELL_COLUMN, GH_FIELD, GH_INC, &
                          GH_INTEGER, GH_READ, GH_REAL
  use constants_mod, only: i_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: weigh_code

  type, public, extends(kernel_type) :: weigh_type
    private
    type(arg_type) :: meta_args(3) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_2), &
      arg_type(GH_FIELD, GH_INTEGER, GH_READ, ANY_SPACE_2) &
    ]
    integer :: operates_on = CELL_COLUMN
  end type weigh_type

  interface weigh_code
    module procedure weigh_code_real32
    module procedure weigh_code_real64
  end interface weigh_code

contains

  !> Add to every dof of a cell the weighted sum of the values of the cell.
  subroutine weigh_code_real32(nlayers, y, x, weights, ndf_y, undf_y, map_y, ndf_x, undf_x, map_x)
    integer(i_def), intent(in) :: nlayers
    integer(i_def), intent(in) :: ndf_y, undf_y, map_y(ndf_y)
    integer(i_def), intent(in) :: ndf_x, undf_x, map_x(ndf_x)
    real(real32), intent(inout) :: y(undf_y)
    real(real32), intent(in) :: x(undf_x)
    integer(i_def), intent(in) :: weights(undf_x)

    integer(i_def) :: df, k

    do k = 0, nlayers - 1
      do df = 1, ndf_y
        y(map_y(df) + k) = y(map_y(df) + k) &
                           + dot_product(real(weights(map_x + k), real32), x(map_x + k))
      end do
    end do
  end subroutine weigh_code_real32

  !> Add to every dof of a cell the weighted sum of the values of the cell.
  subroutine weigh_code_real64(nlayers, y, x, weights, ndf_y, undf_y, map_y, ndf_x, undf_x, map_x)
    integer(i_def), intent(in) :: nlayers
    integer(i_def), intent(in) :: ndf_y, undf_y, map_y(ndf_y)
    integer(i_def), intent(in) :: ndf_x, undf_x, map_x(ndf_x)
    real(real64), intent(inout) :: y(undf_y)
    real(real64), intent(in) :: x(undf_x)
    integer(i_def), intent(in) :: weights(undf_x)

    integer(i_def) :: df, k

    do k = 0, nlayers - 1
      do df = 1, ndf_y
        y(map_y(df) + k) = y(map_y(df) + k) &
                           + dot_product(real(weights(map_x + k), real64), x(map_x + k))
      end do
    end do
  end subroutine weigh_code_real64

end module weigh_kernel_mod
