module flux_kernel_mod

  use argument_mod,      only : arg_type, gh_field, gh_operator, gh_scalar, gh_real, &
                                gh_inc, gh_read, cell_column
  use constants_mod,     only : i_def, r_def
  use fs_continuity_mod, only : w2, w3
  use kernel_mod,        only : kernel_type

  implicit none

  private
  public :: flux_code

  type, public, extends(kernel_type) :: flux_kernel_type
    private
    type(arg_type) :: meta_args(4) = (/                  &
         arg_type(gh_field,    gh_real, gh_inc,  w2),     &
         arg_type(gh_field,    gh_real, gh_read, w3),     &
         arg_type(gh_operator, gh_real, gh_read, w2, w3), &
         arg_type(gh_scalar,   gh_real, gh_read)          &
         /)
    integer :: operates_on = cell_column
  contains
    procedure, nopass :: flux_code
  end type flux_kernel_type

contains

  subroutine flux_code(cell, nlayers, wind, rho, ncell, mass, dt, &
                       ndf_w2, undf_w2, map_w2, ndf_w3, undf_w3, map_w3)

    integer(i_def), intent(in) :: cell, nlayers, ncell
    integer(i_def), intent(in) :: ndf_w2, undf_w2, ndf_w3, undf_w3
    integer(i_def), intent(in) :: map_w2(ndf_w2), map_w3(ndf_w3)
    real(r_def), intent(inout) :: wind(undf_w2)
    real(r_def), intent(in)    :: rho(undf_w3)
    real(r_def), intent(in)    :: mass(ncell, ndf_w2, ndf_w3)
    real(r_def), intent(in)    :: dt
    integer(i_def)             :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_w2
        wind(map_w2(df) + k) = wind(map_w2(df) + k) &
             + dt * mass((cell - 1) * nlayers + k + 1, df, 1) * rho(map_w3(1) + k)
      end do
    end do

  end subroutine flux_code

end module flux_kernel_mod
