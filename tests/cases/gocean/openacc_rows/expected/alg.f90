!> Boundaries that are swept from point to point.
module edges_mod

  use field_mod, only: r2d_field
  use spread_east_mod, only: spread_east
  use spread_north_mod, only: spread_north
  use edges_mod_psy, only: invoke_0

  implicit none

contains

  subroutine edges(height)
    type(r2d_field), intent(inout) :: height

    call invoke_0(height)
  end subroutine edges

end module edges_mod
