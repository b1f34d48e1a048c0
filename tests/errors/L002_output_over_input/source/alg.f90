module step_alg_mod

  use constants_mod, only : i_def, l_def, r_def
  use drag_kernel_mod, only : drag_kernel_type
  use field_mod, only : field_type

  implicit none

contains

  subroutine step()

    type(field_type) :: drag, wind

    call invoke(drag_kernel_type(drag, wind))

  end subroutine step

end module step_alg_mod
