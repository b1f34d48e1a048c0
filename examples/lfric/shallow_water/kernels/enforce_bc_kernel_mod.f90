!> Nothing flows through the bottom and the top of the domain.
module enforce_bc_kernel_mod

  use argument_mod, only: ANY_SPACE_1, arg_type, CELL_COLUMN, GH_FIELD, GH_INC, GH_REAL
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: enforce_bc_code

  type, public, extends(kernel_type) :: enforce_bc_kernel_type
    private
    type(arg_type) :: meta_args(1) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_1) &
    /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: enforce_bc_code
  end type enforce_bc_kernel_type

contains

  !> Set to zero what lies on the bottom and on the top of a column; `boundary_dofs` is 0 there
  !> and 1 elsewhere, for the lowest and for the highest cell.
  subroutine enforce_bc_code(nlayers, field, ndf, undf, map, boundary_dofs)
    integer(i_def), intent(in) :: nlayers, ndf, undf, map(ndf), boundary_dofs(ndf, 2)
    real(r_def), intent(inout) :: field(undf)

    integer(i_def) :: df

    do df = 1, ndf
      field(map(df)) = field(map(df)) * real(boundary_dofs(df, 1), r_def)
      field(map(df) + nlayers - 1) = field(map(df) + nlayers - 1) * real(boundary_dofs(df, 2), r_def)
    end do
  end subroutine enforce_bc_code

end module enforce_bc_kernel_mod
