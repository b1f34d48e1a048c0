!-----------------------------------------------------------------------------
! Corpus kernel: remap spaces.
!-----------------------------------------------------------------------------
!> @brief Move a field from one unknown space to another.
module remap_spaces_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, &
                           ANY_SPACE_1, GH_READ, ANY_SPACE_2
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: remap_spaces_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_2)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: remap_spaces_code
  end type remap_spaces_kernel_type

  public :: remap_spaces_code

contains

  !> @brief Move a field from one unknown space to another.
  !> @param[in,out] target Real field on ANY_SPACE_1, incremented.
  !> @param[in] source Real field on ANY_SPACE_2.
  subroutine remap_spaces_code(nlayers, &
                               target, &
                               source, &
                               ndf_s1, undf_s1, map_s1, &
                               ndf_s2, undf_s2, map_s2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_s1, undf_s1, ndf_s2, undf_s2
    real(kind=r_def), intent(inout) :: target(undf_s1)
    real(kind=r_def), intent(in) :: source(undf_s2)
    integer(kind=i_def), intent(in) :: map_s1(ndf_s1)
    integer(kind=i_def), intent(in) :: map_s2(ndf_s2)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_s1
        target(map_s1(df)+k) = target(map_s1(df)+k) + source(map_s2(1)+k)
      end do
    end do

  end subroutine remap_spaces_code

end module remap_spaces_kernel_mod
