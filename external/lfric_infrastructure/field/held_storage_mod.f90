!> Owns the storage that stored_values_mod holds as something opaque.
module held_storage_mod

  use array_table_mod, only: enter_field, leave_field
  use field_storage_mod, only: field_storage_type
  use opaque_mod, only: opaque_type
  use wrapped_array_mod, only: wrapped_array_type

  implicit none
  private

  public :: field_storage_type, wrapped_array_type, storage_of, array_of, enter_field, leave_field

  !> An array with its storage that is seen by who asks for it only.
  type, extends(opaque_type), public :: held_storage_type
    private
    type(wrapped_array_type) :: array
  end type held_storage_type

contains

  !> Return the storage that is held.
  function storage_of(held) result(storage)
    class(opaque_type), target, intent(in) :: held
    type(field_storage_type), pointer :: storage

    storage => null()
    select type (held)
    type is (held_storage_type)
      storage => held%array%storage
    end select
  end function storage_of

  !> Return the array that is held.
  function array_of(held) result(array)
    class(opaque_type), target, intent(in) :: held
    type(wrapped_array_type), pointer :: array

    array => null()
    select type (held)
    type is (held_storage_type)
      array => held%array
    end select
  end function array_of

end module held_storage_mod
