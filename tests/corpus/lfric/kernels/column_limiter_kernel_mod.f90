!-----------------------------------------------------------------------------
! Corpus kernel: column limiter.
!-----------------------------------------------------------------------------
!> @brief Keep a discontinuous field between two others.
module column_limiter_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           ANY_DISCONTINUOUS_SPACE_1, GH_READ, ANY_DISCONTINUOUS_SPACE_2
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: column_limiter_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_2)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: column_limiter_code
  end type column_limiter_kernel_type

  public :: column_limiter_code

contains

  !> @brief Keep a discontinuous field between two others.
  !> @param[in,out] x Real field on ANY_DISCONTINUOUS_SPACE_1, updated.
  !> @param[in] lower Real field on ANY_DISCONTINUOUS_SPACE_2.
  !> @param[in] upper Real field on ANY_DISCONTINUOUS_SPACE_2.
  subroutine column_limiter_code(nlayers, &
                                 x, &
                                 lower, &
                                 upper, &
                                 ndf_d1, undf_d1, map_d1, &
                                 ndf_d2, undf_d2, map_d2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_d1, undf_d1, ndf_d2, undf_d2
    real(kind=r_def), intent(inout) :: x(undf_d1)
    real(kind=r_def), intent(in) :: lower(undf_d2)
    real(kind=r_def), intent(in) :: upper(undf_d2)
    integer(kind=i_def), intent(in) :: map_d1(ndf_d1)
    integer(kind=i_def), intent(in) :: map_d2(ndf_d2)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      x(map_d1(1)+k) = min(max(x(map_d1(1)+k), lower(map_d2(1)+k)), upper(map_d2(1)+k))
    end do

  end subroutine column_limiter_code

end module column_limiter_kernel_mod
