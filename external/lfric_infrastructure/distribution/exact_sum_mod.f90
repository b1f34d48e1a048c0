!> Sums of 64-bit reals that are exact, and rounded once: to the same bits in any order.
!>
!> The sum is kept as one long whole number of units of 2**(-1074), the least positive real, in
!> digits to the base 2**32. A real of 53 bits adds to two digits next to each other; digits are 64
!> bits wide, so that carries need to be passed on only after some two thousand additions. The idea
!> of the long accumulator is Kulisch's (Advanced Arithmetic for the Digital Computer, Springer,
!> 2002), that of wide digits Neal's (Fast exact summation using small and large superaccumulators,
!> arXiv:1505.05571, 2015).
!>
!> Parts of a sum, of threads by `+` and of ranks by `get_sum`, are combined as exactly.
module exact_sum_mod

  use, intrinsic :: iso_fortran_env, only: int64, real64
  use message_passing_mod, only: reduce_sum

  implicit none
  private

  integer, parameter :: digit_bits = 32
  integer(int64), parameter :: digit_mask = 2_int64**digit_bits - 1
  integer, parameter :: fraction_bits = 52
  integer(int64), parameter :: implicit_one = 2_int64**fraction_bits
  integer, parameter :: largest_exponent = 2047
  integer, parameter :: least_power = -1074
  !> The largest real ends in digit 64; two more digits hold the overflow of sums.
  integer, parameter :: last_digit = 66
  !> An addition adds less than 2**53 to a digit that is below 2**32 after carries were passed on.
  integer, parameter :: additions_between_carries = 1000
  !> The bits that are inspected when the sum is rounded: the precision of a real and a sign.
  integer, parameter :: window_bits = 62

  !> A sum of reals; 0 to begin with.
  type, public :: exact_sum_type
    private
    integer(int64) :: digits(0:last_digit) = 0
    integer :: additions = 0
    !> The sum of those values that are infinite or not a number, and whether there are any.
    real(real64) :: special = 0.0_real64
    integer(int64) :: specials = 0
  contains
    procedure, non_overridable, public :: add => add_value
    procedure, non_overridable, public :: add_values
    procedure, non_overridable, public :: add_products
    procedure, non_overridable, public :: get_sum
    procedure, non_overridable, public :: get_sum_of_rank
    procedure, non_overridable, private :: pass_carries
    procedure, non_overridable, private :: rounded
    procedure, private :: add_sum
    generic, public :: operator(+) => add_sum
  end type exact_sum_type

contains

  !> Add a value.
  pure subroutine add_value(self, value)
    class(exact_sum_type), intent(inout) :: self
    real(real64), intent(in) :: value

    integer(int64) :: bits, fraction, lower, upper
    integer :: digit, exponent, shift

    bits = transfer(value, bits)
    exponent = int(iand(ishft(bits, -fraction_bits), int(largest_exponent, int64)))
    fraction = iand(bits, implicit_one - 1)
    if (exponent == largest_exponent) then
      self%special = self%special + value
      self%specials = self%specials + 1
      return
    end if
    if (exponent > 0) fraction = fraction + implicit_one
    ! Reals below the normal ones have the power of the least of these.
    exponent = max(exponent, 1) - 1
    digit = exponent / digit_bits
    shift = exponent - digit * digit_bits
    lower = iand(ishft(fraction, shift), digit_mask)
    upper = ishft(fraction, shift - digit_bits)
    if (bits < 0) then
      lower = -lower
      upper = -upper
    end if
    self%digits(digit) = self%digits(digit) + lower
    self%digits(digit + 1) = self%digits(digit + 1) + upper
    self%additions = self%additions + 1
    if (self%additions == additions_between_carries) call self%pass_carries()
  end subroutine add_value

  !> Add values.
  pure subroutine add_values(self, values)
    class(exact_sum_type), intent(inout) :: self
    real(real64), intent(in) :: values(:)

    integer :: n

    do n = 1, size(values)
      call self%add(values(n))
    end do
  end subroutine add_values

  !> Add products; each is rounded before it is added.
  pure subroutine add_products(self, factors, other_factors)
    class(exact_sum_type), intent(inout) :: self
    real(real64), intent(in) :: factors(:)
    real(real64), intent(in) :: other_factors(:)

    integer :: n

    do n = 1, size(factors)
      call self%add(factors(n) * other_factors(n))
    end do
  end subroutine add_products

  !> Bring all digits but the last, which has the sign, between 0 and 2**32 - 1.
  pure subroutine pass_carries(self)
    class(exact_sum_type), intent(inout) :: self

    integer :: digit

    do digit = 0, last_digit - 1
      self%digits(digit + 1) = self%digits(digit + 1) + shifta(self%digits(digit), digit_bits)
      self%digits(digit) = iand(self%digits(digit), digit_mask)
    end do
    self%additions = 0
  end subroutine pass_carries

  !> Return the sum of two sums.
  pure function add_sum(self, other) result(total)
    class(exact_sum_type), intent(in) :: self
    class(exact_sum_type), intent(in) :: other
    type(exact_sum_type) :: total

    type(exact_sum_type) :: part

    total%digits = self%digits
    call total%pass_carries()
    part%digits = other%digits
    call part%pass_carries()
    total%digits = total%digits + part%digits
    call total%pass_carries()
    total%special = self%special + other%special
    total%specials = self%specials + other%specials
  end function add_sum

  !> Return the sum over all ranks, rounded to nearest; called on all ranks. The parts of the ranks
  !> do not change.
  function get_sum(self) result(total)
    class(exact_sum_type), intent(in) :: self
    real(real64) :: total

    type(exact_sum_type) :: whole
    integer(int64) :: parts(0:last_digit + 1)

    whole%digits = self%digits
    call whole%pass_carries()
    parts(:last_digit) = whole%digits
    parts(last_digit + 1) = self%specials
    parts = reduce_sum(parts)
    if (parts(last_digit + 1) > 0) then
      total = reduce_sum(self%special)
      return
    end if
    whole%digits = parts(:last_digit)
    call whole%pass_carries()
    total = whole%rounded()
  end function get_sum

  !> Return the sum of the values that this rank has added, rounded to nearest.
  pure function get_sum_of_rank(self) result(total)
    class(exact_sum_type), intent(in) :: self
    real(real64) :: total

    type(exact_sum_type) :: part

    if (self%specials > 0) then
      total = self%special
      return
    end if
    part%digits = self%digits
    call part%pass_carries()
    total = part%rounded()
  end function get_sum_of_rank

  !> Return the sum, whose carries have been passed on, rounded to nearest, ties to even.
  pure function rounded(self) result(answer)
    class(exact_sum_type), intent(in) :: self
    real(real64) :: answer

    type(exact_sum_type) :: magnitude
    integer(int64) :: half, kept, rest, window
    integer :: dropped, power

    magnitude%digits = self%digits
    if (self%digits(last_digit) < 0) then
      magnitude%digits = -self%digits
      call magnitude%pass_carries()
    end if
    call find_window(magnitude%digits, window, power)
    ! Drop the bits beyond the precision of a real, and those below the least real.
    dropped = max(window_bits - fraction_bits - 1, -power)
    kept = ishft(window, -dropped)
    rest = window - ishft(kept, dropped)
    half = ishft(1_int64, dropped - 1)
    if (rest > half .or. (rest == half .and. btest(kept, 0))) kept = kept + 1
    answer = scale(real(kept, real64), power + dropped + least_power)
    if (self%digits(last_digit) < 0) answer = -answer
  end function rounded

  !> Set the leading bits of a number and the power of the last of them. That one is also set if
  !> any bit below is, which decides about ties; 0 has no bits.
  pure subroutine find_window(digits, window, power)
    integer(int64), intent(in) :: digits(0:last_digit)
    integer(int64), intent(out) :: window
    integer, intent(out) :: power

    integer :: digit, missing, taken

    window = 0
    power = 0
    do digit = last_digit, 0, -1
      if (digits(digit) /= 0) exit
    end do
    if (digit < 0) return
    window = digits(digit)
    missing = window_bits - (int(bit_size(window)) - leadz(window))
    power = digit * digit_bits - missing
    do while (missing > 0)
      digit = digit - 1
      taken = min(missing, digit_bits)
      window = ishft(window, taken)
      missing = missing - taken
      if (digit < 0) cycle
      window = window + ishft(digits(digit), taken - digit_bits)
      if (iand(digits(digit), ishft(digit_mask, -taken)) /= 0) window = ior(window, 1_int64)
    end do
    if (digit > 0) then
      if (any(digits(:digit - 1) /= 0)) window = ior(window, 1_int64)
    end if
  end subroutine find_window

end module exact_sum_mod
