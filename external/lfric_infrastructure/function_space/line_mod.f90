!> Polynomials in one direction of a cell: 1 at their own point of a row, 0 at the others.
module line_mod

  use constants_mod, only: i_def, r_def

  implicit none
  private

  public :: points_from_side_to_side, points_within
  public :: slope_at, value_at

  ! Where a point sits in the row
  integer(i_def), parameter, public :: low = -1
  integer(i_def), parameter, public :: within = 0
  integer(i_def), parameter, public :: high = 1

  !> A polynomial, and where the dof that it belongs to sits: at the low side of the cell, which it
  !> shares with the next cell there, within the cell, or at its high side.
  type, public :: line_type
    integer(i_def) :: seat = within
    real(r_def) :: node = 0.5_r_def
    real(r_def), allocatable, private :: zeros(:)
  end type line_type

  interface line_type
    module procedure new_line_polynomial
  end interface line_type

contains

  !> Return the polynomial that is 1 at one point of a row.
  pure function new_line_polynomial(points, place, seat) result(self)
    real(r_def), intent(in) :: points(:)
    integer(i_def), intent(in) :: place
    integer(i_def), intent(in) :: seat
    type(line_type) :: self

    self%seat = seat
    self%node = points(place)
    allocate (self%zeros(size(points) - 1))
    self%zeros(:place - 1) = points(:place - 1)
    self%zeros(place:) = points(place + 1:)
  end function new_line_polynomial

  !> Return so many points, at least 2, evenly from 0 to 1.
  pure function points_from_side_to_side(number) result(points)
    integer(i_def), intent(in) :: number
    real(r_def) :: points(number)

    integer(i_def) :: n

    points = [(real(n, r_def) / real(number - 1, r_def), n=0, number - 1)]
  end function points_from_side_to_side

  !> Return so many points, evenly between 0 and 1, both excluded.
  pure function points_within(number) result(points)
    integer(i_def), intent(in) :: number
    real(r_def) :: points(number)

    integer(i_def) :: n

    points = [(real(n, r_def) / real(number + 1, r_def), n=1, number)]
  end function points_within

  !> Return the value at a coordinate.
  pure function value_at(self, x) result(value)
    type(line_type), intent(in) :: self
    real(r_def), intent(in) :: x
    real(r_def) :: value

    value = product((x - self%zeros) / (self%node - self%zeros))
  end function value_at

  !> Return the derivative at a coordinate.
  pure function slope_at(self, x) result(slope)
    type(line_type), intent(in) :: self
    real(r_def), intent(in) :: x
    real(r_def) :: slope

    real(r_def) :: factors(size(self%zeros))
    integer(i_def) :: n

    slope = 0.0_r_def
    do n = 1, size(factors, kind=i_def)
      factors = (x - self%zeros) / (self%node - self%zeros)
      factors(n) = 1.0_r_def / (self%node - self%zeros(n))
      slope = slope + product(factors)
    end do
  end function slope_at

end module line_mod
