!> Sets an operator between any two spaces from a field.
module assemble_kernel_mod

  use argument_mod, only: ANY_SPACE_1, ANY_SPACE_2, ANY_SPACE_3, arg_type, CELL_COLUMN, &
                          GH_FIELD, GH_OPERATOR, GH_READ, GH_REAL, GH_WRITE
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: assemble_code

  type, public, extends(kernel_type) :: assemble_type
    private
    type(arg_type) :: meta_args(2) = [ &
      arg_type(GH_OPERATOR, GH_REAL, GH_WRITE, ANY_SPACE_1, ANY_SPACE_2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_3) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: assemble_code
  end type assemble_type

contains

  !> Set the matrices of a column; the weights come from the values of the cell.
  subroutine assemble_code(cell, nlayers, ncell_3d, matrix, x, ndf_to, ndf_from, ndf_x, undf_x, &
                           map_x)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d
    integer(i_def), intent(in) :: ndf_to, ndf_from
    integer(i_def), intent(in) :: ndf_x, undf_x, map_x(ndf_x)
    real(r_def), intent(inout) :: matrix(ncell_3d, ndf_to, ndf_from)
    real(r_def), intent(in) :: x(undf_x)

    integer(i_def) :: from, k, to

    do k = 0, nlayers - 1
      do from = 1, ndf_from
        do to = 1, ndf_to
          matrix((cell - 1) * nlayers + k + 1, to, from) = &
            real(to - 2 * from, r_def) + sum(x(map_x + k))
        end do
      end do
    end do
  end subroutine assemble_code

end module assemble_kernel_mod
