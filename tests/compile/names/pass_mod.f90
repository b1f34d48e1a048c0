!> Kernels without a loop over levels, which pass a value from a field to an operator and back.
module pass_mod
  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_OPERATOR, GH_READ, GH_REAL, GH_WRITE
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W3
  use kernel_mod, only: kernel_type
  implicit none
  private
  public :: to_field_type, to_field_code, to_matrix_type, to_matrix_code, of_matrix_type, &
            of_matrix_code

  type, extends(kernel_type) :: to_field_type
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3) /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: to_field_code
  end type to_field_type

  type, extends(kernel_type) :: to_matrix_type
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_OPERATOR, GH_REAL, GH_WRITE, W3, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3) /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: to_matrix_code
  end type to_matrix_type

  type, extends(kernel_type) :: of_matrix_type
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, W3, W3) /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: of_matrix_code
  end type of_matrix_type

contains

  subroutine to_field_code(nlayers, y, x, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, ndf, undf, map(ndf)
    real(r_def), intent(inout) :: y(undf)
    real(r_def), intent(in) :: x(undf)
    y(map(1)) = 2.0_r_def * x(map(1)) + 1.0_r_def
  end subroutine to_field_code

  subroutine to_matrix_code(cell, nlayers, ncell_3d, matrix, x, ndf, undf, map)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d, ndf, undf, map(ndf)
    real(r_def), intent(inout) :: matrix(ncell_3d, ndf, ndf)
    real(r_def), intent(in) :: x(undf)
    matrix(cell, 1, 1) = 2.0_r_def * x(map(1)) + 1.0_r_def
  end subroutine to_matrix_code

  subroutine of_matrix_code(cell, nlayers, y, ncell_3d, matrix, ndf, undf, map)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d, ndf, undf, map(ndf)
    real(r_def), intent(inout) :: y(undf)
    real(r_def), intent(in) :: matrix(ncell_3d, ndf, ndf)
    y(map(1)) = 2.0_r_def * matrix(cell, 1, 1) + 1.0_r_def
  end subroutine of_matrix_code

end module pass_mod
