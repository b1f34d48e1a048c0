!> Arrays of fields that a collection holds under one name.
module field_array_mod

  use constants_mod, only: i_def, str_def
  use field_mod, only: field_type
  use pure_abstract_field_mod, only: pure_abstract_field_type

  implicit none
  private

  !> Fields with a common name.
  type, extends(pure_abstract_field_type), public :: field_array_type
    private
    type(field_type), allocatable, public :: bundle(:)
    character(str_def) :: name = 'none'
  contains
    procedure, non_overridable, public :: initialise
    procedure, non_overridable, public :: get_name
    procedure, non_overridable, public :: clear
  end type field_array_type

contains

  !> Make room for this many fields.
  subroutine initialise(self, length, name)
    class(field_array_type), intent(inout) :: self
    integer(i_def), intent(in) :: length
    character(*), optional, intent(in) :: name

    call self%clear()
    allocate (self%bundle(length))
    if (present(name)) self%name = name
  end subroutine initialise

  !> Return the name.
  function get_name(self) result(name)
    class(field_array_type), intent(in) :: self
    character(str_def) :: name

    name = self%name
  end function get_name

  !> Give the memory back.
  subroutine clear(self)
    class(field_array_type), intent(inout) :: self

    if (allocated(self%bundle)) deallocate (self%bundle)
  end subroutine clear

end module field_array_mod
