!> The meshes of a program, which algorithms look up by id, by name or as a variant.
module mesh_collection_mod

  use constants_mod, only: i_def, str_def
  use mesh_mod, only: mesh_type

  implicit none
  private

  !> A mesh, in storage that does not move when others are added.
  type :: mesh_holder
    type(mesh_type), pointer :: mesh => null()
  end type mesh_holder

  !> Meshes in the order in which they were added; a look-up that fails gives a null pointer.
  type, public :: mesh_collection_type
    private
    type(mesh_holder), allocatable :: meshes(:)
  contains
    procedure, non_overridable, public :: add_new_mesh
    procedure, non_overridable, public :: n_meshes
    procedure, non_overridable, public :: get_mesh_names
    procedure, non_overridable, public :: get_mesh_id
    procedure, public :: get_mesh_by_name
    procedure, public :: get_mesh_by_id
    procedure, public :: get_mesh_variant
    generic, public :: get_mesh => get_mesh_by_name, get_mesh_by_id, get_mesh_variant
    procedure, public :: check_for_by_name
    procedure, public :: check_for_by_extrusion
    generic, public :: check_for => check_for_by_name, check_for_by_extrusion
    procedure, non_overridable, public :: clear
  end type mesh_collection_type

  interface mesh_collection_type
    module procedure new_mesh_collection
  end interface mesh_collection_type

  !> The meshes of the program.
  type(mesh_collection_type), allocatable, public :: mesh_collection

contains

  !> Return a collection without meshes.
  function new_mesh_collection() result(self)
    type(mesh_collection_type) :: self

    allocate (self%meshes(0))
  end function new_mesh_collection

  !> Add a copy of a mesh and return its id.
  function add_new_mesh(self, mesh) result(mesh_id)
    class(mesh_collection_type), intent(inout) :: self
    type(mesh_type), intent(in) :: mesh
    integer(i_def) :: mesh_id

    type(mesh_holder) :: holder

    allocate (holder%mesh, source=mesh)
    self%meshes = [self%meshes, holder]
    mesh_id = mesh%get_id()
  end function add_new_mesh

  !> Return the number of meshes.
  function n_meshes(self) result(number_of_meshes)
    class(mesh_collection_type), intent(in) :: self
    integer(i_def) :: number_of_meshes

    number_of_meshes = size(self%meshes, kind=i_def)
  end function n_meshes

  !> Return the names of the meshes.
  function get_mesh_names(self) result(mesh_names)
    class(mesh_collection_type), intent(in) :: self
    character(str_def), allocatable :: mesh_names(:)

    integer :: place

    allocate (mesh_names(size(self%meshes)))
    do place = 1, size(self%meshes)
      mesh_names(place) = self%meshes(place)%mesh%get_mesh_name()
    end do
  end function get_mesh_names

  !> Return the id of the mesh of this name; stops the program if there is none.
  function get_mesh_id(self, mesh_name) result(mesh_id)
    class(mesh_collection_type), intent(in) :: self
    character(*), intent(in) :: mesh_name
    integer(i_def) :: mesh_id

    type(mesh_type), pointer :: mesh

    mesh => self%get_mesh_by_name(mesh_name)
    if (.not. associated(mesh)) error stop 'get_mesh_id: there is no mesh of this name'
    mesh_id = mesh%get_id()
  end function get_mesh_id

  !> Return the mesh of this name.
  function get_mesh_by_name(self, mesh_name) result(mesh)
    class(mesh_collection_type), intent(in) :: self
    character(*), intent(in) :: mesh_name
    type(mesh_type), pointer :: mesh

    integer :: place

    do place = 1, size(self%meshes)
      mesh => self%meshes(place)%mesh
      if (mesh%get_mesh_name() == mesh_name) return
    end do
    nullify (mesh)
  end function get_mesh_by_name

  !> Return the mesh of this id.
  function get_mesh_by_id(self, mesh_id) result(mesh)
    class(mesh_collection_type), intent(in) :: self
    integer(i_def), intent(in) :: mesh_id
    type(mesh_type), pointer :: mesh

    integer :: place

    do place = 1, size(self%meshes)
      mesh => self%meshes(place)%mesh
      if (mesh%get_id() == mesh_id) return
    end do
    nullify (mesh)
  end function get_mesh_by_id

  !> Return the mesh over the same horizontal mesh as `mesh` that was extruded for this purpose.
  function get_mesh_variant(self, mesh, extrusion_id) result(variant_mesh)
    class(mesh_collection_type), intent(in) :: self
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(in) :: extrusion_id
    type(mesh_type), pointer :: variant_mesh

    integer :: place

    do place = 1, size(self%meshes)
      variant_mesh => self%meshes(place)%mesh
      if (variant_mesh%get_extrusion_id() == extrusion_id .and. &
          associated(variant_mesh%get_local_mesh(), mesh%get_local_mesh())) return
    end do
    nullify (variant_mesh)
  end function get_mesh_variant

  !> Return whether there is a mesh of this name.
  function check_for_by_name(self, mesh_name) result(answer)
    class(mesh_collection_type), intent(in) :: self
    character(*), intent(in) :: mesh_name
    logical :: answer

    answer = associated(self%get_mesh_by_name(mesh_name))
  end function check_for_by_name

  !> Return whether there is a variant of a mesh that was extruded for this purpose.
  function check_for_by_extrusion(self, mesh, extrusion_id) result(answer)
    class(mesh_collection_type), intent(in) :: self
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(in) :: extrusion_id
    logical :: answer

    answer = associated(self%get_mesh_variant(mesh, extrusion_id))
  end function check_for_by_extrusion

  !> Forget every mesh and give the memory back.
  subroutine clear(self)
    class(mesh_collection_type), intent(inout) :: self

    integer :: place

    do place = 1, size(self%meshes)
      call self%meshes(place)%mesh%clear()
      deallocate (self%meshes(place)%mesh)
    end do
    deallocate (self%meshes)
    allocate (self%meshes(0))
  end subroutine clear

end module mesh_collection_mod
