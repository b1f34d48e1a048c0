!-----------------------------------------------------------------------------
! An incremented field is read through a stencil.
!-----------------------------------------------------------------------------
module halo_increment_then_stencil_alg_mod

  use constants_mod, only : i_def, r_def
  use field_mod, only : field_type
  use wind_tendency_kernel_mod, only : wind_tendency_kernel_type
  use wind_to_cell_kernel_mod, only : wind_to_cell_kernel_type
  use halo_increment_then_stencil_alg_mod_psy, only: invoke_0

  implicit none

  private
  public :: halo_increment_then_stencil_alg

contains

  !> @brief An incremented field is read through a stencil.
  subroutine halo_increment_then_stencil_alg(du, u, exner, theta, speed, dt, extent)

    implicit none

    type(field_type), intent(inout) :: du, u, exner, theta, speed
    real(kind=r_def), intent(in) :: dt
    integer(kind=i_def), intent(in) :: extent

    ! The tendency is scaled here and not in the kernel, so that the same kernel serves the outer and the inner loop of the time
    ! step, which differ in their length only.
    if (dt <= 0.0_r_def) write (*, '(a, es12.4, a)') 'The time step is ', dt, &
        ' but must be positive; the state of the model is left as it was.'
    ! A caller that wants an error looks at the time step itself.
    !$omp master
    call invoke_0(du, u, exner, theta, dt, speed, extent)
    !$omp end master

  end subroutine halo_increment_then_stencil_alg

end module halo_increment_then_stencil_alg_mod
