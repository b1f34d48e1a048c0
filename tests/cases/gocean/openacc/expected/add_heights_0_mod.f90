! psyclone-storage: changed for psy.f90
!> Add two fields, both of which may be the same.
module add_heights_0_mod

  use argument_mod
  use grid_mod, only: go_offset_any
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: add_heights_0_type
    type(go_arg) :: meta_args(3) = (/ &
        go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_POINTWISE) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_ANY
  contains
    procedure, nopass :: code => add_heights_0_code
  end type add_heights_0_type

  public :: add_heights_0_code

contains

  !> Compute one point.
  subroutine add_heights_0_code(i, j, total, first, second)
    integer, intent(in) :: i, j
    real(kind=go_wp), intent(inout) :: total(:, :)
    real(kind=go_wp), intent(in) :: first(:, :), second(:, :)
    !$acc routine seq

    total(i, j) = first(i, j) + second(i, j)
  end subroutine add_heights_0_code

end module add_heights_0_mod
