!> The maps from one mesh to others, each found by the number of the other mesh.
module mesh_maps_mod

  use constants_mod, only: i_def
  use mesh_map_mod, only: mesh_map_type

  implicit none
  private

  public :: add_map, clear_maps, get_map

  !> A map that has been added.
  type :: mesh_map_holder
    type(mesh_map_type), pointer :: map => null()
  end type mesh_map_holder

  !> The maps of a mesh.
  type, public :: mesh_maps_type
    private
    type(mesh_map_holder), allocatable :: held(:)
  end type mesh_maps_type

contains

  !> Keep a map.
  subroutine add_map(self, map)
    type(mesh_maps_type), intent(inout) :: self
    type(mesh_map_type), intent(in) :: map

    type(mesh_map_holder) :: holder

    if (.not. allocated(self%held)) allocate (self%held(0))
    allocate (holder%map)
    holder%map = map
    self%held = [self%held, holder]
  end subroutine add_map

  !> Return the map to the mesh of this number, nothing if there is none.
  function get_map(self, target_id) result(map)
    type(mesh_maps_type), intent(in) :: self
    integer(i_def), intent(in) :: target_id
    type(mesh_map_type), pointer :: map

    integer :: place

    if (allocated(self%held)) then
      do place = 1, size(self%held)
        map => self%held(place)%map
        if (map%get_target_id() == target_id) return
      end do
    end if
    map => null()
  end function get_map

  !> Free all maps.
  subroutine clear_maps(self)
    type(mesh_maps_type), intent(inout) :: self

    integer :: place

    if (.not. allocated(self%held)) return
    do place = 1, size(self%held)
      call self%held(place)%map%clear()
      deallocate (self%held(place)%map)
    end do
    deallocate (self%held)
  end subroutine clear_maps

end module mesh_maps_mod
