module drift_mod
  use argument_mod, only: go_arg, GO_READ, GO_READWRITE, GO_CT, GO_POINTWISE, GO_ALL_PTS, GO_OFFSET_ANY
  use kernel_mod, only: kernel_type
  use kind_params_mod, only: go_wp
  implicit none
  real(go_wp) :: rate
  type, extends(kernel_type) :: drift
    type(go_arg), dimension(2) :: meta_args = (/ &
         go_arg(GO_READWRITE, GO_CT, GO_POINTWISE), &
         go_arg(GO_READ, GO_CT, GO_POINTWISE) /)
    integer :: ITERATES_OVER = GO_ALL_PTS
    integer :: index_offset = GO_OFFSET_ANY
  contains
    procedure, nopass :: code => drift_code
  end type drift
contains
  subroutine drift_code(i, j, height, depth)
    integer, intent(in) :: i, j
    real(go_wp), dimension(:,:), intent(inout) :: height
    real(go_wp), dimension(:,:), intent(in) :: depth
    real(go_wp) :: own(i)
    own = depth(i, j)
    height(i, j) = height(i - 1, j) + own(1) + rate
  end subroutine drift_code
end module drift_mod
