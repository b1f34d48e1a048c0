!> The inverse of small dense matrices, in single and double precision.
module matrix_invert_mod

  use constants_mod, only: i_def, r_double, r_single

  implicit none
  private

  public :: matrix_invert_lu, matrix_invert_plu, matrix_invert_3x3, determinant_3x3

  !> Set b to the inverse of a. Rows are exchanged for accuracy here too.
  interface matrix_invert_lu
    module procedure invert_single, invert_double
  end interface matrix_invert_lu

  !> Set b to the inverse of a, with rows exchanged for accuracy.
  interface matrix_invert_plu
    module procedure invert_single, invert_double
  end interface matrix_invert_plu

  !> Return the inverse of a 3 by 3 matrix.
  interface matrix_invert_3x3
    module procedure invert_3x3_single, invert_3x3_double
  end interface matrix_invert_3x3

  !> Return the determinant of a 3 by 3 matrix.
  interface determinant_3x3
    module procedure determinant_3x3_single, determinant_3x3_double
  end interface determinant_3x3

contains

  !> Set b to the inverse of a by elimination on both at once; stops the program if a is singular.
  subroutine invert_double(a, b, n)
    integer(i_def), intent(in) :: n
    real(r_double), intent(in) :: a(n, n)
    real(r_double), intent(out) :: b(n, n)

    real(r_double) :: work(n, 2 * n), row(2 * n)
    integer(i_def) :: i, j, pivot

    work = 0.0_r_double
    work(:, :n) = a
    do i = 1, n
      work(i, n + i) = 1.0_r_double
    end do
    do i = 1, n
      pivot = i - 1 + maxloc(abs(work(i:, i)), 1)
      row = work(pivot, :)
      work(pivot, :) = work(i, :)
      if (abs(row(i)) < tiny(1.0_r_double)) error stop 'matrix_invert: the matrix is singular'
      work(i, :) = row / row(i)
      do j = 1, n
        if (j /= i) work(j, :) = work(j, :) - work(j, i) * work(i, :)
      end do
    end do
    b = work(:, n + 1:)
  end subroutine invert_double

  !> Set b to the inverse of a, in single precision; computed in double.
  subroutine invert_single(a, b, n)
    integer(i_def), intent(in) :: n
    real(r_single), intent(in) :: a(n, n)
    real(r_single), intent(out) :: b(n, n)

    real(r_double) :: inverse(n, n)

    call invert_double(real(a, r_double), inverse, n)
    b = real(inverse, r_single)
  end subroutine invert_single

  !> Return the inverse of a 3 by 3 matrix.
  function invert_3x3_double(a) result(a_inv)
    real(r_double), intent(in) :: a(3, 3)
    real(r_double) :: a_inv(3, 3)

    call invert_double(a, a_inv, 3_i_def)
  end function invert_3x3_double

  !> Return the inverse of a 3 by 3 matrix, in single precision.
  function invert_3x3_single(a) result(a_inv)
    real(r_single), intent(in) :: a(3, 3)
    real(r_single) :: a_inv(3, 3)

    call invert_single(a, a_inv, 3_i_def)
  end function invert_3x3_single

  !> Return the determinant of a 3 by 3 matrix: the product of its columns as a box.
  pure function determinant_3x3_double(j) result(determinant)
    real(r_double), intent(in) :: j(3, 3)
    real(r_double) :: determinant

    determinant = dot_product(j(:, 1), cshift(j(:, 2), 1) * cshift(j(:, 3), 2) - &
                                       cshift(j(:, 2), 2) * cshift(j(:, 3), 1))
  end function determinant_3x3_double

  !> Return the determinant of a 3 by 3 matrix, in single precision.
  pure function determinant_3x3_single(j) result(determinant)
    real(r_single), intent(in) :: j(3, 3)
    real(r_single) :: determinant

    determinant = real(determinant_3x3_double(real(j, r_double)), r_single)
  end function determinant_3x3_single

end module matrix_invert_mod
