!> Give a field one value everywhere.
module set_height_mod

  use argument_mod
  use grid_mod, only: go_offset_any
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: set_height
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE) &
        /)
    integer :: iterates_over = GO_ALL_PTS
    integer :: index_offset = GO_OFFSET_ANY
  contains
    procedure, nopass :: code => set_height_code
  end type set_height

  public :: set_height_code

contains

  !> Compute one point.
  subroutine set_height_code(i, j, height, value)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: height(:, :)
    real(go_wp), intent(in) :: value

    height(i, j) = value
  end subroutine set_height_code

end module set_height_mod
