!> Raises a field on any space to what another field has around each dof.
module raise_kernel_mod

  use argument_mod, only: ANY_SPACE_1, ANY_SPACE_2, arg_type, CELL_COLUMN, GH_FIELD, GH_READ, &
                          GH_READINC, GH_REAL
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: raise_code

  type, public, extends(kernel_type) :: raise_type
    private
    type(arg_type) :: meta_args(2) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_READINC, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_2) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: raise_code
  end type raise_type

contains

  !> Raise every dof of a cell to the sum of the values of the cell. The order of cells does not
  !> matter, though what was there before does.
  subroutine raise_code(nlayers, y, x, ndf_y, undf_y, map_y, ndf_x, undf_x, map_x)
    integer(i_def), intent(in) :: nlayers
    integer(i_def), intent(in) :: ndf_y, undf_y, map_y(ndf_y)
    integer(i_def), intent(in) :: ndf_x, undf_x, map_x(ndf_x)
    real(r_def), intent(inout) :: y(undf_y)
    real(r_def), intent(in) :: x(undf_x)

    integer(i_def) :: df, k

    do k = 0, nlayers - 1
      do df = 1, ndf_y
        ! Not max(), which drops the NaN that marks an invalid value.
        if (.not. y(map_y(df) + k) >= sum(x(map_x + k))) &
          y(map_y(df) + k) = sum(x(map_x + k)) + 0.0_r_def * y(map_y(df) + k)
      end do
    end do
  end subroutine raise_code

end module raise_kernel_mod
