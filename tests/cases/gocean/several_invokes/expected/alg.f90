!> Invokes one after the other.
module several_invokes_mod

  use field_mod, only : r2d_field
  use kind_params_mod, only : go_wp
  use copy_height_mod, only : copy_height
  use smooth_mod, only : smooth
  use several_invokes_mod_psy, only: invoke_0_copy_height, invoke_1, invoke_finish

  implicit none

contains

  subroutine several_invokes(height, old, new)
    type(r2d_field), intent(inout) :: height, old, new

    integer :: step

    call invoke_0_copy_height(old, height)
    do step = 1, 10
      call invoke_1(new, old)
    end do
    call invoke_finish(height, old)

  end subroutine several_invokes

end module several_invokes_mod
