! Corpus kernel: metadata in square brackets, which Fortran allows since 2003.
module bracket_metadata_kernel_mod

  use argument_mod,      only : arg_type, func_type, CELL_COLUMN, GH_BASIS, GH_EVALUATOR, &
                                GH_FIELD, GH_INC, GH_READ, GH_REAL
  use constants_mod,     only : i_def, r_def
  use fs_continuity_mod, only : W0, W3
  use kernel_mod,        only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: bracket_metadata_kernel_type
    private
    type(arg_type) :: meta_args(2) = [          &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W0),  &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3)]
    type(func_type) :: meta_funcs(1) = [func_type(W3, GH_BASIS)]
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape = GH_EVALUATOR
    integer :: gh_evaluator_targets(1) = [W0]
  contains
    procedure, nopass :: bracket_metadata_code
  end type bracket_metadata_kernel_type

  public :: bracket_metadata_code

contains

  !> Add a cell value, weighted by its basis function at the nodes.
  subroutine bracket_metadata_code(nlayers, nodal, cells, ndf_w0, undf_w0, map_w0, &
                                   ndf_w3, undf_w3, map_w3, basis_w3_on_w0)
    integer(i_def), intent(in)    :: nlayers, ndf_w0, undf_w0, ndf_w3, undf_w3
    real(r_def),    intent(inout) :: nodal(undf_w0)
    real(r_def),    intent(in)    :: cells(undf_w3)
    integer(i_def), intent(in)    :: map_w0(ndf_w0), map_w3(ndf_w3)
    real(r_def),    intent(in)    :: basis_w3_on_w0(1, ndf_w3, ndf_w0)
    integer(i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_w0
        nodal(map_w0(df)+k) = nodal(map_w0(df)+k) &
                            + cells(map_w3(1)+k) * basis_w3_on_w0(1, 1, df)
      end do
    end do
  end subroutine bracket_metadata_code

end module bracket_metadata_kernel_mod
