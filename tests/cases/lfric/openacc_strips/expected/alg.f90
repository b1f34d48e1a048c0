module step_alg_mod

  use constants_mod, only : r_def
  use diffuse_kernel_mod, only : diffuse_kernel_type
  use field_mod, only : field_type
  use smooth_kernel_mod, only : smooth_kernel_type
  use step_alg_mod_psy, only: invoke_0

  implicit none

contains

  subroutine step(mass, rho, theta, wind)
    type(field_type), intent(inout) :: mass, rho, theta, wind
    real(r_def) :: total

    call invoke_0(theta, mass, wind, rho, total)

  end subroutine step

end module step_alg_mod
