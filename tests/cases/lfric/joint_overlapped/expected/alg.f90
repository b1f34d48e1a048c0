!> Two fields are on their way together while a loop runs that has to do with neither.
module step_alg_mod

  use field_mod, only : field_type
  use diffuse_kernel_mod, only : diffuse_kernel_type
  use step_alg_mod_psy, only: invoke_0

  implicit none

contains

  subroutine step(mass, rho, theta, wind)
    type(field_type), intent(inout) :: mass, rho, theta, wind

    call invoke_0(rho, theta, wind, mass)

  end subroutine step

end module step_alg_mod
