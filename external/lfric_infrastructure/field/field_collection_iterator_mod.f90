!> Iteration over the fields of a collection in the order of their addition.
module field_collection_iterator_mod

  use constants_mod, only: i_def, l_def
  use field_collection_mod, only: field_collection_type
  use field_parent_mod, only: field_parent_type
  use field_real32_mod, only: field_real32_pointer_type
  use field_real64_mod, only: field_real64_pointer_type
  use integer_field_mod, only: integer_field_pointer_type
  use pure_abstract_field_mod, only: pure_abstract_field_type

  implicit none
  private

  !> A place in a collection, which may not change while it is walked over.
  type, public :: field_collection_iterator_type
    private
    type(field_collection_type), pointer :: collection => null()
    integer(i_def) :: visited = 0
  contains
    procedure, non_overridable, public :: initialise
    procedure, non_overridable, public :: next
    procedure, non_overridable, public :: has_next
  end type field_collection_iterator_type

contains

  !> Start before the first field of a collection.
  subroutine initialise(self, collection)
    class(field_collection_iterator_type), intent(inout) :: self
    type(field_collection_type), target, intent(in) :: collection

    self%collection => collection
    self%visited = 0
  end subroutine initialise

  !> Return the next field, behind its pointer if it is held as one; stops the program at an
  !> array of fields.
  function next(self) result(field)
    class(field_collection_iterator_type), target, intent(inout) :: self
    class(field_parent_type), pointer :: field

    class(pure_abstract_field_type), pointer :: item

    self%visited = self%visited + 1
    item => self%collection%get_item(self%visited)
    select type (item)
    class is (field_parent_type)
      field => item
    type is (field_real32_pointer_type)
      field => item%field_ptr
    type is (field_real64_pointer_type)
      field => item%field_ptr
    type is (integer_field_pointer_type)
      field => item%field_ptr
    class default
      error stop 'field_collection_iterator%next: the item is not a field'
    end select
  end function next

  !> Return whether there is a next field.
  function has_next(self) result(next)
    class(field_collection_iterator_type), intent(in) :: self
    logical(l_def) :: next

    next = self%visited < self%collection%get_length()
  end function has_next

end module field_collection_iterator_mod
