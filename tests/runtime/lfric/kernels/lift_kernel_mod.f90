!> Adds to a field on any space, above its lowest level, what it has there and another field has.
module lift_kernel_mod

  use argument_mod, only: ANY_SPACE_1, ANY_SPACE_2, arg_type, CELL_COLUMN, GH_FIELD, GH_READ, &
                          GH_READINC, GH_REAL
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: lift_code

  type, public, extends(kernel_type) :: lift_type
    private
    type(arg_type) :: meta_args(2) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_READINC, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_2) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: lift_code
  end type lift_type

contains

  !> Add to every dof of a cell above the lowest level. The lowest is read and not changed, so the
  !> order of cells does not matter.
  subroutine lift_code(nlayers, y, x, ndf_y, undf_y, map_y, ndf_x, undf_x, map_x)
    integer(i_def), intent(in) :: nlayers
    integer(i_def), intent(in) :: ndf_y, undf_y, map_y(ndf_y)
    integer(i_def), intent(in) :: ndf_x, undf_x, map_x(ndf_x)
    real(r_def), intent(inout) :: y(undf_y)
    real(r_def), intent(in) :: x(undf_x)

    integer(i_def) :: df, k

    do k = 1, nlayers - 1
      do df = 1, ndf_y
        y(map_y(df) + k) = y(map_y(df) + k) + real(df, r_def) * y(map_y(1)) + sum(x(map_x + k))
      end do
    end do
  end subroutine lift_code

end module lift_kernel_mod
