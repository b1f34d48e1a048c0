!> Owns what operators of every kind have in common: the two spaces that they map between.
module operator_parent_mod

  use constants_mod, only: i_def, l_def
  use function_space_mod, only: function_space_type
  use mesh_mod, only: mesh_type

  implicit none
  private

  !> An operator, without its data.
  type, abstract, public :: operator_parent_type
    private
    type(function_space_type), pointer :: fs_to => null()
    type(function_space_type), pointer :: fs_from => null()
  contains
    procedure, public :: operator_parent_initialiser
    procedure, public :: operator_parent_proxy_initialiser
    procedure, public :: destroy_operator_parent
    procedure, public :: is_initialised
    procedure, public :: get_fs_to
    procedure, public :: get_fs_from
    procedure, public :: which_fs_to
    procedure, public :: which_fs_from
    procedure, public :: get_mesh
  end type operator_parent_type

  !> Access to an operator, without its data.
  type, abstract, public :: operator_parent_proxy_type
    private
    type(function_space_type), pointer, public :: fs_to => null()
    type(function_space_type), pointer, public :: fs_from => null()
  end type operator_parent_proxy_type

contains

  !> Set the spaces of an operator.
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
  end subroutine operator_parent_initialiser

  !> Let a proxy see the spaces of the operator.
  subroutine operator_parent_proxy_initialiser(self, operator_proxy)
    class(operator_parent_type), target, intent(in) :: self
    class(operator_parent_proxy_type), intent(inout) :: operator_proxy

    operator_proxy%fs_to => self%fs_to
    operator_proxy%fs_from => self%fs_from
  end subroutine operator_parent_proxy_initialiser

  !> Forget the spaces.
  pure subroutine destroy_operator_parent(self)
    class(operator_parent_type), intent(inout) :: self

    nullify (self%fs_to, self%fs_from)
  end subroutine destroy_operator_parent

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
