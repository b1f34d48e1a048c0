!> The vector product of two vectors in three dimensions.
module cross_product_mod

  use constants_mod, only: r_def

  implicit none
  private

  public :: cross_product

contains

  !> Return x cross y.
  pure function cross_product(x, y) result(z)
    real(r_def), intent(in) :: x(3), y(3)
    real(r_def) :: z(3)

    z = cshift(x, 1) * cshift(y, 2) - cshift(x, 2) * cshift(y, 1)
  end function cross_product

end module cross_product_mod
