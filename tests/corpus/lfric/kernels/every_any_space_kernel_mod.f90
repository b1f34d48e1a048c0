!-----------------------------------------------------------------------------
! Corpus kernel: every any space.
!-----------------------------------------------------------------------------
!> @brief Add a share of nine fields, each on a space of its own, to a tenth.
module every_any_space_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, &
                           ANY_SPACE_1, GH_READ, ANY_SPACE_2, ANY_SPACE_3, ANY_SPACE_4, &
                           ANY_SPACE_5, ANY_SPACE_6, ANY_SPACE_7, ANY_SPACE_8, &
                           ANY_SPACE_9, ANY_SPACE_10
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: every_any_space_kernel_type
    private
    type(arg_type) :: meta_args(10) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_4), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_5), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_6), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_7), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_8), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_9), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_10)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: every_any_space_code
  end type every_any_space_kernel_type

  public :: every_any_space_code

contains

  !> @brief Add a share of nine fields, each on a space of its own, to a tenth.
  !> @param[in,out] total Real field on ANY_SPACE_1, incremented.
  !> @param[in] part_2 Real field on ANY_SPACE_2.
  !> @param[in] part_3 Real field on ANY_SPACE_3.
  !> @param[in] part_4 Real field on ANY_SPACE_4.
  !> @param[in] part_5 Real field on ANY_SPACE_5.
  !> @param[in] part_6 Real field on ANY_SPACE_6.
  !> @param[in] part_7 Real field on ANY_SPACE_7.
  !> @param[in] part_8 Real field on ANY_SPACE_8.
  !> @param[in] part_9 Real field on ANY_SPACE_9.
  !> @param[in] part_10 Real field on ANY_SPACE_10.
  subroutine every_any_space_code(nlayers, &
                                  total, &
                                  part_2, &
                                  part_3, &
                                  part_4, &
                                  part_5, &
                                  part_6, &
                                  part_7, &
                                  part_8, &
                                  part_9, &
                                  part_10, &
                                  ndf_s1, undf_s1, map_s1, &
                                  ndf_s2, undf_s2, map_s2, &
                                  ndf_s3, undf_s3, map_s3, &
                                  ndf_s4, undf_s4, map_s4, &
                                  ndf_s5, undf_s5, map_s5, &
                                  ndf_s6, undf_s6, map_s6, &
                                  ndf_s7, undf_s7, map_s7, &
                                  ndf_s8, undf_s8, map_s8, &
                                  ndf_s9, undf_s9, map_s9, &
                                  ndf_s10, undf_s10, map_s10)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_s1, undf_s1, ndf_s2, undf_s2
    integer(kind=i_def), intent(in) :: ndf_s3, undf_s3, ndf_s4, undf_s4, ndf_s5
    integer(kind=i_def), intent(in) :: undf_s5, ndf_s6, undf_s6, ndf_s7, undf_s7
    integer(kind=i_def), intent(in) :: ndf_s8, undf_s8, ndf_s9, undf_s9, ndf_s10
    integer(kind=i_def), intent(in) :: undf_s10
    real(kind=r_def), intent(inout) :: total(undf_s1)
    real(kind=r_def), intent(in) :: part_2(undf_s2)
    real(kind=r_def), intent(in) :: part_3(undf_s3)
    real(kind=r_def), intent(in) :: part_4(undf_s4)
    real(kind=r_def), intent(in) :: part_5(undf_s5)
    real(kind=r_def), intent(in) :: part_6(undf_s6)
    real(kind=r_def), intent(in) :: part_7(undf_s7)
    real(kind=r_def), intent(in) :: part_8(undf_s8)
    real(kind=r_def), intent(in) :: part_9(undf_s9)
    real(kind=r_def), intent(in) :: part_10(undf_s10)
    integer(kind=i_def), intent(in) :: map_s1(ndf_s1)
    integer(kind=i_def), intent(in) :: map_s2(ndf_s2)
    integer(kind=i_def), intent(in) :: map_s3(ndf_s3)
    integer(kind=i_def), intent(in) :: map_s4(ndf_s4)
    integer(kind=i_def), intent(in) :: map_s5(ndf_s5)
    integer(kind=i_def), intent(in) :: map_s6(ndf_s6)
    integer(kind=i_def), intent(in) :: map_s7(ndf_s7)
    integer(kind=i_def), intent(in) :: map_s8(ndf_s8)
    integer(kind=i_def), intent(in) :: map_s9(ndf_s9)
    integer(kind=i_def), intent(in) :: map_s10(ndf_s10)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      total(map_s1(1)+k) = total(map_s1(1)+k) + part_2(map_s2(1)+k)
      total(map_s1(1)+k) = total(map_s1(1)+k) + part_3(map_s3(1)+k)
      total(map_s1(1)+k) = total(map_s1(1)+k) + part_4(map_s4(1)+k)
      total(map_s1(1)+k) = total(map_s1(1)+k) + part_5(map_s5(1)+k)
      total(map_s1(1)+k) = total(map_s1(1)+k) + part_6(map_s6(1)+k)
      total(map_s1(1)+k) = total(map_s1(1)+k) + part_7(map_s7(1)+k)
      total(map_s1(1)+k) = total(map_s1(1)+k) + part_8(map_s8(1)+k)
      total(map_s1(1)+k) = total(map_s1(1)+k) + part_9(map_s9(1)+k)
      total(map_s1(1)+k) = total(map_s1(1)+k) + part_10(map_s10(1)+k)
    end do

  end subroutine every_any_space_code

end module every_any_space_kernel_mod
