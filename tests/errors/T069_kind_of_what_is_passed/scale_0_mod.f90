! psyclone-storage: changed for ../../../../../../tmp/a13/x.f90
module scale_0_mod
  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kinds_elsewhere_mod, only: wp
  use model_mod, only: rdt
  implicit none
  type, extends(kernel_type) :: scale_0_type
    type(go_arg) :: meta_args(1) = (/ go_arg(go_readwrite, go_ct, go_pointwise) /)
    integer :: iterates_over = go_internal_pts
    integer :: index_offset = go_offset_ne
  contains
    procedure, nopass :: code => scale_0_code
  end type scale_0_type
contains
  subroutine scale_0_code(i, j, height, rdt)
    real(kind=wp), intent(in) :: rdt
    integer, intent(in) :: i, j
    real(kind=wp), intent(inout) :: height(:, :)
    !$acc routine seq
    height(i, j) = rdt * height(i, j)
  end subroutine scale_0_code
end module scale_0_mod
