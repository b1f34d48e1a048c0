module flux_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, &
                           reference_element_data_type
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: flux_kernel_type
    private
    type(arg_type) :: meta_args(1) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3) &
         /)
    type(reference_element_data_type) :: meta_reference_element(2) = (/ &
         reference_element_data_type(normals_to_faces), &
         reference_element_data_type(normals_to_faces) &
         /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: flux_kernel_code
  end type flux_kernel_type

contains

  subroutine flux_kernel_code()
  end subroutine flux_kernel_code

end module flux_kernel_mod
