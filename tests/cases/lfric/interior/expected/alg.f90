module step_alg_mod

  use field_mod, only : field_type
  use smooth_kernel_mod, only : smooth_kernel_type
  use step_alg_mod_psy, only: invoke_0

  implicit none

contains

  subroutine step(mass, rho, theta)
    type(field_type), intent(inout) :: mass, rho, theta

    call invoke_0(theta, mass, rho)

  end subroutine step

end module step_alg_mod
