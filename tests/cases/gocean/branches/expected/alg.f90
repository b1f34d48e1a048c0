!> Kernels with branches for land: where a strip of a row is all sea, it has none.
module sea_mod

  use drift_mod, only: drift
  use field_mod, only: r2d_field
  use settle_mod, only: settle
  use sea_mod_psy, only: invoke_0

  implicit none

contains

  subroutine sea(speed, depth, dust)
    type(r2d_field), intent(inout) :: speed, depth, dust

    call invoke_0(speed, depth, dust)
  end subroutine sea

end module sea_mod
