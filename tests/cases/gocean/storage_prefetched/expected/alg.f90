!> What the device makes is read on the host two loops later, and is brought meanwhile; what the
!> host makes goes the same way.
module both_sides_mod

  use field_mod, only : r2d_field
  use add_heights_mod, only : add_heights
  use both_sides_mod_psy, only: invoke_0

  implicit none

contains

  subroutine both_sides(height, depth, old, new, sum)
    type(r2d_field), intent(inout) :: height, depth, old, new, sum

    call invoke_0(new, old, height, depth, sum)

  end subroutine both_sides

end module both_sides_mod
