!> The type of the vectors that a solver works on, whatever they are made of.
module vector_mod

  use constants_mod, only: i_def, r_def

  implicit none
  private

  !> A vector of a linear space with an inner product.
  type, abstract, public :: abstract_vector_type
  contains
    procedure(set_scalar_interface), public, deferred :: set_scalar
    procedure(axpy_interface), public, deferred :: axpy
    procedure(aypx_interface), public, deferred :: aypx
    procedure(axpby_interface), public, deferred :: axpby
    procedure(scale_interface), public, deferred :: scale
    procedure(duplicate_interface), public, deferred :: duplicate
    procedure(copy_interface), public, deferred :: copy
    procedure(norm_interface), public, deferred :: norm
    procedure(field_norm_interface), public, deferred :: field_norm
    procedure(dot_interface), public, deferred :: dot
    procedure(vector_size_interface), public, deferred :: vector_size
  end type abstract_vector_type

  abstract interface
    !> Set every value to a scalar.
    subroutine set_scalar_interface(self, scalar)
      import :: abstract_vector_type, r_def
      class(abstract_vector_type), intent(inout) :: self
      real(r_def), intent(in) :: scalar
    end subroutine set_scalar_interface

    !> Add alpha times x.
    subroutine axpy_interface(self, alpha, x)
      import :: abstract_vector_type, r_def
      class(abstract_vector_type), intent(inout) :: self
      real(r_def), intent(in) :: alpha
      class(abstract_vector_type), intent(inout) :: x
    end subroutine axpy_interface

    !> Multiply by alpha and add x.
    subroutine aypx_interface(self, alpha, x)
      import :: abstract_vector_type, r_def
      class(abstract_vector_type), intent(inout) :: self
      real(r_def), intent(in) :: alpha
      class(abstract_vector_type), intent(inout) :: x
    end subroutine aypx_interface

    !> Become a times x plus b times y.
    subroutine axpby_interface(self, a, x, b, y)
      import :: abstract_vector_type, r_def
      class(abstract_vector_type), intent(inout) :: self
      real(r_def), intent(in) :: a, b
      class(abstract_vector_type), intent(in) :: x, y
    end subroutine axpby_interface

    !> Multiply by a scalar.
    subroutine scale_interface(self, scalar)
      import :: abstract_vector_type, r_def
      class(abstract_vector_type), intent(inout) :: self
      real(r_def), intent(in) :: scalar
    end subroutine scale_interface

    !> Make another vector on the same spaces, without the values.
    subroutine duplicate_interface(self, vec)
      import :: abstract_vector_type
      class(abstract_vector_type), intent(in) :: self
      class(abstract_vector_type), allocatable, intent(inout) :: vec
    end subroutine duplicate_interface

    !> Become a copy, values included.
    subroutine copy_interface(self, source)
      import :: abstract_vector_type
      class(abstract_vector_type), intent(out) :: self
      class(abstract_vector_type), intent(in) :: source
    end subroutine copy_interface

    !> Return the Euclidean norm.
    function norm_interface(self) result(normal)
      import :: abstract_vector_type, r_def
      class(abstract_vector_type), intent(in) :: self
      real(r_def) :: normal
    end function norm_interface

    !> Return the Euclidean norm of one component.
    function field_norm_interface(self, n) result(normal)
      import :: abstract_vector_type, i_def, r_def
      class(abstract_vector_type), intent(in) :: self
      integer(i_def), intent(in) :: n
      real(r_def) :: normal
    end function field_norm_interface

    !> Return the inner product with x.
    function dot_interface(self, x) result(dot_prod)
      import :: abstract_vector_type, r_def
      class(abstract_vector_type), intent(in) :: self, x
      real(r_def) :: dot_prod
    end function dot_interface

    !> Return the number of components.
    function vector_size_interface(self) result(n_fields)
      import :: abstract_vector_type, i_def
      class(abstract_vector_type), intent(in) :: self
      integer(i_def) :: n_fields
    end function vector_size_interface
  end interface

end module vector_mod
