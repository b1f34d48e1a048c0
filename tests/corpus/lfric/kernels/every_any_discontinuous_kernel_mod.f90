!-----------------------------------------------------------------------------
! Corpus kernel: every any discontinuous.
!-----------------------------------------------------------------------------
!> @brief Overwrite one discontinuous field by the sum of nine others.
module every_any_discontinuous_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, &
                           ANY_DISCONTINUOUS_SPACE_1, GH_READ, &
                           ANY_DISCONTINUOUS_SPACE_2, ANY_DISCONTINUOUS_SPACE_3, &
                           ANY_DISCONTINUOUS_SPACE_4, ANY_DISCONTINUOUS_SPACE_5, &
                           ANY_DISCONTINUOUS_SPACE_6, ANY_DISCONTINUOUS_SPACE_7, &
                           ANY_DISCONTINUOUS_SPACE_8, ANY_DISCONTINUOUS_SPACE_9, &
                           ANY_DISCONTINUOUS_SPACE_10
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: every_any_discontinuous_kernel_type
    private
    type(arg_type) :: meta_args(10) = (/ &
      arg_type(gh_field, gh_real, gh_write, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(gh_field, gh_real, gh_read, ANY_DISCONTINUOUS_SPACE_2), &
      arg_type(gh_field, gh_real, gh_read, ANY_DISCONTINUOUS_SPACE_3), &
      arg_type(gh_field, gh_real, gh_read, ANY_DISCONTINUOUS_SPACE_4), &
      arg_type(gh_field, gh_real, gh_read, ANY_DISCONTINUOUS_SPACE_5), &
      arg_type(gh_field, gh_real, gh_read, ANY_DISCONTINUOUS_SPACE_6), &
      arg_type(gh_field, gh_real, gh_read, ANY_DISCONTINUOUS_SPACE_7), &
      arg_type(gh_field, gh_real, gh_read, ANY_DISCONTINUOUS_SPACE_8), &
      arg_type(gh_field, gh_real, gh_read, ANY_DISCONTINUOUS_SPACE_9), &
      arg_type(gh_field, gh_real, gh_read, ANY_DISCONTINUOUS_SPACE_10)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: every_any_discontinuous_code
  end type every_any_discontinuous_kernel_type

  public :: every_any_discontinuous_code

contains

  !> @brief Overwrite one discontinuous field by the sum of nine others.
  !> @param[in,out] total Real field on ANY_DISCONTINUOUS_SPACE_1, overwritten.
  !> @param[in] part_2 Real field on ANY_DISCONTINUOUS_SPACE_2.
  !> @param[in] part_3 Real field on ANY_DISCONTINUOUS_SPACE_3.
  !> @param[in] part_4 Real field on ANY_DISCONTINUOUS_SPACE_4.
  !> @param[in] part_5 Real field on ANY_DISCONTINUOUS_SPACE_5.
  !> @param[in] part_6 Real field on ANY_DISCONTINUOUS_SPACE_6.
  !> @param[in] part_7 Real field on ANY_DISCONTINUOUS_SPACE_7.
  !> @param[in] part_8 Real field on ANY_DISCONTINUOUS_SPACE_8.
  !> @param[in] part_9 Real field on ANY_DISCONTINUOUS_SPACE_9.
  !> @param[in] part_10 Real field on ANY_DISCONTINUOUS_SPACE_10.
  subroutine every_any_discontinuous_code(nlayers, &
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
                                          ndf_d1, undf_d1, map_d1, &
                                          ndf_d2, undf_d2, map_d2, &
                                          ndf_d3, undf_d3, map_d3, &
                                          ndf_d4, undf_d4, map_d4, &
                                          ndf_d5, undf_d5, map_d5, &
                                          ndf_d6, undf_d6, map_d6, &
                                          ndf_d7, undf_d7, map_d7, &
                                          ndf_d8, undf_d8, map_d8, &
                                          ndf_d9, undf_d9, map_d9, &
                                          ndf_d10, undf_d10, map_d10)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_d1, undf_d1, ndf_d2, undf_d2
    integer(kind=i_def), intent(in) :: ndf_d3, undf_d3, ndf_d4, undf_d4, ndf_d5
    integer(kind=i_def), intent(in) :: undf_d5, ndf_d6, undf_d6, ndf_d7, undf_d7
    integer(kind=i_def), intent(in) :: ndf_d8, undf_d8, ndf_d9, undf_d9, ndf_d10
    integer(kind=i_def), intent(in) :: undf_d10
    real(kind=r_def), intent(inout) :: total(undf_d1)
    real(kind=r_def), intent(in) :: part_2(undf_d2)
    real(kind=r_def), intent(in) :: part_3(undf_d3)
    real(kind=r_def), intent(in) :: part_4(undf_d4)
    real(kind=r_def), intent(in) :: part_5(undf_d5)
    real(kind=r_def), intent(in) :: part_6(undf_d6)
    real(kind=r_def), intent(in) :: part_7(undf_d7)
    real(kind=r_def), intent(in) :: part_8(undf_d8)
    real(kind=r_def), intent(in) :: part_9(undf_d9)
    real(kind=r_def), intent(in) :: part_10(undf_d10)
    integer(kind=i_def), intent(in) :: map_d1(ndf_d1)
    integer(kind=i_def), intent(in) :: map_d2(ndf_d2)
    integer(kind=i_def), intent(in) :: map_d3(ndf_d3)
    integer(kind=i_def), intent(in) :: map_d4(ndf_d4)
    integer(kind=i_def), intent(in) :: map_d5(ndf_d5)
    integer(kind=i_def), intent(in) :: map_d6(ndf_d6)
    integer(kind=i_def), intent(in) :: map_d7(ndf_d7)
    integer(kind=i_def), intent(in) :: map_d8(ndf_d8)
    integer(kind=i_def), intent(in) :: map_d9(ndf_d9)
    integer(kind=i_def), intent(in) :: map_d10(ndf_d10)


    total(map_d1(1)) = 0.0_r_def
    total(map_d1(1)) = total(map_d1(1)) + part_2(map_d2(1))
    total(map_d1(1)) = total(map_d1(1)) + part_3(map_d3(1))
    total(map_d1(1)) = total(map_d1(1)) + part_4(map_d4(1))
    total(map_d1(1)) = total(map_d1(1)) + part_5(map_d5(1))
    total(map_d1(1)) = total(map_d1(1)) + part_6(map_d6(1))
    total(map_d1(1)) = total(map_d1(1)) + part_7(map_d7(1))
    total(map_d1(1)) = total(map_d1(1)) + part_8(map_d8(1))
    total(map_d1(1)) = total(map_d1(1)) + part_9(map_d9(1))
    total(map_d1(1)) = total(map_d1(1)) + part_10(map_d10(1))

  end subroutine every_any_discontinuous_code

end module every_any_discontinuous_kernel_mod
