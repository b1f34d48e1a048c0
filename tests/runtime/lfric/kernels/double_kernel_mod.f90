!> Writes twice one field to another on the same space, which may be continuous.
module double_kernel_mod

  use argument_mod, only: ANY_SPACE_1, arg_type, CELL_COLUMN, GH_FIELD, GH_READ, GH_REAL, &
                          GH_WRITE
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: double_code

  type, public, extends(kernel_type) :: double_type
    private
    type(arg_type) :: meta_args(2) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_1) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: double_code
  end type double_type

contains

  !> Set every dof of a cell: cells that share a dof set it to the same value.
  subroutine double_code(nlayers, y, x, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers
    integer(i_def), intent(in) :: ndf, undf, map(ndf)
    real(r_def), intent(inout) :: y(undf)
    real(r_def), intent(in) :: x(undf)

    integer(i_def) :: df, k

    do k = 0, nlayers - 1
      do df = 1, ndf
        y(map(df) + k) = 2.0_r_def * x(map(df) + k)
      end do
    end do
  end subroutine double_code

end module double_kernel_mod
