!> Copy a field of any type of point.
module copy_any_mod

  use argument_mod
  use grid_mod, only: go_offset_any
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: copy_any
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_WRITE, GO_EVERY, GO_POINTWISE), &
        go_arg(GO_READ, GO_EVERY, GO_POINTWISE) &
        /)
    integer :: iterates_over = GO_ALL_PTS
    integer :: index_offset = GO_OFFSET_ANY
  contains
    procedure, nopass :: code => copy_any_code
  end type copy_any

  public :: copy_any_code

contains

  !> Compute one point.
  subroutine copy_any_code(i, j, new, old)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: new(:, :)
    real(go_wp), intent(in) :: old(:, :)

    new(i, j) = old(i, j)
  end subroutine copy_any_code

end module copy_any_mod
