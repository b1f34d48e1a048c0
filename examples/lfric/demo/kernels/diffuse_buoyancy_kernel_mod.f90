!> Horizontal diffusion of the buoyancy over a cross of cells.
module diffuse_buoyancy_kernel_mod

  use argument_mod,  only: arg_type, CELL_COLUMN, CROSS, GH_FIELD, GH_READ, GH_REAL, GH_SCALAR, &
                           GH_WRITE, STENCIL
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: Wtheta
  use kernel_mod,    only: kernel_type

  implicit none

  private
  public :: diffuse_buoyancy_kernel_code

  type, public, extends(kernel_type) :: diffuse_buoyancy_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/                                 &
         arg_type(GH_FIELD,  GH_REAL, GH_WRITE, Wtheta),                &
         arg_type(GH_FIELD,  GH_REAL, GH_READ,  Wtheta, STENCIL(CROSS)), &
         arg_type(GH_SCALAR, GH_REAL, GH_READ)                          &
         /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: diffuse_buoyancy_kernel_code
  end type diffuse_buoyancy_kernel_type

contains

  !> Set the tendency to `coefficient` times the mean difference to the cells of the stencil.
  subroutine diffuse_buoyancy_kernel_code( nlayers, tendency, buoyancy, stencil_size, stencil, &
                                           coefficient, ndf_wt, undf_wt, map_wt )
    integer(i_def), intent(in)    :: nlayers, stencil_size, ndf_wt, undf_wt
    integer(i_def), intent(in)    :: stencil(ndf_wt, stencil_size), map_wt(ndf_wt)
    real(r_def),    intent(inout) :: tendency(undf_wt)
    real(r_def),    intent(in)    :: buoyancy(undf_wt), coefficient
    real(r_def)    :: difference
    integer(i_def) :: k, df, neighbour

    do df = 1, ndf_wt
      do k = 0, nlayers - 1
        difference = 0.0_r_def
        do neighbour = 2, stencil_size
          difference = difference + buoyancy(stencil(df, neighbour) + k) - buoyancy(map_wt(df) + k)
        end do
        tendency(map_wt(df) + k) = coefficient * difference / real(stencil_size, r_def)
      end do
    end do
  end subroutine diffuse_buoyancy_kernel_code

end module diffuse_buoyancy_kernel_mod
