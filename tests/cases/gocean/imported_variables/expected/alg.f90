!> Kernels whose variables of modules are passed to them.
module drift_mod

  use field_mod, only : r2d_field
  use friction_mod, only : friction
  use launch_mod, only : launch
  use drift_mod_psy, only: invoke_0

  implicit none

contains

  subroutine drift(u, height)
    type(r2d_field), intent(inout) :: u, height
    real :: rdt

    call invoke_0(u, height)

  end subroutine drift

end module drift_mod
