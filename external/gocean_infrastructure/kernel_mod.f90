!> Base of kernel types, and constants that describe a kernel as a whole.
module kernel_mod

  use argument_mod, only: go_arg, go_inc, go_max, go_min, go_read, go_readwrite, go_stencil, &
      go_sum, go_write

  implicit none
  private

  public :: go_arg, go_read, go_write, go_readwrite, go_inc, go_sum, go_min, go_max

  !> The stencil of a field that is read at the computed point only.
  type(go_stencil), public, parameter :: go_pointwise = go_stencil(000, 010, 000)

  !> Points at which a kernel is called.
  integer, public, parameter :: go_internal_pts = 0, go_external_pts = 1, go_all_pts = 2

  !> A kernel is called for single points. Kernels import this constant; it is not read.
  integer, public, parameter :: go_dofs = 5

  !> Geometry of the cells of a grid.
  integer, public, parameter :: go_orthogonal_regular = 7, go_orthogonal_curvilinear = 8

  !> The base of all kernel types.
  type, public, abstract :: kernel_type
  end type kernel_type

end module kernel_mod
