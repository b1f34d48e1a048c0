!> Owns other tables than those that were brought: each entry is one that there is, and not the right one.
module misleading_mod

  use, intrinsic :: iso_fortran_env, only: int32, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value

  implicit none
  private

  public :: mislead

  !> Let a pointer point to another table of the same shape: of the first cell, dof or colour alone,
  !> or of no numbers. It is never freed.
  interface mislead
    module procedure mislead_int32_1, mislead_int32_2, mislead_int32_3, mislead_int32_4, &
                     mislead_real64_1, mislead_real64_2, mislead_real64_3, mislead_real64_4
  end interface mislead

contains

  subroutine mislead_int32_1(table)
    integer(int32), pointer, contiguous, intent(inout) :: table(:)
    integer(int32), pointer, contiguous :: other(:)

    allocate (other, mold=table)
    other = 1
    table => other
  end subroutine mislead_int32_1

  subroutine mislead_int32_2(table)
    integer(int32), pointer, contiguous, intent(inout) :: table(:, :)
    integer(int32), pointer, contiguous :: other(:, :)

    allocate (other, mold=table)
    other = 1
    table => other
  end subroutine mislead_int32_2

  subroutine mislead_int32_3(table)
    integer(int32), pointer, contiguous, intent(inout) :: table(:, :, :)
    integer(int32), pointer, contiguous :: other(:, :, :)

    allocate (other, mold=table)
    other = 1
    table => other
  end subroutine mislead_int32_3

  subroutine mislead_int32_4(table)
    integer(int32), pointer, contiguous, intent(inout) :: table(:, :, :, :)
    integer(int32), pointer, contiguous :: other(:, :, :, :)

    allocate (other, mold=table)
    other = 1
    table => other
  end subroutine mislead_int32_4

  subroutine mislead_real64_1(table)
    real(real64), pointer, contiguous, intent(inout) :: table(:)
    real(real64), pointer, contiguous :: other(:)

    allocate (other, mold=table)
    other = ieee_value(0.0_real64, ieee_quiet_nan)
    table => other
  end subroutine mislead_real64_1

  subroutine mislead_real64_2(table)
    real(real64), pointer, contiguous, intent(inout) :: table(:, :)
    real(real64), pointer, contiguous :: other(:, :)

    allocate (other, mold=table)
    other = ieee_value(0.0_real64, ieee_quiet_nan)
    table => other
  end subroutine mislead_real64_2

  subroutine mislead_real64_3(table)
    real(real64), pointer, contiguous, intent(inout) :: table(:, :, :)
    real(real64), pointer, contiguous :: other(:, :, :)

    allocate (other, mold=table)
    other = ieee_value(0.0_real64, ieee_quiet_nan)
    table => other
  end subroutine mislead_real64_3

  subroutine mislead_real64_4(table)
    real(real64), pointer, contiguous, intent(inout) :: table(:, :, :, :)
    real(real64), pointer, contiguous :: other(:, :, :, :)

    allocate (other, mold=table)
    other = ieee_value(0.0_real64, ieee_quiet_nan)
    table => other
  end subroutine mislead_real64_4

end module misleading_mod
