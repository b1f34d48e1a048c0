!> Common part of operators of every kind: the spaces that they map between.
module operator_parent_mod

  use, intrinsic :: iso_c_binding, only: c_int
  use constants_mod, only: i_def, l_def
  use function_space_mod, only: function_space_type
  use mesh_mod, only: mesh_type
  use stored_values_mod, only: stored_values_type

  implicit none
  private

  !> An operator, without its data.
  type, abstract, public :: operator_parent_type
    private
    type(function_space_type), pointer :: fs_to => null()
    type(function_space_type), pointer :: fs_from => null()
    type(stored_values_type), pointer, public :: values => null()
  contains
    procedure, non_overridable, public :: operator_parent_initialiser
    procedure, non_overridable, public :: operator_parent_proxy_initialiser
    procedure, non_overridable, public :: destroy_operator_parent
    procedure, non_overridable, public :: is_initialised
    procedure, non_overridable, public :: get_fs_to
    procedure, non_overridable, public :: get_fs_from
    procedure, non_overridable, public :: which_fs_to
    procedure, non_overridable, public :: which_fs_from
    procedure, non_overridable, public :: get_mesh
  end type operator_parent_type

  !> Access to an operator, without its data.
  type, abstract, public :: operator_parent_proxy_type
    private
    type(function_space_type), pointer, public :: fs_to => null()
    type(function_space_type), pointer, public :: fs_from => null()
    type(stored_values_type), pointer, public :: values => null()
  contains
    procedure, non_overridable, public :: release
    procedure, non_overridable, public :: prefetch
    procedure, non_overridable, public :: bring_to_host
    procedure, non_overridable, public :: wrote_on_host
  end type operator_parent_proxy_type

contains

  !> Set the spaces of a new operator, and allocate the storage of its matrices.
  subroutine operator_parent_initialiser(self, fs_to, fs_from)
    class(operator_parent_type), target, intent(inout) :: self
    class(function_space_type), target, intent(in) :: fs_to
    class(function_space_type), target, intent(in) :: fs_from

    select type (fs_to)
    type is (function_space_type)
      self%fs_to => fs_to
    end select
    select type (fs_from)
    type is (function_space_type)
      self%fs_from => fs_from
    end select
    allocate (self%values)
    call self%values%make_storage()
  end subroutine operator_parent_initialiser

  !> Set the spaces and the storage of a proxy to those of the operator.
  subroutine operator_parent_proxy_initialiser(self, operator_proxy)
    class(operator_parent_type), target, intent(in) :: self
    class(operator_parent_proxy_type), intent(inout) :: operator_proxy

    operator_proxy%fs_to => self%fs_to
    operator_proxy%fs_from => self%fs_from
    operator_proxy%values => self%values
  end subroutine operator_parent_proxy_initialiser

  !> Forget the spaces and the storage.
  subroutine destroy_operator_parent(self)
    class(operator_parent_type), intent(inout) :: self

    if (associated(self%values)) then
      call self%values%leave_table()
      deallocate (self%values)
    end if
    nullify (self%fs_to, self%fs_from, self%values)
  end subroutine destroy_operator_parent

  !> End the use of the matrices in a space that was acquired last.
  subroutine release(self, space)
    class(operator_parent_proxy_type), intent(in) :: self
    integer(c_int), intent(in) :: space

    call self%values%release(space)
  end subroutine release

  !> Begin to bring the matrices to a space, where they will be acquired later.
  subroutine prefetch(self, space)
    class(operator_parent_proxy_type), intent(in) :: self
    integer(c_int), intent(in) :: space

    call self%values%prefetch(space)
  end subroutine prefetch

  !> Make the host have the latest matrices, if a device has them.
  subroutine bring_to_host(self)
    class(operator_parent_proxy_type), intent(in) :: self

    call self%values%bring_to_host()
  end subroutine bring_to_host

  !> Note that the matrices were written on the host, without an access.
  subroutine wrote_on_host(self)
    class(operator_parent_proxy_type), intent(in) :: self

    call self%values%wrote_on_host()
  end subroutine wrote_on_host

  !> Return whether the operator has been initialised.
  function is_initialised(self) result(initialised)
    class(operator_parent_type), intent(in) :: self
    logical(l_def) :: initialised

    initialised = associated(self%fs_to)
  end function is_initialised

  !> Return the space that the operator maps to.
  function get_fs_to(self) result(fs)
    class(operator_parent_type), intent(in) :: self
    type(function_space_type), pointer :: fs

    fs => self%fs_to
  end function get_fs_to

  !> Return the space that the operator maps from.
  function get_fs_from(self) result(fs)
    class(operator_parent_type), intent(in) :: self
    type(function_space_type), pointer :: fs

    fs => self%fs_from
  end function get_fs_from

  !> Return which space the operator maps to.
  function which_fs_to(self) result(fs)
    class(operator_parent_type), intent(in) :: self
    integer(i_def) :: fs

    fs = self%fs_to%which()
  end function which_fs_to

  !> Return which space the operator maps from.
  function which_fs_from(self) result(fs)
    class(operator_parent_type), intent(in) :: self
    integer(i_def) :: fs

    fs = self%fs_from%which()
  end function which_fs_from

  !> Return the mesh.
  function get_mesh(self) result(mesh)
    class(operator_parent_type), intent(in) :: self
    type(mesh_type), pointer :: mesh

    mesh => self%fs_to%get_mesh()
  end function get_mesh

end module operator_parent_mod
