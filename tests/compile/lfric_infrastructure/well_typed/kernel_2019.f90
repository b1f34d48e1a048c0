!> Metadata of a kernel in the form of 2019, spaces taken from either module.
module kernel_2019_mod

  use argument_mod, only: any_space_1, arg_type, cells, cross, func_type, gh_basis, gh_coarse, &
    gh_diff_basis, gh_field, gh_fine, gh_inc, gh_integer, gh_operator, gh_orientation, &
    gh_quadrature_xyoz, gh_read, gh_real, gh_sum, stencil, w1, w2, w3
  use kernel_mod, only: kernel_type

  implicit none
  private

  type, extends(kernel_type), public :: kernel_2019_type
    private
    type(arg_type) :: meta_args(7) = (/ &
      arg_type(gh_field, gh_inc, w1), &
      arg_type(gh_field*2, gh_read, w2, stencil(cross)), &
      arg_type(gh_field, gh_read, any_space_1, mesh_arg=gh_coarse), &
      arg_type(gh_field, gh_read, w3, mesh_arg=gh_fine), &
      arg_type(gh_operator, gh_read, w2, w3), &
      arg_type(gh_real, gh_sum), &
      arg_type(gh_integer, gh_read) /)
    type(func_type) :: meta_funcs(1) = (/ &
      func_type(w2, gh_basis, gh_diff_basis, gh_orientation) /)
    integer :: iterates_over = cells
    integer :: gh_shape = gh_quadrature_xyoz
  end type kernel_2019_type

end module kernel_2019_mod
