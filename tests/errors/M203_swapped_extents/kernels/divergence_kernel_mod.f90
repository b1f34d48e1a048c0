!> The divergence of a wind, with a precomputed operator.
module divergence_kernel_mod

  use argument_mod,  only: arg_type, CELL_COLUMN, GH_FIELD, GH_OPERATOR, GH_READ, GH_REAL, &
                           GH_WRITE
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W2, W3
  use kernel_mod,    only: kernel_type

  implicit none

  private
  public :: divergence_kernel_code

  type, public, extends(kernel_type) :: divergence_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/                    &
         arg_type(GH_FIELD,    GH_REAL, GH_WRITE, W3),     &
         arg_type(GH_FIELD,    GH_REAL, GH_READ,  W2),     &
         arg_type(GH_OPERATOR, GH_REAL, GH_READ,  W3, W2)  &
         /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: divergence_kernel_code
  end type divergence_kernel_type

contains

  !> Set the divergence in a column to the operator applied to the wind.
  subroutine divergence_kernel_code( cell, nlayers, divergence, wind, ncell_3d, operator, &
                                     ndf_w2, undf_w2, map_w2, ndf_w3, undf_w3, map_w3 )
    integer(i_def), intent(in)    :: cell, nlayers, ncell_3d
    integer(i_def), intent(in)    :: ndf_w3, undf_w3, ndf_w2, undf_w2
    integer(i_def), intent(in)    :: map_w3(ndf_w3), map_w2(ndf_w2)
    real(r_def),    intent(inout) :: divergence(undf_w3)
    real(r_def),    intent(in)    :: wind(undf_w2)
    real(r_def),    intent(in)    :: operator(ncell_3d, ndf_w3, ndf_w2)
    integer(i_def) :: k, row, column, ik

    do k = 0, nlayers - 1
      ik = (cell - 1) * nlayers + k + 1
      do row = 1, ndf_w3
        divergence(map_w3(row) + k) = 0.0_r_def
        do column = 1, ndf_w2
          divergence(map_w3(row) + k) = divergence(map_w3(row) + k) &
                                        + operator(ik, row, column) * wind(map_w2(column) + k)
        end do
      end do
    end do
  end subroutine divergence_kernel_code

end module divergence_kernel_mod
