!> Owns the storage that stored_values_mod holds as something opaque.
module held_storage_mod

  use field_storage_mod, only: field_storage_type
  use opaque_mod, only: opaque_type

  implicit none
  private

  public :: field_storage_type, storage_of

  !> A storage that is seen by who asks for it only.
  type, extends(opaque_type), public :: held_storage_type
    private
    type(field_storage_type) :: storage
  end type held_storage_type

contains

  !> Return the storage that is held.
  function storage_of(held) result(storage)
    class(opaque_type), target, intent(in) :: held
    type(field_storage_type), pointer :: storage

    storage => null()
    select type (held)
    type is (held_storage_type)
      storage => held%storage
    end select
  end function storage_of

end module held_storage_mod
