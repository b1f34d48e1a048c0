!> Add two fields, both of which may be the same.
module add_heights_mod

  use argument_mod
  use grid_mod, only: go_offset_any
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: add_heights
    type(go_arg) :: meta_args(3) = (/ &
        go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_POINTWISE) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_ANY
  contains
    procedure, nopass :: code => add_heights_code
  end type add_heights

  public :: add_heights_code

contains

  !> Compute one point.
  subroutine add_heights_code(i, j, total, first, second)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: total(:, :)
    real(go_wp), intent(in) :: first(:, :)
    real(go_wp), intent(in) :: second(:, :)

    total(i, j) = first(i, j) + second(i, j)
  end subroutine add_heights_code

end module add_heights_mod
