!> A kernel for every type of point: loops over whole arrays.
module any_type_of_point_mod

  use field_mod, only : r2d_field
  use kind_params_mod, only : go_wp
  use copy_any_mod, only : copy_any
  use any_type_of_point_mod_psy, only: invoke_0_copy_any

  implicit none

contains

  subroutine any_type_of_point(height, old, new)
    type(r2d_field), intent(inout) :: height, old, new

    call invoke_0_copy_any(new, old)

  end subroutine any_type_of_point

end module any_type_of_point_mod
