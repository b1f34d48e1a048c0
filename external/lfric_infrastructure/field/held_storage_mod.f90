!> The storage that stored_values_mod holds as something opaque.
module held_storage_mod

  use array_table_mod, only: array_used_by, enter_field, leave_field
  use field_storage_mod, only: field_storage_type
  use opaque_mod, only: opaque_type
  use wrapped_array_mod, only: wrapped_array_type

  implicit none
  private

  public :: field_storage_type, wrapped_array_type, own_array_of, storage_of, array_of
  public :: enter_field, leave_field

  !> An array with its storage that is seen by who asks for it only.
  type, extends(opaque_type), public :: held_storage_type
    private
    type(wrapped_array_type) :: array
  end type held_storage_type

contains

  !> Return the array that is held itself, whoever else has the memory.
  function own_array_of(held) result(array)
    class(opaque_type), target, intent(in) :: held
    type(wrapped_array_type), pointer :: array

    array => null()
    select type (held)
    type is (held_storage_type)
      array => held%array
    end select
  end function own_array_of

  !> Return the array whose storage is used: that which is held, or that of another field with the
  !> same memory.
  function array_of(held) result(array)
    class(opaque_type), target, intent(in) :: held
    type(wrapped_array_type), pointer :: array

    array => own_array_of(held)
    if (array%guest) array => array_used_by(array)
  end function array_of

  !> Return the storage that is used.
  function storage_of(held) result(storage)
    class(opaque_type), target, intent(in) :: held
    type(field_storage_type), pointer :: storage

    type(wrapped_array_type), pointer :: array

    array => array_of(held)
    storage => array%storage
  end function storage_of

end module held_storage_mod
