!> Copy a field at all points.
module copy_height_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: copy_height
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_POINTWISE) &
        /)
    integer :: iterates_over = inner_pts
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => copy_height_code
  end type copy_height

  public :: copy_height_code

contains

  !> Compute one point.
  subroutine copy_height_code(i, j, new, old)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: new(:, :)
    real(go_wp), intent(in) :: old(:, :)

    new(i, j) = old(i, j)
  end subroutine copy_height_code

end module copy_height_mod
