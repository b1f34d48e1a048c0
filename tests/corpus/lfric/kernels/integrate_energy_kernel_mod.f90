!-----------------------------------------------------------------------------
! Corpus kernel: integrate energy.
!-----------------------------------------------------------------------------
!> @brief Integrate the kinetic energy of a cell.
module integrate_energy_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ, &
                           func_type, GH_BASIS, GH_QUADRATURE_XYOZ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: integrate_energy_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_field, gh_real, gh_write, W3), &
      arg_type(gh_field, gh_real, gh_read, W2)  &
      /)
    type(func_type) :: meta_funcs(2) = (/ &
      func_type(W2, GH_BASIS), &
      func_type(W3, GH_BASIS)  &
      /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape = GH_QUADRATURE_XYOZ
  contains
    procedure, nopass :: integrate_energy_code
  end type integrate_energy_kernel_type

  public :: integrate_energy_code

contains

  !> @brief Integrate the kinetic energy of a cell.
  !> @param[in,out] energy Real field on W3, overwritten.
  !> @param[in] u Real field on W2.
  subroutine integrate_energy_code(nlayers, &
                                   energy, &
                                   u, &
                                   ndf_w3, undf_w3, map_w3, basis_w3, &
                                   ndf_w2, undf_w2, map_w2, basis_w2, &
                                   np_xy, np_z, weights_xy, weights_z)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w3, undf_w3, ndf_w2, undf_w2
    integer(kind=i_def), intent(in) :: np_xy, np_z
    real(kind=r_def), intent(inout) :: energy(undf_w3)
    real(kind=r_def), intent(in) :: u(undf_w2)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    real(kind=r_def), intent(in) :: basis_w3(1, ndf_w3, np_xy, np_z)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    real(kind=r_def), intent(in) :: basis_w2(3, ndf_w2, np_xy, np_z)
    real(kind=r_def), intent(in) :: weights_xy(np_xy)
    real(kind=r_def), intent(in) :: weights_z(np_z)

    integer(kind=i_def) :: k, p, q

    do k = 0, nlayers - 1
      energy(map_w3(1)+k) = 0.0_r_def
      do p = 1, np_z
        do q = 1, np_xy
          energy(map_w3(1)+k) = energy(map_w3(1)+k) + weights_xy(q) * weights_z(p) &
            * basis_w3(1, 1, q, p) * sum(u(map_w2(:)+k) * basis_w2(1, :, q, p))
        end do
      end do
    end do

  end subroutine integrate_energy_code

end module integrate_energy_kernel_mod
