!> Sums over all ranks: either fast, or exact and so independent of the number of ranks.
!>
!> An exact sum is rounded once, so that its bits are the same for each number of ranks. The choice
!> applies to the whole program and must be equal on all ranks.
module global_sums_mod

  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use message_passing_mod, only: reduce_sum

  implicit none
  private

  public :: use_exact_sums, sums_are_exact
  public :: sum_over_ranks, sum_of_values, sum_of_products

  !> Return the sum of a value of each rank.
  interface sum_over_ranks
    module procedure sum_over_ranks_int32
    module procedure sum_over_ranks_real32
    module procedure sum_over_ranks_real64
  end interface sum_over_ranks

  !> Return the sum of many values of each rank.
  interface sum_of_values
    module procedure sum_of_values_int32
    module procedure sum_of_values_real32
    module procedure sum_of_values_real64
  end interface sum_of_values

  !> Return the sum of many products of each rank, in 64 bits; an exact sum is that of products
  !> that are rounded to 64 bits.
  interface sum_of_products
    module procedure sum_of_products_real32
    module procedure sum_of_products_real64
  end interface sum_of_products

  logical, save :: exact = .false.

contains

  !> From now on make sums exact, or fast again.
  subroutine use_exact_sums(on)
    logical, intent(in) :: on

    exact = on
  end subroutine use_exact_sums

  !> Return whether sums are exact.
  function sums_are_exact()
    logical :: sums_are_exact

    sums_are_exact = exact
  end function sums_are_exact

  !> Return the sum of a value of each rank; whole numbers are always exact.
  function sum_over_ranks_int32(value) result(total)
    integer(int32), intent(in) :: value
    integer(int32) :: total

    total = reduce_sum(value)
  end function sum_over_ranks_int32

  !> Return the sum of a value of each rank.
  function sum_over_ranks_real32(value) result(total)
    real(real32), intent(in) :: value
    real(real32) :: total

    if (exact) then
      total = sum_of_values_real32([value])
    else
      total = reduce_sum(value)
    end if
  end function sum_over_ranks_real32

  !> Return the sum of a value of each rank.
  function sum_over_ranks_real64(value) result(total)
    real(real64), intent(in) :: value
    real(real64) :: total

    if (exact) then
      total = sum_of_values_real64([value])
    else
      total = reduce_sum(value)
    end if
  end function sum_over_ranks_real64

  !> Return the sum of many values of each rank; whole numbers are always exact.
  function sum_of_values_int32(values) result(total)
    integer(int32), intent(in) :: values(:)
    integer(int32) :: total

    total = reduce_sum(sum(values))
  end function sum_of_values_int32

  !> Return the sum of many values of each rank.
  function sum_of_values_real32(values) result(total)
    use exact_sum_mod, only: exact_sum_type

    real(real32), intent(in) :: values(:)
    real(real32) :: total

    type(exact_sum_type) :: exact_sum

    if (exact) then
      call exact_sum%add_values(real(values, real64))
      total = real(exact_sum%get_sum(), real32)
    else
      total = reduce_sum(sum(values))
    end if
  end function sum_of_values_real32

  !> Return the sum of many values of each rank.
  function sum_of_values_real64(values) result(total)
    use exact_sum_mod, only: exact_sum_type

    real(real64), intent(in) :: values(:)
    real(real64) :: total

    type(exact_sum_type) :: exact_sum

    if (exact) then
      call exact_sum%add_values(values)
      total = exact_sum%get_sum()
    else
      total = reduce_sum(sum(values))
    end if
  end function sum_of_values_real64

  !> Return the sum of many products of each rank.
  function sum_of_products_real32(factors, other_factors) result(total)
    real(real32), intent(in) :: factors(:)
    real(real32), intent(in) :: other_factors(:)
    real(real64) :: total

    total = sum_of_products_real64(real(factors, real64), real(other_factors, real64))
  end function sum_of_products_real32

  !> Return the sum of many products of each rank.
  function sum_of_products_real64(factors, other_factors) result(total)
    use exact_sum_mod, only: exact_sum_type

    real(real64), intent(in) :: factors(:)
    real(real64), intent(in) :: other_factors(:)
    real(real64) :: total

    type(exact_sum_type) :: exact_sum

    if (exact) then
      call exact_sum%add_products(factors, other_factors)
      total = exact_sum%get_sum()
    else
      total = reduce_sum(dot_product(factors, other_factors))
    end if
  end function sum_of_products_real64

end module global_sums_mod
