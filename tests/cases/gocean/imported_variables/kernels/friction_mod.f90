!> A drag that depends on constants and on variables of the model.
module friction_mod

  use argument_mod
  use grid_mod, only : go_offset_ne
  use kernel_mod, only : kernel_type
  use kind_params_mod, only : go_wp
  use model_mod, only : depth_scale

  implicit none

  private

  type, public, extends(kernel_type) :: friction
    type(go_arg) :: meta_args(2) = (/ &
         go_arg(go_readwrite, go_cu, go_pointwise), &
         go_arg(go_read, go_ct, go_stencil(000, 011, 000)) &
         /)
    integer :: iterates_over = go_internal_pts
    integer :: index_offset = go_offset_ne
  contains
    procedure, nopass :: code => friction_code
  end type friction

  public :: friction_code

contains

  subroutine friction_code(i, j, u, height)
    use model_mod, only : dt => rdt, drag, gravity
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: u(:, :)
    real(go_wp), intent(in) :: height(:, :)

    u(i, j) = u(i, j) - dt * drag(1) * gravity * depth_scale(2) * (height(i + 1, j) - height(i, j))
  end subroutine friction_code

end module friction_mod
