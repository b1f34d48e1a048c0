module scale_mod

  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_READ, GH_READWRITE, GH_REAL
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W3
  use kernel_mod, only: kernel_type

  implicit none

  type, extends(kernel_type) :: scale_type
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3) /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: scale_code
  end type scale_type

contains

  subroutine scale_code(nlayers, y, x, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, ndf, undf, map(ndf)
    real(r_def), intent(inout) :: y(undf)
    real(r_def), intent(in) :: x(undf)
    integer(i_def) :: k

    do k = 0, nlayers - 1
      y(map(1) + k) = y(map(1) + k) * x(map(1) + k)
    end do
  end subroutine scale_code

end module scale_mod
