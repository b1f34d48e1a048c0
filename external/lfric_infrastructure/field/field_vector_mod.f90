!> Owns vectors of fields of kind r_def. Inner products go over all ranks.
!>
!> The module of the other kind has the same text but for names and kinds, which a test keeps so:
!> Fortran has no generic derived types that the compilers at hand support, and gfortran takes
!> renamed types of one name for the same type in a select type construct.
module field_vector_mod

  use constants_mod, only: i_def, r_def
  use field_mod, only: field_proxy_type, field_type
  use global_sums_mod, only: sum_of_products
  use vector_mod, only: abstract_vector_type

  implicit none
  private

  !> A vector whose components are fields; other vectors in its operations must be of this type.
  type, extends(abstract_vector_type), public :: field_vector_type
    type(field_type), allocatable, public :: vector(:)
  contains
    procedure, public :: import_field
    procedure, public :: export_field
    procedure, public :: get_field_from_position
    procedure, public :: set_scalar
    procedure, public :: axpy
    procedure, public :: aypx
    procedure, public :: axpby
    procedure, public :: scale
    procedure, public :: duplicate
    procedure, public :: copy
    procedure, public :: norm
    procedure, public :: field_norm
    procedure, public :: dot
    procedure, public :: vector_size
  end type field_vector_type

  interface field_vector_type
    module procedure new_field_vector
  end interface field_vector_type

contains

  !> Return a vector of this many components, which have yet to be imported.
  function new_field_vector(nfields) result(self)
    integer(i_def), intent(in) :: nfields
    type(field_vector_type) :: self

    allocate (self%vector(nfields))
  end function new_field_vector

  !> Make a component a copy of a field.
  subroutine import_field(self, field, position)
    class(field_vector_type), intent(inout) :: self
    type(field_type), intent(in) :: field
    integer(i_def), intent(in) :: position

    self%vector(position) = field
  end subroutine import_field

  !> Copy the values of a component to a field.
  subroutine export_field(self, field, position)
    class(field_vector_type), intent(in) :: self
    type(field_type), intent(inout) :: field
    integer(i_def), intent(in) :: position

    type(field_proxy_type) :: source, dest
    integer(i_def) :: dofs

    source = self%vector(position)%get_proxy()
    dest = field%get_proxy()
    call source%bring_to_host()
    dofs = min(size(dest%data), size(source%data))
    dest%data(:dofs) = source%data(:dofs)
    call dest%set_dirty()
  end subroutine export_field

  !> Return a component.
  function get_field_from_position(self, position) result(field)
    class(field_vector_type), target, intent(in) :: self
    integer(i_def), intent(in) :: position
    type(field_type), pointer :: field

    field => self%vector(position)
  end function get_field_from_position

  !> Return a vector as one of fields, which it must be.
  function fields_of(vector) result(fields)
    class(abstract_vector_type), target, intent(in) :: vector
    class(field_vector_type), pointer :: fields

    select type (vector)
    class is (field_vector_type)
      fields => vector
    class default
      error stop 'field_vector_type: the other vector is of another type'
    end select
  end function fields_of

  !> Become p times x plus q times y, each of which may be the vector itself, by component.
  subroutine combine(self, p, x, q, y)
    class(field_vector_type), intent(inout) :: self
    real(r_def), intent(in) :: p, q
    class(abstract_vector_type), target, intent(in) :: x, y

    class(field_vector_type), pointer :: fields_x, fields_y
    type(field_proxy_type) :: mine, of_x, of_y
    integer(i_def) :: n, dofs

    fields_x => fields_of(x)
    fields_y => fields_of(y)
    do n = 1, self%vector_size()
      mine = self%vector(n)%get_proxy()
      of_x = fields_x%vector(n)%get_proxy()
      of_y = fields_y%vector(n)%get_proxy()
      call of_x%bring_to_host()
      call of_y%bring_to_host()
      dofs = min(size(mine%data), size(of_x%data), size(of_y%data))
      mine%data(:dofs) = real(p, r_def) * of_x%data(:dofs) + real(q, r_def) * of_y%data(:dofs)
      call mine%set_dirty()
    end do
  end subroutine combine

  !> Set every value to a scalar.
  subroutine set_scalar(self, scalar)
    class(field_vector_type), intent(inout) :: self
    real(r_def), intent(in) :: scalar

    type(field_proxy_type) :: mine
    integer(i_def) :: n

    do n = 1, self%vector_size()
      mine = self%vector(n)%get_proxy()
      mine%data = real(scalar, r_def)
      call mine%set_dirty()
    end do
  end subroutine set_scalar

  !> Add alpha times x.
  subroutine axpy(self, alpha, x)
    class(field_vector_type), intent(inout) :: self
    real(r_def), intent(in) :: alpha
    class(abstract_vector_type), intent(inout) :: x

    call combine(self, alpha, x, 1.0_r_def, self)
  end subroutine axpy

  !> Multiply by alpha and add x.
  subroutine aypx(self, alpha, x)
    class(field_vector_type), intent(inout) :: self
    real(r_def), intent(in) :: alpha
    class(abstract_vector_type), intent(inout) :: x

    call combine(self, 1.0_r_def, x, alpha, self)
  end subroutine aypx

  !> Become a times x plus b times y.
  subroutine axpby(self, a, x, b, y)
    class(field_vector_type), intent(inout) :: self
    real(r_def), intent(in) :: a, b
    class(abstract_vector_type), intent(in) :: x, y

    call combine(self, a, x, b, y)
  end subroutine axpby

  !> Multiply by a scalar.
  subroutine scale(self, scalar)
    class(field_vector_type), intent(inout) :: self
    real(r_def), intent(in) :: scalar

    type(field_proxy_type) :: mine
    integer(i_def) :: n

    do n = 1, self%vector_size()
      mine = self%vector(n)%get_proxy()
      call mine%bring_to_host()
      mine%data = real(scalar, r_def) * mine%data
      call mine%set_dirty()
    end do
  end subroutine scale

  !> Make another vector on the same spaces, without the values.
  subroutine duplicate(self, vec)
    class(field_vector_type), intent(in) :: self
    class(abstract_vector_type), allocatable, intent(inout) :: vec

    integer(i_def) :: n

    if (allocated(vec)) deallocate (vec)
    allocate (field_vector_type :: vec)
    select type (vec)
    type is (field_vector_type)
      allocate (vec%vector(self%vector_size()))
      do n = 1, self%vector_size()
        call self%vector(n)%copy_field_properties(vec%vector(n))
      end do
    end select
  end subroutine duplicate

  !> Become a copy, values included.
  subroutine copy(self, source)
    class(field_vector_type), intent(out) :: self
    class(abstract_vector_type), intent(in) :: source

    integer(i_def) :: n

    select type (source)
    class is (field_vector_type)
      allocate (self%vector(source%vector_size()))
      do n = 1, source%vector_size()
        self%vector(n) = source%vector(n)
      end do
    class default
      error stop 'field_vector_type: the other vector is of another type'
    end select
  end subroutine copy

  !> Return the Euclidean norm.
  function norm(self) result(normal)
    class(field_vector_type), intent(in) :: self
    real(r_def) :: normal

    normal = sqrt(self%dot(self))
  end function norm

  !> Return the Euclidean norm of one component.
  function field_norm(self, n) result(normal)
    class(field_vector_type), intent(in) :: self
    integer(i_def), intent(in) :: n
    real(r_def) :: normal

    normal = sqrt(product_of_fields(self%vector(n), self%vector(n)))
  end function field_norm

  !> Return the inner product with x.
  function dot(self, x) result(dot_prod)
    class(field_vector_type), intent(in) :: self
    class(abstract_vector_type), intent(in) :: x
    real(r_def) :: dot_prod

    integer(i_def) :: n

    dot_prod = 0.0_r_def
    select type (x)
    class is (field_vector_type)
      do n = 1, self%vector_size()
        dot_prod = dot_prod + product_of_fields(self%vector(n), x%vector(n))
      end do
    class default
      error stop 'field_vector_type: the other vector is of another type'
    end select
  end function dot

  !> Return the inner product of two fields on one space, over all ranks.
  function product_of_fields(a, b) result(answer)
    type(field_type), intent(in) :: a, b
    real(r_def) :: answer

    type(field_proxy_type) :: proxy_a, proxy_b
    integer(i_def) :: last

    proxy_a = a%get_proxy()
    proxy_b = b%get_proxy()
    last = proxy_a%vspace%get_last_dof_owned()
    call proxy_a%bring_to_host()
    call proxy_b%bring_to_host()
    answer = sum_of_products(proxy_a%data(:last), proxy_b%data(:last))
  end function product_of_fields

  !> Return the number of components.
  function vector_size(self) result(n_fields)
    class(field_vector_type), intent(in) :: self
    integer(i_def) :: n_fields

    n_fields = size(self%vector, kind=i_def)
  end function vector_size

end module field_vector_mod
