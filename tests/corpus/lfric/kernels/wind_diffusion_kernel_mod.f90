!-----------------------------------------------------------------------------
! Corpus kernel: wind diffusion.
!-----------------------------------------------------------------------------
!> @brief Diffuse the wind across the cells of a cross.
module wind_diffusion_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ, &
                           STENCIL, CROSS, GH_SCALAR
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: wind_diffusion_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2, STENCIL(CROSS)), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: wind_diffusion_code
  end type wind_diffusion_kernel_type

  public :: wind_diffusion_code

contains

  !> @brief Diffuse the wind across the cells of a cross.
  !> @param[in,out] du Real field on W2, incremented.
  !> @param[in] u Real field on W2, read through a stencil (cross).
  !> @param[in] viscosity Real scalar.
  subroutine wind_diffusion_code(nlayers, &
                                 du, &
                                 u, u_size, u_stencil, &
                                 viscosity, &
                                 ndf_w2, undf_w2, map_w2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, u_size, ndf_w2, undf_w2
    real(kind=r_def), intent(inout) :: du(undf_w2)
    real(kind=r_def), intent(in) :: u(undf_w2)
    integer(kind=i_def), intent(in) :: u_stencil(ndf_w2, u_size)
    real(kind=r_def), intent(in) :: viscosity
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)

    integer(kind=i_def) :: k, df, p

    do k = 0, nlayers - 1
      do df = 1, ndf_w2
        do p = 2, u_size
          du(map_w2(df)+k) = du(map_w2(df)+k) + viscosity * (u(u_stencil(df, p)+k) &
              - u(map_w2(df)+k))
        end do
      end do
    end do

  end subroutine wind_diffusion_code

end module wind_diffusion_kernel_mod
