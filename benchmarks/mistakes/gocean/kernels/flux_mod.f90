module flux_mod

  use argument_mod
  use grid_mod,        only : go_offset_ne
  use kernel_mod
  use kind_params_mod, only : go_wp

  implicit none

  private
  public :: flux_code

  type, public, extends(kernel_type) :: flux
    type(go_arg), dimension(3) :: meta_args = (/              &
         go_arg(go_write, go_cu, go_pointwise),               &
         go_arg(go_read, go_ct, go_stencil(000, 011, 000)),   &
         go_arg(go_read, go_cu, go_pointwise)                 &
         /)
    integer :: iterates_over = go_internal_pts
    integer :: index_offset = go_offset_ne
  contains
    procedure, nopass :: code => flux_code
  end type flux

contains

  subroutine flux_code(ji, jj, flow, height, speed)

    integer,     intent(in)    :: ji, jj
    real(go_wp), intent(inout) :: flow(:, :)
    real(go_wp), intent(in)    :: height(:, :), speed(:, :)

    flow(ji, jj) = 0.5_go_wp * (height(ji, jj) + height(ji+1, jj)) * speed(ji, jj)

  end subroutine flux_code

end module flux_mod
