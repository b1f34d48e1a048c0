!> Works on the dofs of a vector of fields one by one.
module dofs_kernel_mod

  use argument_mod, only: ANY_SPACE_1, arg_type, DOF, GH_FIELD, GH_READ, GH_REAL, GH_WRITE
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: dofs_code

  type, public, extends(kernel_type) :: dofs_type
    private
    type(arg_type) :: meta_args(2) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, ANY_SPACE_1), &
      arg_type(GH_FIELD * 3, GH_REAL, GH_READ, ANY_SPACE_1) &
    ]
    integer :: operates_on = DOF
  contains
    procedure, nopass :: dofs_code
  end type dofs_type

contains

  !> Set one dof.
  subroutine dofs_code(y, x1, x2, x3)
    real(r_def), intent(inout) :: y
    real(r_def), intent(in) :: x1, x2, x3

    y = x1 + 2.0_r_def * x2 - x3
  end subroutine dofs_code

end module dofs_kernel_mod
