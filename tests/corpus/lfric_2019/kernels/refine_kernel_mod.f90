!> From a coarse mesh to a fine one in metadata of 2019, which passes one number of cells.
module refine_kernel_mod

  use argument_mod,  only: any_space_1, any_space_2, arg_type, cells, gh_coarse, gh_field, &
                           gh_fine, gh_inc, gh_read
  use constants_mod, only: i_def, r_def
  use kernel_mod,    only: kernel_type

  implicit none

  private
  public :: refine_code

  type, public, extends(kernel_type) :: refine_type
    private
    type(arg_type) :: meta_args(2) = (/                                   &
         arg_type(gh_field, gh_inc,  any_space_1, mesh_arg=gh_fine),      &
         arg_type(gh_field, gh_read, any_space_2, mesh_arg=gh_coarse)     &
         /)
    integer :: iterates_over = cells
  contains
    procedure, nopass :: refine_code
  end type refine_type

contains

  !> Add the coarse value to the fine cells of a coarse one.
  subroutine refine_code( nlayers, cell_map, ncell_per_cell, ncell_fine, fine, coarse, &
                          ndf_fine, undf_fine, map_fine, undf_coarse, map_coarse )
    integer(i_def), intent(in)    :: nlayers, ncell_per_cell, ncell_fine
    integer(i_def), intent(in)    :: ndf_fine, undf_fine, undf_coarse
    integer(i_def), intent(in)    :: cell_map(ncell_per_cell), map_coarse(:)
    integer(i_def), intent(in)    :: map_fine(ndf_fine, ncell_fine)
    real(r_def),    intent(inout) :: fine(undf_fine)
    real(r_def),    intent(in)    :: coarse(undf_coarse)
    integer(i_def) :: k, child

    do child = 1, ncell_per_cell
      do k = 0, nlayers - 1
        fine(map_fine(1, cell_map(child)) + k) = fine(map_fine(1, cell_map(child)) + k) &
                                                 + coarse(map_coarse(1) + k)
      end do
    end do
  end subroutine refine_code

end module refine_kernel_mod
