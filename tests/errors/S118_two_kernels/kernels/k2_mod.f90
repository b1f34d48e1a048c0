module k2_mod
  use argument_mod
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: w3
  use kernel_mod, only: kernel_type
  implicit none
  type, extends(kernel_type) :: k_type
    type(arg_type) :: meta_args(1) = (/ arg_type(gh_field, gh_real, gh_write, w3) /)
    integer :: operates_on = cell_column
  contains
    procedure, nopass :: code => k_code
  end type
contains
  subroutine k_code(nlayers, y, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, ndf, undf
    integer(i_def), intent(in) :: map(ndf)
    real(r_def), intent(inout) :: y(undf)
    integer(i_def) :: k
    do k = 0, nlayers-1
      y(map(1)+k) = 2.0_r_def
    end do
  end subroutine
end module
