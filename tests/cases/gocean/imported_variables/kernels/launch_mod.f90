!> Counts the points that lie high, and takes what it counts from a module as a whole.
module launch_mod

  use argument_mod
  use grid_mod, only : go_offset_ne
  use kernel_mod, only : kernel_type
  use kind_params_mod, only : go_wp

  implicit none

  private

  type, public, extends(kernel_type) :: launch
    type(go_arg) :: meta_args(1) = (/ go_arg(go_readwrite, go_ct, go_pointwise) /)
    integer :: iterates_over = go_internal_pts
    integer :: index_offset = go_offset_ne
  contains
    procedure, nopass :: code => launch_code
  end type launch

  public :: launch_code

contains

  subroutine launch_code(i, j, height)
    use model_mod
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: height(:, :)

    if (height(i, j) > gravity * rdt) launches = launches + 1
    height(i, j) = height(i, j) / real(launches, go_wp)
  end subroutine launch_code

end module launch_mod
