!> The type that every quadrature extends.
module quadrature_mod

  implicit none
  private

  !> Points and weights in a reference cell.
  type, abstract, public :: quadrature_type
  end type quadrature_type

end module quadrature_mod
