module drift_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp
  use physical_params_mod, only: d2r

  implicit none

  type, extends(kernel_type) :: drift
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_READWRITE, GO_CT, GO_POINTWISE), go_arg(GO_READ, GO_CT, GO_POINTWISE) /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => drift_code
  end type drift

contains

  subroutine drift_code(i, j, speed, depth)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: speed(:, :)
    real(go_wp), intent(in) :: depth(:, :)

    if (depth(i, j) > 0.0_go_wp) &
        speed(i, j) = speed(i, j) / depth(i, j) * sin(depth(i, j) * d2r)
  end subroutine drift_code

end module drift_mod
