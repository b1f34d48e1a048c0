!> One kernel, pointwise.
module one_kernel_mod

  use field_mod, only : r2d_field
  use kind_params_mod, only : go_wp
  use copy_height_mod, only : copy_height
  use one_kernel_mod_psy, only: invoke_0_copy_height

  implicit none

contains

  subroutine one_kernel(height, old, new)
    type(r2d_field), intent(inout) :: height, old, new

    call invoke_0_copy_height(new, old)

  end subroutine one_kernel

end module one_kernel_mod
