!-----------------------------------------------------------------------------
! Corpus kernel: add scaled.
!-----------------------------------------------------------------------------
!> @brief Add a multiple of one field to another, both on one space.
module add_scaled_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, &
                           ANY_SPACE_1, GH_SCALAR, GH_READ
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: add_scaled_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(gh_field, gh_real, gh_inc, ANY_SPACE_1), &
      arg_type(gh_scalar, gh_real, gh_read), &
      arg_type(gh_field, gh_real, gh_read, ANY_SPACE_1)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: code => add_scaled_code
  end type add_scaled_kernel_type

  public :: add_scaled_code

contains

  !> @brief Add a multiple of one field to another, both on one space.
  !> @param[in,out] y Real field on ANY_SPACE_1, incremented.
  !> @param[in] a Real scalar.
  !> @param[in] x Real field on ANY_SPACE_1.
  subroutine add_scaled_code(nlayers, &
                             y, &
                             a, &
                             x, &
                             ndf_s1, undf_s1, map_s1)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_s1, undf_s1
    real(kind=r_def), intent(inout) :: y(undf_s1)
    real(kind=r_def), intent(in) :: a
    real(kind=r_def), intent(in) :: x(undf_s1)
    integer(kind=i_def), intent(in) :: map_s1(ndf_s1)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_s1
        y(map_s1(df)+k) = y(map_s1(df)+k) + a * x(map_s1(df)+k)
      end do
    end do

  end subroutine add_scaled_code

end module add_scaled_kernel_mod
