!> Metadata and interface of a kernel, in today's form, with every kind of entry.
module today_kernel_mod

  use argument_mod, only: adjacent_face, ANY_DISCONTINUOUS_SPACE_1, ANY_SPACE_1, arg_type, &
    CELL_COLUMN, CROSS, CROSS2D, func_type, GH_BASIS, GH_COLUMNWISE_OPERATOR, GH_DIFF_BASIS, &
    GH_EVALUATOR, GH_FIELD, GH_INC, GH_INTEGER, GH_LOGICAL, GH_OPERATOR, &
    GH_QUADRATURE_EDGE, GH_QUADRATURE_FACE, GH_QUADRATURE_XYOZ, GH_READ, GH_READWRITE, GH_REAL, &
    GH_SCALAR, GH_SCALAR_ARRAY, GH_WRITE, mesh_data_type, normals_to_horizontal_faces, &
    reference_element_data_type, STENCIL
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W0, W1, W2, W3, Wtheta
  use kernel_mod, only: kernel_type

  implicit none
  private

  type, extends(kernel_type), public :: today_kernel_type
    private
    type(arg_type) :: meta_args(10) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W1), &
      arg_type(GH_FIELD*3, GH_REAL, GH_READ, W0), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_1, STENCIL(CROSS)), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2, STENCIL(CROSS2D)), &
      arg_type(GH_FIELD, GH_INTEGER, GH_READWRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, Wtheta, nlevels="2", ndata="3"), &
      arg_type(GH_OPERATOR, GH_REAL, GH_WRITE, W2, W3), &
      arg_type(GH_COLUMNWISE_OPERATOR, GH_REAL, GH_READ, W3, Wtheta), &
      arg_type(GH_SCALAR, GH_LOGICAL, GH_READ), &
      arg_type(GH_SCALAR_ARRAY, GH_INTEGER, GH_READ, 2) /)
    type(func_type) :: meta_funcs(2) = [ &
      func_type(W0, GH_DIFF_BASIS), &
      func_type(W1, GH_BASIS, GH_DIFF_BASIS)]
    type(reference_element_data_type) :: meta_reference_element(1) = [ &
      reference_element_data_type(normals_to_horizontal_faces)]
    type(mesh_data_type) :: meta_mesh(1) = [mesh_data_type(adjacent_face)]
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape(4) = [GH_QUADRATURE_XYOZ, GH_QUADRATURE_FACE, GH_QUADRATURE_EDGE, &
                              GH_EVALUATOR]
    integer :: gh_evaluator_targets(1) = [W0]
  contains
    procedure, nopass :: code => today_code
  end type today_kernel_type

contains

  subroutine today_code(nlayers, x, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, ndf, undf
    integer(i_def), intent(in) :: map(ndf)
    real(r_def), intent(inout) :: x(undf)

    x(map(1):map(1) + nlayers - 1) = 0.0_r_def
  end subroutine today_code

end module today_kernel_mod
