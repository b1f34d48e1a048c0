!-----------------------------------------------------------------------------
! Corpus kernel: write and read continuous.
!-----------------------------------------------------------------------------
!> @brief Overwrite a wind from a nodal field and a vorticity.
module write_and_read_continuous_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W0, W1
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: write_and_read_continuous_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(gh_field, gh_real, gh_write, W2), &
      arg_type(gh_field, gh_real, gh_read, W0), &
      arg_type(gh_field, gh_real, gh_read, W1)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: write_and_read_continuous_code
  end type write_and_read_continuous_kernel_type

  public :: write_and_read_continuous_code

contains

  !> @brief Overwrite a wind from a nodal field and a vorticity.
  !> @param[in,out] u Real field on W2, overwritten.
  !> @param[in] nodal Real field on W0.
  !> @param[in] xi Real field on W1.
  subroutine write_and_read_continuous_code(nlayers, &
                                            u, &
                                            nodal, &
                                            xi, &
                                            ndf_w2, undf_w2, map_w2, &
                                            ndf_w0, undf_w0, map_w0, &
                                            ndf_w1, undf_w1, map_w1)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2, undf_w2, ndf_w0, undf_w0
    integer(kind=i_def), intent(in) :: ndf_w1, undf_w1
    real(kind=r_def), intent(inout) :: u(undf_w2)
    real(kind=r_def), intent(in) :: nodal(undf_w0)
    real(kind=r_def), intent(in) :: xi(undf_w1)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    integer(kind=i_def), intent(in) :: map_w0(ndf_w0)
    integer(kind=i_def), intent(in) :: map_w1(ndf_w1)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_w2
        u(map_w2(df)+k) = 0.5_r_def * (nodal(map_w0(1)+k) + xi(map_w1(1)+k))
      end do
    end do

  end subroutine write_and_read_continuous_code

end module write_and_read_continuous_kernel_mod
