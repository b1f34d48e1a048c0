!> Works on dofs one by one, on those of the halo to a depth that the algorithm passes.
module deep_dofs_kernel_mod

  use argument_mod, only: ANY_SPACE_1, arg_type, GH_FIELD, GH_READ, GH_READWRITE, GH_REAL, &
                          GH_SCALAR, OWNED_AND_HALO_DOF
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: deep_dofs_code

  type, public, extends(kernel_type) :: deep_dofs_type
    private
    type(arg_type) :: meta_args(3) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_1), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ) &
    ]
    integer :: operates_on = OWNED_AND_HALO_DOF
  contains
    procedure, nopass :: deep_dofs_code
  end type deep_dofs_type

contains

  !> Change one dof.
  subroutine deep_dofs_code(y, x, factor)
    real(r_def), intent(inout) :: y
    real(r_def), intent(in) :: x, factor

    y = factor * x - modulo(y, 7.0_r_def)
  end subroutine deep_dofs_code

end module deep_dofs_kernel_mod
