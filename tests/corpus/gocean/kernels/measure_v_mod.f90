!> Multiply by the areas around V points.
module measure_v_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: measure_v
    type(go_arg) :: meta_args(4) = (/ &
        go_arg(GO_READWRITE, GO_CV, GO_POINTWISE), &
        go_arg(GO_READ, GO_GRID_AREA_V), &
        go_arg(GO_READ, GO_GRID_AREA_U), &
        go_arg(GO_READ, GO_GRID_LAT_V) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => measure_v_code
  end type measure_v

  public :: measure_v_code

contains

  !> Compute one point.
  subroutine measure_v_code(i, j, v, area, other, latitude)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: v(:, :)
    real(go_wp), intent(in) :: area(:, :)
    real(go_wp), intent(in) :: other(:, :)
    real(go_wp), intent(in) :: latitude(:, :)

    v(i, j) = v(i, j) * area(i, j) / other(i, j) * cos(0.01745_go_wp * latitude(i, j))
  end subroutine measure_v_code

end module measure_v_mod
