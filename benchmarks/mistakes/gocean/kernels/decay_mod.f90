module decay_mod

  use argument_mod
  use grid_mod,        only : go_offset_ne
  use kernel_mod
  use kind_params_mod, only : go_wp

  implicit none

  private
  public :: decay_code

  type, public, extends(kernel_type) :: decay
    type(go_arg), dimension(3) :: meta_args = (/         &
         go_arg(go_readwrite, go_ct, go_pointwise),      &
         go_arg(go_read, go_r_scalar, go_pointwise),     &
         go_arg(go_read, go_grid_mask_t)                 &
         /)
    integer :: iterates_over = go_internal_pts
    integer :: index_offset = go_offset_ne
  contains
    procedure, nopass :: code => decay_code
  end type decay

contains

  subroutine decay_code(ji, jj, height, rate, mask)

    integer,     intent(in)    :: ji, jj
    real(go_wp), intent(inout) :: height(:, :)
    real(go_wp), intent(in)    :: rate
    integer,     intent(in)    :: mask(:, :)

    if (mask(ji, jj) > 0) height(ji, jj) = (1.0_go_wp - rate) * height(ji, jj)

  end subroutine decay_code

end module decay_mod
