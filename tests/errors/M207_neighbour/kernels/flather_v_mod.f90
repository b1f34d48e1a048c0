module flather_v_mod

  use argument_mod, only : go_arg, go_cv, go_grid_mask_t, go_pointwise, go_read, go_readwrite, &
                           go_stencil, go_all_pts
  use grid_mod, only : go_offset_ne
  use kernel_mod, only : kernel_type
  use kind_params_mod, only : go_wp

  implicit none

  private
  public :: flather_v_code

  type, public, extends(kernel_type) :: flather_v
    type(go_arg) :: meta_args(3) = (/ &
         go_arg(go_readwrite, go_cv, go_pointwise), &
         go_arg(go_read, go_cv, go_stencil(010, 010, 000)), &
         go_arg(go_read, go_grid_mask_t) &
         /)
    integer :: iterates_over = go_all_pts
    integer :: index_offset = go_offset_ne
  contains
    procedure, nopass :: code => flather_v_code
  end type flather_v

contains

  subroutine flather_v_code(ji, jj, v, height, mask)
    integer, intent(in) :: ji, jj
    real(go_wp), intent(inout) :: v(:, :)
    real(go_wp), intent(in) :: height(:, :)
    integer, intent(in) :: mask(:, :)
    integer :: jiv

    if (mask(ji, jj) < 0) then
      jiv = jj + 1
      v(ji, jj) = v(ji, jiv) + height(ji, jj) - height(ji, jiv)
    else if (mask(ji, jj + 1) < 0) then
      jiv = jj - 1
      v(ji, jj) = v(ji, jj) + height(ji, jj) - &
                  height(ji, jiv)
    end if

  end subroutine flather_v_code

end module flather_v_mod
