!> Rows that wait: each thread has columns of its own, unless columns wait, too.
module edges_mod

  use field_mod, only: r2d_field
  use spread_corner_mod, only: spread_corner
  use spread_north_mod, only: spread_north
  use edges_mod_psy, only: invoke_0

  implicit none

contains

  subroutine edges(height)
    type(r2d_field), intent(inout) :: height

    call invoke_0(height)
  end subroutine edges

end module edges_mod
