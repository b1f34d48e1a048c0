module drag_kernel_mod
  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_READWRITE, GH_REAL
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type
  use model_mod, only : table
  implicit none
  private
  type, public, extends(kernel_type) :: drag_kernel_type
    private
    type(arg_type) :: meta_args(1) = (/ arg_type(GH_FIELD, GH_REAL, GH_READWRITE, W3) /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: drag_kernel_code
  end type drag_kernel_type
  public :: drag_kernel_code
contains
  subroutine drag_kernel_code(nlayers, drag, ndf, undf, map)
    use model_mod, only : rate
    implicit none
    integer(i_def), intent(in) :: nlayers, ndf, undf
    integer(i_def), intent(in) :: map(ndf)
    real(r_def), intent(inout) :: drag(undf)
    integer(i_def) :: k
    do k = 0, nlayers - 1
      drag(map(1) + k) = drag(map(1) + k) * rate + table(2)
    end do
  end subroutine drag_kernel_code
end module drag_kernel_mod
