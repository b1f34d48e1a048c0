module drag_mod

  use argument_mod, only : go_arg, go_cu, go_pointwise, go_readwrite, go_internal_pts
  use grid_mod, only : go_offset_ne
  use kernel_mod, only : kernel_type
  use kind_params_mod, only : go_wp

  implicit none

  type, extends(kernel_type) :: drag
    type(go_arg) :: meta_args(1) = (/ go_arg(go_readwrite, go_cu, go_pointwise) /)
    integer :: iterates_over = go_internal_pts
    integer :: index_offset = go_offset_ne
  contains
    procedure, nopass :: code => drag_code
  end type drag

contains

  subroutine drag_code(i, j, u)
    use model_mod, only : model
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: u(:, :)

    u(i, j) = u(i, j) * model%drag
  end subroutine drag_code

end module drag_mod
