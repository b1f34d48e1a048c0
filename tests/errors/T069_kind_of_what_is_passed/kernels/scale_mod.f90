module scale_mod
  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kinds_elsewhere_mod
  use model_mod, only: rdt
  implicit none
  type, extends(kernel_type) :: scale
    type(go_arg) :: meta_args(1) = (/ go_arg(go_readwrite, go_ct, go_pointwise) /)
    integer :: iterates_over = go_internal_pts
    integer :: index_offset = go_offset_ne
  contains
    procedure, nopass :: code => scale_code
  end type scale
contains
  subroutine scale_code(i, j, height)
    integer, intent(in) :: i, j
    real(wp), intent(inout) :: height(:, :)
    height(i, j) = rdt * height(i, j)
  end subroutine scale_code
end module scale_mod
