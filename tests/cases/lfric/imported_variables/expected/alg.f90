module drag_alg_mod
  use constants_mod, only : r_def
  use field_mod, only : field_type
  use drag_kernel_mod, only : drag_kernel_type
  use drag_alg_mod_psy, only: invoke_0
  implicit none
contains
  subroutine step(u)
    type(field_type), intent(inout) :: u
    call invoke_0(u)
  end subroutine step
end module drag_alg_mod
