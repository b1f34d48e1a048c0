!> The stencil maps of a function space, each found by its shape and its extent.
module stencil_maps_mod

  use constants_mod, only: i_def
  use stencil_2D_dofmap_mod, only: stencil_2D_dofmap_type
  use stencil_dofmap_mod, only: stencil_dofmap_type

  implicit none
  private

  public :: add_map, add_map_2D, clear_maps, get_map, get_map_2D

  !> A stencil map that has been asked for.
  type :: stencil_holder
    integer(i_def) :: shape = 0
    integer(i_def) :: extent = 0
    type(stencil_dofmap_type), pointer :: map => null()
    type(stencil_2D_dofmap_type), pointer :: map_2D => null()
  end type stencil_holder

  !> The stencil maps of a space, those of two dimensions among them.
  type, public :: stencil_maps_type
    private
    type(stencil_holder), allocatable :: held(:)
  end type stencil_maps_type

contains

  !> Return the map of a shape and an extent, nothing if there is none.
  function get_map(self, shape, extent) result(map)
    type(stencil_maps_type), intent(in) :: self
    integer(i_def), intent(in) :: shape
    integer(i_def), intent(in) :: extent
    type(stencil_dofmap_type), pointer :: map

    integer :: place

    map => null()
    if (.not. allocated(self%held)) return
    do place = 1, size(self%held)
      if (self%held(place)%shape /= shape .or. self%held(place)%extent /= extent) cycle
      if (associated(self%held(place)%map)) map => self%held(place)%map
    end do
  end function get_map

  !> Return the map of two dimensions of a shape and an extent, nothing if there is none.
  function get_map_2D(self, shape, extent) result(map)
    type(stencil_maps_type), intent(in) :: self
    integer(i_def), intent(in) :: shape
    integer(i_def), intent(in) :: extent
    type(stencil_2D_dofmap_type), pointer :: map

    integer :: place

    map => null()
    if (.not. allocated(self%held)) return
    do place = 1, size(self%held)
      if (self%held(place)%shape /= shape .or. self%held(place)%extent /= extent) cycle
      if (associated(self%held(place)%map_2D)) map => self%held(place)%map_2D
    end do
  end function get_map_2D

  !> Keep a map under its shape and extent.
  subroutine add_map(self, shape, extent, map)
    type(stencil_maps_type), intent(inout) :: self
    integer(i_def), intent(in) :: shape
    integer(i_def), intent(in) :: extent
    type(stencil_dofmap_type), intent(in) :: map

    type(stencil_holder) :: holder

    allocate (holder%map)
    holder%map = map
    call hold(self, holder, shape, extent)
  end subroutine add_map

  !> Keep a map of two dimensions under its shape and extent.
  subroutine add_map_2D(self, shape, extent, map)
    type(stencil_maps_type), intent(inout) :: self
    integer(i_def), intent(in) :: shape
    integer(i_def), intent(in) :: extent
    type(stencil_2D_dofmap_type), intent(in) :: map

    type(stencil_holder) :: holder

    allocate (holder%map_2D)
    holder%map_2D = map
    call hold(self, holder, shape, extent)
  end subroutine add_map_2D

  !> Keep what `holder` has under a shape and an extent.
  subroutine hold(self, holder, shape, extent)
    type(stencil_maps_type), intent(inout) :: self
    type(stencil_holder), intent(inout) :: holder
    integer(i_def), intent(in) :: shape
    integer(i_def), intent(in) :: extent

    holder%shape = shape
    holder%extent = extent
    if (.not. allocated(self%held)) allocate (self%held(0))
    self%held = [self%held, holder]
  end subroutine hold

  !> Free all maps.
  subroutine clear_maps(self)
    type(stencil_maps_type), intent(inout) :: self

    integer :: place

    if (.not. allocated(self%held)) return
    do place = 1, size(self%held)
      if (associated(self%held(place)%map)) then
        call self%held(place)%map%clear()
        deallocate (self%held(place)%map)
      end if
      if (associated(self%held(place)%map_2D)) then
        call self%held(place)%map_2D%clear()
        deallocate (self%held(place)%map_2D)
      end if
    end do
    deallocate (self%held)
  end subroutine clear_maps

end module stencil_maps_mod
