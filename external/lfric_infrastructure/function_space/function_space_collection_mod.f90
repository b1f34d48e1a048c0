!> The function spaces of a program: each is made when first asked for, then shared.
module function_space_collection_mod

  use constants_mod, only: i_def, l_def
  use function_space_mod, only: function_space_type
  use mesh_mod, only: mesh_type

  implicit none
  private

  !> A space, in storage that does not move when others are added.
  type :: space_holder
    type(function_space_type), pointer :: space => null()
  end type space_holder

  !> Spaces in the order in which they were made. A space can be asked for by mesh or by its id,
  !> and by two element orders (today) or by one (2019).
  type, public :: function_space_collection_type
    private
    type(space_holder), allocatable :: spaces(:)
  contains
    procedure, public :: get_fs_on_mesh
    procedure, public :: get_fs_on_mesh_id
    procedure, public :: get_fs_on_mesh_one_order
    procedure, public :: get_fs_on_mesh_id_one_order
    generic, public :: get_fs => get_fs_on_mesh, get_fs_on_mesh_id, get_fs_on_mesh_one_order, &
                                 get_fs_on_mesh_id_one_order
    procedure, non_overridable, public :: get_fs_collection_size
    procedure, non_overridable, public :: clear
  end type function_space_collection_type

  interface function_space_collection_type
    module procedure new_function_space_collection
  end interface function_space_collection_type

  !> The function spaces of the program.
  type(function_space_collection_type), allocatable, public :: function_space_collection

contains

  !> Return a collection without spaces.
  function new_function_space_collection() result(self)
    type(function_space_collection_type) :: self

    allocate (self%spaces(0))
  end function new_function_space_collection

  !> Return a space over a mesh.
  function get_fs_on_mesh(self, mesh, element_order_h, element_order_v, lfric_fs, ndata, &
                          ndata_first) result(fs)
    class(function_space_collection_type), intent(inout) :: self
    type(mesh_type), pointer, intent(in) :: mesh
    integer(i_def), intent(in) :: element_order_h
    integer(i_def), intent(in) :: element_order_v
    integer(i_def), intent(in) :: lfric_fs
    integer(i_def), optional, intent(in) :: ndata
    logical(l_def), optional, intent(in) :: ndata_first
    type(function_space_type), pointer :: fs

    fs => self%get_fs_on_mesh_id(mesh%get_id(), element_order_h, element_order_v, lfric_fs, &
                                 ndata, ndata_first)
  end function get_fs_on_mesh

  !> Return a space over the mesh of this id.
  function get_fs_on_mesh_id(self, mesh_id, element_order_h, element_order_v, lfric_fs, ndata, &
                             ndata_first) result(fs)
    class(function_space_collection_type), intent(inout) :: self
    integer(i_def), intent(in) :: mesh_id
    integer(i_def), intent(in) :: element_order_h
    integer(i_def), intent(in) :: element_order_v
    integer(i_def), intent(in) :: lfric_fs
    integer(i_def), optional, intent(in) :: ndata
    logical(l_def), optional, intent(in) :: ndata_first
    type(function_space_type), pointer :: fs

    type(space_holder) :: holder
    integer(i_def) :: values
    logical(l_def) :: values_first
    integer :: place

    values = 1
    values_first = .false.
    if (present(ndata)) values = ndata
    if (present(ndata_first)) values_first = ndata_first
    do place = 1, size(self%spaces)
      fs => self%spaces(place)%space
      if (all([fs%get_mesh_id(), fs%which(), fs%get_element_order_h(), fs%get_element_order_v(), &
               fs%get_ndata()] == &
              [mesh_id, lfric_fs, element_order_h, element_order_v, values]) .and. &
          (fs%is_ndata_first() .eqv. values_first)) return
    end do

    allocate (holder%space)
    holder%space = function_space_type(mesh_id, element_order_h, element_order_v, lfric_fs, &
                                       values, values_first)
    call holder%space%set_id(size(self%spaces, kind=i_def) + 1_i_def)
    self%spaces = [self%spaces, holder]
    fs => holder%space
  end function get_fs_on_mesh_id

  !> Return a space over a mesh, of one order in all directions.
  function get_fs_on_mesh_one_order(self, mesh, element_order, lfric_fs) result(fs)
    class(function_space_collection_type), intent(inout) :: self
    type(mesh_type), pointer, intent(in) :: mesh
    integer(i_def), intent(in) :: element_order
    integer(i_def), intent(in) :: lfric_fs
    type(function_space_type), pointer :: fs

    fs => self%get_fs_on_mesh_id(mesh%get_id(), element_order, element_order, lfric_fs)
  end function get_fs_on_mesh_one_order

  !> Return a space over the mesh of this id, of one order in all directions.
  function get_fs_on_mesh_id_one_order(self, mesh_id, element_order, lfric_fs) result(fs)
    class(function_space_collection_type), intent(inout) :: self
    integer(i_def), intent(in) :: mesh_id
    integer(i_def), intent(in) :: element_order
    integer(i_def), intent(in) :: lfric_fs
    type(function_space_type), pointer :: fs

    fs => self%get_fs_on_mesh_id(mesh_id, element_order, element_order, lfric_fs)
  end function get_fs_on_mesh_id_one_order

  !> Return the number of spaces.
  function get_fs_collection_size(self) result(fs_list_length)
    class(function_space_collection_type), intent(in) :: self
    integer(i_def) :: fs_list_length

    fs_list_length = size(self%spaces, kind=i_def)
  end function get_fs_collection_size

  !> Forget every space and give the memory back.
  subroutine clear(self)
    class(function_space_collection_type), intent(inout) :: self

    integer :: place

    do place = 1, size(self%spaces)
      call self%spaces(place)%space%clear()
      deallocate (self%spaces(place)%space)
    end do
    deallocate (self%spaces)
    allocate (self%spaces(0))
  end subroutine clear

end module function_space_collection_mod
