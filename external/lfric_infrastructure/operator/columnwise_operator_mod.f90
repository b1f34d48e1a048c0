!> The columnwise operator: a banded matrix for every column, in the precision of the solver.
!>
!> It maps between spaces that are not shared between columns. Entry (i, j) of a matrix, if it is
!> in the band (see `column_band_mod`), is kept at `columnwise_matrix(j - j_minus + 1, i, cell)`,
!> where j_minus is the least j in the band, (alpha i - gamma_p) / beta rounded up. Matrices are
!> there for owned cells and all halos, and are never exchanged.
module columnwise_operator_mod

  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: error_unit
  use column_band_mod, only: band_of_assembly, band_of_product, band_of_sum, band_type, &
                             column_type, new_band, new_column, why_no_column, why_no_sum
  use constants_mod, only: i_def, r_solver
  use function_space_mod, only: function_space_type
  use mesh_mod, only: mesh_type
  use operator_parent_mod, only: operator_parent_proxy_type, operator_parent_type

  implicit none
  private

  !> A banded matrix for every column, (band, row, column of cells).
  type, extends(operator_parent_type), public :: columnwise_operator_type
    private
    type(band_type) :: band
    type(column_type) :: to
    type(column_type) :: from
    real(r_solver), pointer :: columnwise_matrix(:, :, :) => null()
  contains
    procedure, public :: initialise_from_spaces
    procedure, public :: initialise_with_band
    generic, public :: initialise => initialise_from_spaces, initialise_with_band
    procedure, non_overridable, public :: get_proxy
    procedure, non_overridable, public :: get_alpha
    procedure, non_overridable, public :: get_beta
    procedure, non_overridable, public :: get_gamma_m
    procedure, non_overridable, public :: get_gamma_p
    procedure, non_overridable, public :: columnwise_operator_product
    procedure, non_overridable, public :: columnwise_operator_sum
    procedure, non_overridable, public :: operator_final
    procedure, private :: initialise_columns
    procedure, private :: initialise_matrices
    procedure, private :: assign_operator
    generic, public :: assignment(=) => assign_operator
    final :: destroy_operator
  end type columnwise_operator_type

  interface columnwise_operator_type
    module procedure new_columnwise_operator
  end interface columnwise_operator_type

  !> Access to the matrices of an operator.
  type, extends(operator_parent_proxy_type), public :: columnwise_operator_proxy_type
    private
    integer(i_def), public :: alpha = 1
    integer(i_def), public :: beta = 1
    integer(i_def), public :: gamma_m = 0
    integer(i_def), public :: gamma_p = 0
    integer(i_def), public :: bandwidth = 0
    integer(i_def), public :: nrow = 0
    integer(i_def), public :: ncol = 0
    integer(i_def), public :: ncell_2d = 0
    real(r_solver), pointer, public :: columnwise_matrix(:, :, :) => null()
    integer(i_def), pointer, public :: column_banded_dofmap_to(:, :) => null()
    integer(i_def), pointer, public :: column_banded_dofmap_from(:, :) => null()
    integer(i_def), pointer, public :: indirection_dofmap_to(:) => null()
    integer(i_def), pointer, public :: indirection_dofmap_from(:) => null()
  contains
    procedure, non_overridable, public :: acquire
  end type columnwise_operator_proxy_type

contains

  !> Return an operator from one space to another, the 2019 way to make one.
  function new_columnwise_operator(fs_to, fs_from) result(operator)
    class(function_space_type), target, intent(in) :: fs_to
    class(function_space_type), target, intent(in) :: fs_from
    type(columnwise_operator_type) :: operator

    call operator%initialise(fs_to, fs_from)
  end function new_columnwise_operator

  !> Make an operator from one space to another, with the band that assembly needs.
  subroutine initialise_from_spaces(self, fs_to, fs_from)
    class(columnwise_operator_type), target, intent(inout) :: self
    class(function_space_type), target, intent(in) :: fs_to
    class(function_space_type), target, intent(in) :: fs_from

    call self%initialise_columns(fs_to, fs_from)
    call self%initialise_matrices(band_of_assembly(self%to, self%from))
  end subroutine initialise_from_spaces

  !> Make an operator from one space to another, with a given band.
  subroutine initialise_with_band(self, fs_to, fs_from, alpha, beta, gamma_m, gamma_p)
    class(columnwise_operator_type), target, intent(inout) :: self
    class(function_space_type), target, intent(in) :: fs_to
    class(function_space_type), target, intent(in) :: fs_from
    integer(i_def), intent(in) :: alpha, beta, gamma_m, gamma_p

    call self%initialise_columns(fs_to, fs_from)
    call self%initialise_matrices(new_band(alpha, beta, gamma_m, gamma_p))
  end subroutine initialise_with_band

  !> Note the spaces and their columns; stops the program if no operator can be on them.
  subroutine initialise_columns(self, fs_to, fs_from)
    class(columnwise_operator_type), target, intent(inout) :: self
    class(function_space_type), target, intent(in) :: fs_to
    class(function_space_type), target, intent(in) :: fs_from

    type(mesh_type), pointer :: mesh

    mesh => fs_to%get_mesh()
    if (fs_from%get_mesh_id() /= mesh%get_id()) &
      error stop 'columnwise_operator%initialise: the spaces are on different meshes'
    call stop_if('columnwise_operator%initialise: ', why_no_column(fs_to))
    call stop_if('columnwise_operator%initialise: ', why_no_column(fs_from))
    call self%operator_final()
    call self%operator_parent_initialiser(fs_to, fs_from)
    self%to = new_column(fs_to)
    self%from = new_column(fs_from)
  end subroutine initialise_columns

  !> Stop the program if there is a problem.
  subroutine stop_if(who, problem)
    character(*), intent(in) :: who
    character(*), intent(in) :: problem

    if (len(problem) == 0) return
    write (error_unit, '(3a)') 'ERROR STOP ', who, problem
    error stop 1
  end subroutine stop_if

  !> Make matrices that are zero; stops the program if there can be no such band.
  subroutine initialise_matrices(self, band)
    use held_storage_mod, only: field_storage_type, storage_of

    class(columnwise_operator_type), target, intent(inout) :: self
    type(band_type), intent(in) :: band

    type(function_space_type), pointer :: fs_to
    type(mesh_type), pointer :: mesh
    type(field_storage_type), pointer :: storage

    if (.not. band%is_possible()) &
      error stop 'columnwise_operator%initialise: there is no such band'
    self%band = band
    fs_to => self%get_fs_to()
    mesh => fs_to%get_mesh()
    allocate (self%columnwise_matrix(band%get_width(), self%to%ndof, mesh%get_ncells_2d()))
    self%columnwise_matrix = 0.0_r_solver
    storage => storage_of(self%values%held)
    call storage%wrap(self%columnwise_matrix, name='columnwise operator', spoils=.true.)
    call self%values%enter_table(lent=.false.)
  end subroutine initialise_matrices

  !> Make `dest` a copy of `source`, matrices included; they may be one and the same.
  subroutine assign_operator(dest, source)
    class(columnwise_operator_type), intent(inout) :: dest
    class(columnwise_operator_type), intent(in) :: source

    type(function_space_type), pointer :: fs_from, fs_to

    if (associated(dest%columnwise_matrix, source%columnwise_matrix)) return
    call dest%operator_final()
    if (.not. source%is_initialised()) return
    fs_from => source%get_fs_from()
    fs_to => source%get_fs_to()
    call dest%initialise_columns(fs_to, fs_from)
    call dest%initialise_matrices(source%band)
    call source%values%bring_to_host()
    dest%columnwise_matrix = source%columnwise_matrix
  end subroutine assign_operator

  !> Give the memory back; the operator may be initialised again.
  subroutine operator_final(self)
    class(columnwise_operator_type), intent(inout) :: self

    call self%destroy_operator_parent()
    if (associated(self%columnwise_matrix)) deallocate (self%columnwise_matrix)
    nullify (self%columnwise_matrix)
  end subroutine operator_final

  !> Give the memory back when an operator goes out of scope.
  impure elemental subroutine destroy_operator(self)
    type(columnwise_operator_type), intent(inout) :: self

    call self%operator_final()
  end subroutine destroy_operator

  !> Begin an access to the matrices in a space; they are current there afterwards. Code for the
  !> space uses `values` until `release`.
  subroutine acquire(self, space, access, values, may_share)
    use held_storage_mod, only: field_storage_type, storage_of

    class(columnwise_operator_proxy_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    real(r_solver), pointer, contiguous, intent(out) :: values(:, :, :)
    logical, optional, intent(in) :: may_share

    type(field_storage_type), pointer :: storage

    call self%values%acquire(space, access, may_share)
    storage => storage_of(self%values%held)
    call storage%window(space, values)
  end subroutine acquire

  !> Return access to the matrices.
  function get_proxy(self) result(operator_proxy)
    class(columnwise_operator_type), target, intent(in) :: self
    type(columnwise_operator_proxy_type) :: operator_proxy

    call self%operator_parent_proxy_initialiser(operator_proxy)
    operator_proxy%alpha = self%band%alpha
    operator_proxy%beta = self%band%beta
    operator_proxy%gamma_m = self%band%gamma_m
    operator_proxy%gamma_p = self%band%gamma_p
    operator_proxy%bandwidth = self%band%get_width()
    operator_proxy%nrow = self%to%ndof
    operator_proxy%ncol = self%from%ndof
    operator_proxy%ncell_2d = size(self%columnwise_matrix, 3, i_def)
    operator_proxy%columnwise_matrix => self%columnwise_matrix
    operator_proxy%column_banded_dofmap_to => self%to%banded_dofmap
    operator_proxy%column_banded_dofmap_from => self%from%banded_dofmap
    operator_proxy%indirection_dofmap_to => self%to%indirection_dofmap
    operator_proxy%indirection_dofmap_from => self%from%indirection_dofmap
  end function get_proxy

  !> Return alpha of the band.
  function get_alpha(self) result(alpha)
    class(columnwise_operator_type), intent(in) :: self
    integer(i_def) :: alpha

    alpha = self%band%alpha
  end function get_alpha

  !> Return beta of the band.
  function get_beta(self) result(beta)
    class(columnwise_operator_type), intent(in) :: self
    integer(i_def) :: beta

    beta = self%band%beta
  end function get_beta

  !> Return gamma_m of the band.
  function get_gamma_m(self) result(gamma_m)
    class(columnwise_operator_type), intent(in) :: self
    integer(i_def) :: gamma_m

    gamma_m = self%band%gamma_m
  end function get_gamma_m

  !> Return gamma_p of the band.
  function get_gamma_p(self) result(gamma_p)
    class(columnwise_operator_type), intent(in) :: self
    integer(i_def) :: gamma_p

    gamma_p = self%band%gamma_p
  end function get_gamma_p

  !> Return an operator, all zero, with the band of the product of this one and another.
  function columnwise_operator_product(self, op_b) result(op_c)
    class(columnwise_operator_type), intent(in) :: self
    class(columnwise_operator_type), intent(in) :: op_b
    type(columnwise_operator_type) :: op_c

    type(function_space_type), pointer :: fs_to, fs_from

    fs_to => self%get_fs_to()
    fs_from => op_b%get_fs_from()
    if (self%which_fs_from() /= op_b%which_fs_to()) &
      error stop 'columnwise_operator_product: the second does not map to where the first maps from'
    call op_c%initialise_columns(fs_to, fs_from)
    call op_c%initialise_matrices(band_of_product(self%band, op_b%band))
  end function columnwise_operator_product

  !> Return an operator, all zero, with the band of the sum of this one and another.
  function columnwise_operator_sum(self, op_b) result(op_c)
    class(columnwise_operator_type), intent(in) :: self
    class(columnwise_operator_type), intent(in) :: op_b
    type(columnwise_operator_type) :: op_c

    type(function_space_type), pointer :: fs_to, fs_from

    fs_to => self%get_fs_to()
    fs_from => op_b%get_fs_from()
    if (self%which_fs_to() /= op_b%which_fs_to() .or. &
        self%which_fs_from() /= op_b%which_fs_from()) &
      error stop 'columnwise_operator_sum: the operators map between different spaces'
    call stop_if('columnwise_operator_sum: ', why_no_sum(self%band, op_b%band))
    call op_c%initialise_columns(fs_to, fs_from)
    call op_c%initialise_matrices(band_of_sum(self%band, op_b%band))
  end function columnwise_operator_sum

end module columnwise_operator_mod
