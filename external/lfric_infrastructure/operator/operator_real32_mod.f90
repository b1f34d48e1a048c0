!> Owns the operators of 32-bit reals.
!>
!> The modules of the other kinds have the same text but for names and kinds, which a test keeps so:
!> Fortran has no generic derived types that the compilers at hand support, and gfortran takes
!> renamed types of one name for the same type in a select type construct.
module operator_real32_mod

  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: real32
  use constants_mod, only: i_def
  use function_space_mod, only: function_space_type
  use mesh_mod, only: mesh_type
  use operator_parent_mod, only: operator_parent_proxy_type, operator_parent_type

  implicit none
  private

  !> An operator from one space to another: a matrix for every cell, (cell, dof to, dof from). The
  !> cells of a column follow one another, and there are matrices for halo cells of depth 1.
  type, extends(operator_parent_type), public :: operator_real32_type
    private
    real(real32), pointer :: local_stencil(:, :, :) => null()
  contains
    procedure, non_overridable, public :: initialise => initialise_operator
    procedure, non_overridable, public :: get_proxy
    procedure, non_overridable, public :: deep_copy
    procedure, non_overridable, public :: operator_final
    procedure, private :: assign_operator
    generic, public :: assignment(=) => assign_operator
    final :: destroy_operator
  end type operator_real32_type

  interface operator_real32_type
    module procedure new_operator
  end interface operator_real32_type

  !> Access to the matrices of an operator.
  type, extends(operator_parent_proxy_type), public :: operator_real32_proxy_type
    private
    real(real32), pointer, public :: local_stencil(:, :, :) => null()
    integer(i_def), public :: ncell_3d = 0
  contains
    procedure, non_overridable, public :: acquire
  end type operator_real32_proxy_type

contains

  !> Return an operator from one space to another, the 2019 way to make one.
  function new_operator(fs_to, fs_from) result(operator)
    class(function_space_type), target, intent(in) :: fs_to
    class(function_space_type), target, intent(in) :: fs_from
    type(operator_real32_type) :: operator

    call operator%initialise(fs_to, fs_from)
  end function new_operator

  !> Make an operator from one space to another, of zeros.
  subroutine initialise_operator(self, fs_to, fs_from)
    use held_storage_mod, only: field_storage_type, storage_of

    class(operator_real32_type), target, intent(inout) :: self
    class(function_space_type), target, intent(in) :: fs_to
    class(function_space_type), target, intent(in) :: fs_from

    type(mesh_type), pointer :: mesh
    type(field_storage_type), pointer :: storage

    call self%operator_final()
    call self%operator_parent_initialiser(fs_to, fs_from)
    mesh => self%get_mesh()
    allocate (self%local_stencil(mesh%get_nlayers() * mesh%get_last_halo_cell(1_i_def), &
                                 fs_to%get_ndf(), fs_from%get_ndf()))
    self%local_stencil = 0.0_real32
    storage => storage_of(self%values%held)
    call storage%wrap(self%local_stencil, name='operator', spoils=.true.)
    call self%values%enter_table(lent=.false.)
  end subroutine initialise_operator

  !> Return access to the matrices.
  function get_proxy(self) result(operator_proxy)
    class(operator_real32_type), target, intent(in) :: self
    type(operator_real32_proxy_type) :: operator_proxy

    call self%operator_parent_proxy_initialiser(operator_proxy)
    operator_proxy%local_stencil => self%local_stencil
    operator_proxy%ncell_3d = size(self%local_stencil, 1, i_def)
  end function get_proxy

  !> Begin to use the matrices in a space, where they are current from then on: `values` are those
  !> that code for the space works on, until `release`.
  subroutine acquire(self, space, access, values, may_share)
    use held_storage_mod, only: field_storage_type, storage_of

    class(operator_real32_proxy_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    real(real32), pointer, contiguous, intent(out) :: values(:, :, :)
    logical, optional, intent(in) :: may_share

    type(field_storage_type), pointer :: storage

    call self%values%acquire(space, access, may_share)
    storage => storage_of(self%values%held)
    call storage%window(space, values)
  end subroutine acquire

  !> Return a copy, matrices included.
  function deep_copy(self) result(other)
    class(operator_real32_type), target, intent(in) :: self
    type(operator_real32_type) :: other

    call other%assign_operator(self)
  end function deep_copy

  !> Make `dest` a copy of `source`, matrices included; they may be one and the same.
  subroutine assign_operator(dest, source)
    class(operator_real32_type), intent(inout) :: dest
    class(operator_real32_type), intent(in) :: source

    type(function_space_type), pointer :: fs_from, fs_to

    if (associated(dest%local_stencil, source%local_stencil)) return
    call dest%operator_final()
    if (.not. source%is_initialised()) return
    ! As arguments, what the functions return would be copies, for gfortran, that do not last.
    fs_from => source%get_fs_from()
    fs_to => source%get_fs_to()
    call dest%initialise(fs_to, fs_from)
    call source%values%bring_to_host()
    dest%local_stencil = source%local_stencil
  end subroutine assign_operator

  !> Give the memory back; the operator may be initialised again.
  subroutine operator_final(self)
    class(operator_real32_type), intent(inout) :: self

    call self%destroy_operator_parent()
    if (associated(self%local_stencil)) deallocate (self%local_stencil)
    nullify (self%local_stencil)
  end subroutine operator_final

  !> Give the memory back when an operator goes out of scope.
  impure elemental subroutine destroy_operator(self)
    type(operator_real32_type), intent(inout) :: self

    call self%operator_final()
  end subroutine destroy_operator

end module operator_real32_mod
