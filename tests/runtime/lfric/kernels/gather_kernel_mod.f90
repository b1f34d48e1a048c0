!> Adds to a field on a discontinuous space what another field has in the same cell.
module gather_kernel_mod

  use argument_mod, only: ANY_DISCONTINUOUS_SPACE_1, ANY_SPACE_1, arg_type, CELL_COLUMN, &
                          GH_FIELD, GH_READ, GH_READWRITE, GH_REAL
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: gather_code

  type, public, extends(kernel_type) :: gather_type
    private
    type(arg_type) :: meta_args(2) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_1) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: gather_code
  end type gather_type

contains

  !> Add to every dof of a cell weighted values of the cell.
  subroutine gather_code(nlayers, y, x, ndf_y, undf_y, map_y, ndf_x, undf_x, map_x)
    integer(i_def), intent(in) :: nlayers
    integer(i_def), intent(in) :: ndf_y, undf_y, map_y(ndf_y)
    integer(i_def), intent(in) :: ndf_x, undf_x, map_x(ndf_x)
    real(r_def), intent(inout) :: y(undf_y)
    real(r_def), intent(in) :: x(undf_x)

    integer(i_def) :: df, df_x, k

    do k = 0, nlayers - 1
      do df = 1, ndf_y
        do df_x = 1, ndf_x
          y(map_y(df) + k) = y(map_y(df) + k) + real(2 * df + df_x, r_def) * x(map_x(df_x) + k)
        end do
      end do
    end do
  end subroutine gather_code

end module gather_kernel_mod
