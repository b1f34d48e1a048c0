!> Collections of fields of any kind, which are looked up by name.
!>
!> A field is added by value, and the collection then owns a copy, or as a pointer type, and it
!> then refers to a field that lives elsewhere.
module field_collection_mod

  use constants_mod, only: i_def, l_def, str_def
  use field_array_mod, only: field_array_type
  use field_parent_mod, only: field_parent_type
  use field_real32_mod, only: field_real32_pointer_type, field_real32_type
  use field_real64_mod, only: field_real64_pointer_type, field_real64_type
  use integer_field_mod, only: integer_field_pointer_type, integer_field_type
  use pure_abstract_field_mod, only: pure_abstract_field_type

  implicit none
  private

  !> An item, in storage that does not move when others are added.
  type :: item_holder
    class(pure_abstract_field_type), pointer :: item => null()
  end type item_holder

  !> Fields in the order in which they were added; each name is held once.
  type, public :: field_collection_type
    private
    character(str_def) :: name = 'unnamed_collection'
    type(item_holder), allocatable :: items(:)
  contains
    procedure, non_overridable, public :: initialise
    procedure, non_overridable, public :: add_field
    procedure, non_overridable, public :: add_reference_to_field
    procedure, non_overridable, public :: remove_field
    procedure, non_overridable, public :: field_exists
    procedure, public :: get_real32_field
    procedure, public :: get_real64_field
    procedure, public :: get_integer_field
    procedure, public :: get_field_array
    generic, public :: get_field => get_real32_field, get_real64_field, get_integer_field, &
                                    get_field_array
    procedure, non_overridable, public :: get_item
    procedure, non_overridable, public :: get_length
    procedure, non_overridable, public :: get_name
    procedure, non_overridable, public :: get_table_len
    procedure, non_overridable, public :: clear
    procedure, non_overridable, private :: place_of
  end type field_collection_type

contains

  !> Make the collection empty; the length of the hash table is of no account here.
  subroutine initialise(self, name, table_len)
    class(field_collection_type), intent(inout) :: self
    character(*), optional, intent(in) :: name
    integer(i_def), optional, intent(in) :: table_len

    call self%clear()
    if (present(name)) self%name = name
  end subroutine initialise

  !> Add a copy of a field, an array of fields or a pointer to a field.
  subroutine add_field(self, field)
    class(field_collection_type), intent(inout) :: self
    class(pure_abstract_field_type), intent(in) :: field

    type(item_holder) :: holder

    if (.not. allocated(self%items)) allocate (self%items(0))
    if (self%field_exists(trim(name_of(field)))) &
      error stop 'field_collection%add_field: the collection has a field of this name'
    select type (field)
    type is (field_real32_type)
      allocate (field_real32_type :: holder%item)
    type is (field_real64_type)
      allocate (field_real64_type :: holder%item)
    type is (integer_field_type)
      allocate (integer_field_type :: holder%item)
    class default
      allocate (holder%item, source=field)
    end select
    call copy_item(holder%item, field)
    self%items = [self%items, holder]
  end subroutine add_field

  !> Add a pointer to a field.
  subroutine add_reference_to_field(self, field_ptr)
    class(field_collection_type), intent(inout) :: self
    class(pure_abstract_field_type), pointer, intent(in) :: field_ptr

    type(field_real32_pointer_type) :: real32_pointer
    type(field_real64_pointer_type) :: real64_pointer
    type(integer_field_pointer_type) :: integer_pointer

    select type (field_ptr)
    type is (field_real32_type)
      real32_pointer%field_ptr => field_ptr
      call self%add_field(real32_pointer)
    type is (field_real64_type)
      real64_pointer%field_ptr => field_ptr
      call self%add_field(real64_pointer)
    type is (integer_field_type)
      integer_pointer%field_ptr => field_ptr
      call self%add_field(integer_pointer)
    class default
      error stop 'field_collection%add_reference_to_field: not a field'
    end select
  end subroutine add_reference_to_field

  !> Copy a field into an item of the same type; other items are complete already.
  subroutine copy_item(item, field)
    class(pure_abstract_field_type), intent(inout) :: item
    class(pure_abstract_field_type), intent(in) :: field

    select type (item)
    type is (field_real32_type)
      select type (field)
      type is (field_real32_type)
        item = field
      end select
    type is (field_real64_type)
      select type (field)
      type is (field_real64_type)
        item = field
      end select
    type is (integer_field_type)
      select type (field)
      type is (integer_field_type)
        item = field
      end select
    end select
  end subroutine copy_item

  !> Return the name of an item.
  function name_of(item) result(name)
    class(pure_abstract_field_type), intent(in) :: item
    character(str_def) :: name

    select type (item)
    class is (field_parent_type)
      name = item%get_name()
    type is (field_real32_pointer_type)
      name = item%field_ptr%get_name()
    type is (field_real64_pointer_type)
      name = item%field_ptr%get_name()
    type is (integer_field_pointer_type)
      name = item%field_ptr%get_name()
    type is (field_array_type)
      name = item%get_name()
    class default
      error stop 'field_collection_type: not a field'
    end select
  end function name_of

  !> Return the place of the item of this name, 0 if there is none.
  function place_of(self, field_name) result(place)
    class(field_collection_type), intent(in) :: self
    character(*), intent(in) :: field_name
    integer(i_def) :: place

    do place = self%get_length(), 1, -1
      if (name_of(self%items(place)%item) == field_name) return
    end do
  end function place_of

  !> Remove the item of this name.
  subroutine remove_field(self, field_name)
    class(field_collection_type), intent(inout) :: self
    character(*), intent(in) :: field_name

    integer(i_def) :: place

    place = self%place_of(field_name)
    if (place == 0) error stop 'field_collection%remove_field: no field of this name'
    deallocate (self%items(place)%item)
    self%items = [self%items(:place - 1), self%items(place + 1:)]
  end subroutine remove_field

  !> Return whether there is an item of this name.
  function field_exists(self, field_name) result(exists)
    class(field_collection_type), intent(in) :: self
    character(*), intent(in) :: field_name
    logical(l_def) :: exists

    exists = self%place_of(field_name) > 0
  end function field_exists

  !> Set a pointer to the field of 32-bit reals of this name; stops the program if there is none.
  subroutine get_real32_field(self, field_name, field)
    class(field_collection_type), intent(in) :: self
    character(*), intent(in) :: field_name
    type(field_real32_type), pointer, intent(out) :: field

    class(pure_abstract_field_type), pointer :: item

    item => self%get_item(self%place_of(field_name))
    select type (item)
    type is (field_real32_type)
      field => item
    type is (field_real32_pointer_type)
      field => item%field_ptr
    class default
      error stop 'field_collection%get_field: the field of this name is of another type'
    end select
  end subroutine get_real32_field

  !> Set a pointer to the field of 64-bit reals of this name; stops the program if there is none.
  subroutine get_real64_field(self, field_name, field)
    class(field_collection_type), intent(in) :: self
    character(*), intent(in) :: field_name
    type(field_real64_type), pointer, intent(out) :: field

    class(pure_abstract_field_type), pointer :: item

    item => self%get_item(self%place_of(field_name))
    select type (item)
    type is (field_real64_type)
      field => item
    type is (field_real64_pointer_type)
      field => item%field_ptr
    class default
      error stop 'field_collection%get_field: the field of this name is of another type'
    end select
  end subroutine get_real64_field

  !> Set a pointer to the field of integers of this name; stops the program if there is none.
  subroutine get_integer_field(self, field_name, field)
    class(field_collection_type), intent(in) :: self
    character(*), intent(in) :: field_name
    type(integer_field_type), pointer, intent(out) :: field

    class(pure_abstract_field_type), pointer :: item

    item => self%get_item(self%place_of(field_name))
    select type (item)
    type is (integer_field_type)
      field => item
    type is (integer_field_pointer_type)
      field => item%field_ptr
    class default
      error stop 'field_collection%get_field: the field of this name is of another type'
    end select
  end subroutine get_integer_field

  !> Set a pointer to the array of this name; stops the program if there is none.
  subroutine get_field_array(self, field_array_name, field_array)
    class(field_collection_type), intent(in) :: self
    character(*), intent(in) :: field_array_name
    type(field_array_type), pointer, intent(out) :: field_array

    class(pure_abstract_field_type), pointer :: item

    item => self%get_item(self%place_of(field_array_name))
    select type (item)
    type is (field_array_type)
      field_array => item
    class default
      error stop 'field_collection%get_field: the field of this name is not an array'
    end select
  end subroutine get_field_array

  !> Return the item at a place; stops the program if there is no such place.
  function get_item(self, place) result(item)
    class(field_collection_type), intent(in) :: self
    integer(i_def), intent(in) :: place
    class(pure_abstract_field_type), pointer :: item

    if (place < 1 .or. place > self%get_length()) &
      error stop 'field_collection_type: there is no such field'
    item => self%items(place)%item
  end function get_item

  !> Return the number of items.
  function get_length(self) result(length)
    class(field_collection_type), intent(in) :: self
    integer(i_def) :: length

    length = 0
    if (allocated(self%items)) length = size(self%items, kind=i_def)
  end function get_length

  !> Return the name.
  function get_name(self) result(name)
    class(field_collection_type), intent(in) :: self
    character(str_def) :: name

    name = self%name
  end function get_name

  !> Return the length of the hash table; there is none, so it is 1.
  function get_table_len(self) result(table_len)
    class(field_collection_type), intent(in) :: self
    integer(i_def) :: table_len

    table_len = 1
  end function get_table_len

  !> Remove every item and give the memory back.
  subroutine clear(self)
    class(field_collection_type), intent(inout) :: self

    integer :: place

    if (allocated(self%items)) then
      do place = 1, size(self%items)
        deallocate (self%items(place)%item)
      end do
      deallocate (self%items)
    end if
    allocate (self%items(0))
  end subroutine clear

end module field_collection_mod
