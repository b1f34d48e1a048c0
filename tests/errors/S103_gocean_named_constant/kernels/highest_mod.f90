module highest_mod

  use argument_mod
  use field_mod
  use kernel_mod
  use kind_params_mod, only : go_wp

  implicit none

  type, extends(kernel_type) :: highest
    type(go_arg) :: meta_args(3) = (/ &
        go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_POINTWISE), &
        go_arg(GO_READWRITE, GO_R_SCALAR, GO_POINTWISE) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => highest_code
  end type highest

contains

  subroutine highest_code(i, j, wave, height, top)
    integer, intent(in) :: i, j
    real(go_wp), dimension(:, :), intent(inout) :: wave
    real(go_wp), dimension(:, :), intent(in) :: height
    real(go_wp), intent(inout) :: top

    top = max(top, height(i, j))
    wave(i, j) = height(i, j) / top
  end subroutine highest_code

end module highest_mod
