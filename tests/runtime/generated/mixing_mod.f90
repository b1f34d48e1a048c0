!> Owns how the kernels of the generated suite make one integer of many, without losing a NaN.
module mixing_mod

  use, intrinsic :: iso_fortran_env, only: int32, real32, real64

  implicit none
  private

  public :: as_integer, folded, hidden, mixed, weighed
  integer(int32), parameter, public :: poison = -1000003

  !> Return a value as an integer that depends on its place.
  interface mixed
    module procedure mixed_integer, mixed_real32, mixed_real64
  end interface mixed

  !> Return NaN for an invalid value, else 0.
  interface hidden
    module procedure hidden_integer, hidden_real32, hidden_real64
  end interface hidden

  !> Return an integer that depends on numbers and on their order. They need not be whole: those
  !> that are the same in all cells are not.
  interface weighed
    module procedure weighed_integer, weighed_logical, weighed_real32, weighed_real64
  end interface weighed

contains

  !> Return an integer from -8 to 8 for any other.
  elemental function folded(total)
    real(real64), intent(in) :: total
    real(real64) :: folded

    folded = rest(total, 17) - 8.0_real64
  end function folded

  !> Return `modulo(value, real(divisor))` of an integer for an odd divisor, and NaN for NaN. The
  !> intrinsic function calls a library that divides bit by bit, and most of the time would go there.
  elemental function rest(value, divisor)
    real(real64), intent(in) :: value
    integer(int32), intent(in) :: divisor
    real(real64) :: rest

    rest = value - divisor * nearest_whole((value - divisor / 2) / divisor)
  end function rest

  !> Return the integer next to one that is not too large: beyond `whole` all numbers are whole.
  elemental function nearest_whole(value)
    real(real64), intent(in) :: value
    real(real64) :: nearest_whole

    real(real64), parameter :: whole = 3 * 2.0_real64**51

    nearest_whole = (value + whole) - whole
  end function nearest_whole

  !> Return an integer as an integer, and poison for NaN.
  elemental function as_integer(value)
    real(real64), intent(in) :: value
    integer(int32) :: as_integer

    as_integer = poison
    if (abs(value) < 1.0e6_real64) as_integer = nint(value, int32)
  end function as_integer

  elemental function mixed_real64(value, place) result(number)
    real(real64), intent(in) :: value
    integer(int32), intent(in) :: place
    real(real64) :: number

    number = rest(value, 17) * real(modulo(7 * place, 13) + 1, real64)
  end function mixed_real64

  elemental function mixed_real32(value, place) result(number)
    real(real32), intent(in) :: value
    integer(int32), intent(in) :: place
    real(real64) :: number

    number = mixed(real(value, real64), place)
  end function mixed_real32

  elemental function mixed_integer(value, place) result(number)
    integer(int32), intent(in) :: value
    integer(int32), intent(in) :: place
    real(real64) :: number

    number = mixed(real(value, real64), place) + hidden(value)
  end function mixed_integer

  elemental function hidden_real64(value) result(number)
    real(real64), intent(in) :: value
    real(real64) :: number

    number = 0.0_real64 * value
  end function hidden_real64

  elemental function hidden_real32(value) result(number)
    real(real32), intent(in) :: value
    real(real64) :: number

    number = 0.0_real64 * real(value, real64)
  end function hidden_real32

  !> Sums of poison and a few small numbers are invalid too.
  elemental function hidden_integer(value) result(number)
    integer(int32), intent(in) :: value
    real(real64) :: number

    number = 0.0_real64
    if (value < poison / 2) number = number * sqrt(real(min(value, -1), real64))
  end function hidden_integer

  pure function weighed_real64(values) result(number)
    real(real64), intent(in) :: values(:)
    real(real64) :: number

    integer(int32) :: place

    number = 0.0_real64
    do place = 1, size(values, kind=int32)
      number = number + rest(nearest_whole(1024.0_real64 * values(place)), 1009) * &
        real(modulo(7 * place, 13) + 1, real64)
    end do
  end function weighed_real64

  pure function weighed_real32(values) result(number)
    real(real32), intent(in) :: values(:)
    real(real64) :: number

    number = weighed(real(values, real64))
  end function weighed_real32

  pure function weighed_integer(values) result(number)
    integer(int32), intent(in) :: values(:)
    real(real64) :: number

    number = weighed(real(values, real64))
  end function weighed_integer

  pure function weighed_logical(values) result(number)
    logical, intent(in) :: values(:)
    real(real64) :: number

    number = weighed(merge(1.0_real64, 2.0_real64, values))
  end function weighed_logical

end module mixing_mod
