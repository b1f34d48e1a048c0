!> Identity of meshes, function spaces and fields.
module linked_list_data_mod

  use constants_mod, only: i_def

  implicit none
  private

  !> Anything that has an id and can be a member of a collection.
  type, abstract, public :: linked_list_data_type
    private
    integer(i_def) :: id = 0
  contains
    procedure, public :: get_id
    procedure, public :: set_id
  end type linked_list_data_type

contains

  !> Return the id.
  function get_id(self) result(id)
    class(linked_list_data_type), intent(in) :: self
    integer(i_def) :: id

    id = self%id
  end function get_id

  !> Set the id.
  subroutine set_id(self, id)
    class(linked_list_data_type), intent(inout) :: self
    integer(i_def), intent(in) :: id

    self%id = id
  end subroutine set_id

end module linked_list_data_mod
