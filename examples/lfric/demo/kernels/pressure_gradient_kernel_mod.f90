!> The weak gradient of the pressure and the lift of the buoyancy, added to a tendency of wind.
module pressure_gradient_kernel_mod

  use argument_mod,  only: arg_type, CELL_COLUMN, func_type, GH_BASIS, GH_DIFF_BASIS, GH_FIELD, &
                           GH_INC, GH_QUADRATURE_XYOZ, GH_READ, GH_REAL
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W2, W3, Wtheta
  use kernel_mod,    only: kernel_type

  implicit none

  private
  public :: pressure_gradient_kernel_code

  type, public, extends(kernel_type) :: pressure_gradient_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/              &
         arg_type(GH_FIELD, GH_REAL, GH_INC,  W2),   &
         arg_type(GH_FIELD, GH_REAL, GH_READ, W3),   &
         arg_type(GH_FIELD, GH_REAL, GH_READ, Wtheta) &
         /)
    type(func_type) :: meta_funcs(3) = (/            &
         func_type(W2, GH_BASIS, GH_DIFF_BASIS),     &
         func_type(W3, GH_BASIS),                    &
         func_type(Wtheta, GH_BASIS)                 &
         /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape = GH_QUADRATURE_XYOZ
  contains
    procedure, nopass :: pressure_gradient_kernel_code
  end type pressure_gradient_kernel_type

contains

  !> Add the integrals over the cells of a column to the tendency of their faces.
  subroutine pressure_gradient_kernel_code( nlayers, tendency, pressure, buoyancy,            &
                                            ndf_w2, undf_w2, map_w2, basis_w2, diff_basis_w2, &
                                            ndf_w3, undf_w3, map_w3, basis_w3,                &
                                            ndf_wt, undf_wt, map_wt, basis_wt,                &
                                            np_xy, np_z, weights_xy, weights_z )
    integer(i_def), intent(in)    :: nlayers, np_xy, np_z
    integer(i_def), intent(in)    :: ndf_w2, undf_w2, ndf_w3, undf_w3, ndf_wt, undf_wt
    integer(i_def), intent(in)    :: map_w2(ndf_w2), map_w3(ndf_w3), map_wt(ndf_wt)
    real(r_def),    intent(inout) :: tendency(undf_w2)
    real(r_def),    intent(in)    :: pressure(undf_w3), buoyancy(undf_wt)
    real(r_def),    intent(in)    :: basis_w2(3, ndf_w2, np_xy, np_z)
    real(r_def),    intent(in)    :: diff_basis_w2(1, ndf_w2, np_xy, np_z)
    real(r_def),    intent(in)    :: basis_w3(1, ndf_w3, np_xy, np_z)
    real(r_def),    intent(in)    :: basis_wt(1, ndf_wt, np_xy, np_z)
    real(r_def),    intent(in)    :: weights_xy(np_xy), weights_z(np_z)
    real(r_def)    :: pressure_here, buoyancy_here, weight
    integer(i_def) :: k, df, i, j

    do k = 0, nlayers - 1
      do j = 1, np_z
        do i = 1, np_xy
          weight = weights_xy(i) * weights_z(j)
          pressure_here = 0.0_r_def
          do df = 1, ndf_w3
            pressure_here = pressure_here + pressure(map_w3(df) + k) * basis_w3(1, df, i, j)
          end do
          buoyancy_here = 0.0_r_def
          do df = 1, ndf_wt
            buoyancy_here = buoyancy_here + buoyancy(map_wt(df) + k) * basis_wt(1, df, i, j)
          end do
          do df = 1, ndf_w2
            tendency(map_w2(df) + k) = tendency(map_w2(df) + k)                          &
                                       + weight * (diff_basis_w2(1, df, i, j) * pressure_here &
                                                   + basis_w2(3, df, i, j) * buoyancy_here)
          end do
        end do
      end do
    end do
  end subroutine pressure_gradient_kernel_code

end module pressure_gradient_kernel_mod
