!> Let a field fade, whatever the offset.
module decay_mod

  use argument_mod
  use grid_mod, only: go_offset_any
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: decay
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_READWRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_ANY
  contains
    procedure, nopass :: code => decay_code
  end type decay

  public :: decay_code

contains

  !> Compute one point.
  subroutine decay_code(i, j, field, rate)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: field(:, :)
    real(go_wp), intent(in) :: rate

    field(i, j) = (1.0_go_wp - rate) * field(i, j)
  end subroutine decay_code

end module decay_mod
