!> Owns the columnwise operator: a banded matrix for every column, in the precision of the solver.
!>
!> It maps between spaces that are not shared between columns. Rows and columns of a matrix are the
!> dofs of a column in the order of height: layer by layer those at its bottom, then those within.
!> Entry (i, j) can differ from zero only if
!>
!>     -gamma_m <= alpha i - beta j <= gamma_p,
!>
!> and is kept at `columnwise_matrix(j - j_minus + 1, i, cell)`, where j_minus is the least such j,
!> (alpha i - gamma_p) / beta rounded up. Matrices are there for owned cells and all halos, and
!> are never exchanged.
module columnwise_operator_mod

  use, intrinsic :: iso_c_binding, only: c_int
  use constants_mod, only: i_def, r_solver
  use fs_continuity_mod, only: is_fs_horizontally_continuous
  use function_space_mod, only: function_space_type
  use mesh_mod, only: mesh_type
  use operator_parent_mod, only: operator_parent_proxy_type, operator_parent_type

  implicit none
  private

  !> The dofs of a space in one column. Each layer adds `per_layer` of them, and the top
  !> `at_level` more.
  type :: column_type
    integer(i_def) :: at_level = 0
    integer(i_def) :: per_layer = 0
    integer(i_def) :: ndof = 0
    !> The place of each dof in the order of height, (dof of cell, layer).
    integer(i_def), allocatable :: banded_dofmap(:, :)
    !> For each place in the order of height the distance from before the first dof of the column.
    integer(i_def), allocatable :: indirection_dofmap(:)
  end type column_type

  !> A banded matrix for every column, (band, row, column of cells).
  type, extends(operator_parent_type), public :: columnwise_operator_type
    private
    integer(i_def) :: alpha = 1
    integer(i_def) :: beta = 1
    integer(i_def) :: gamma_m = 0
    integer(i_def) :: gamma_p = 0
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
    procedure, non_overridable, private :: set_band
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
  !>
  !> Assembly couples the dofs of one layer. Those of layer k are at places from p (k - 1) + 1 to
  !> p (k - 1) + n, where p is what each layer adds and n the number of dofs of a cell. With alpha
  !> that p of the space it maps from and beta that of the other, k drops out of alpha i - beta j.
  subroutine initialise_from_spaces(self, fs_to, fs_from)
    class(columnwise_operator_type), target, intent(inout) :: self
    class(function_space_type), target, intent(in) :: fs_to
    class(function_space_type), target, intent(in) :: fs_from

    type(column_type) :: to, from

    to = new_column(fs_to)
    from = new_column(fs_from)
    call self%initialise_with_band(fs_to, fs_from, alpha=from%per_layer, beta=to%per_layer, &
                                   gamma_m=fs_from%get_ndf() * to%per_layer - from%per_layer, &
                                   gamma_p=fs_to%get_ndf() * from%per_layer - to%per_layer)
  end subroutine initialise_from_spaces

  !> Make an operator from one space to another, with a given band.
  subroutine initialise_with_band(self, fs_to, fs_from, alpha, beta, gamma_m, gamma_p)
    use held_storage_mod, only: field_storage_type, storage_of

    class(columnwise_operator_type), target, intent(inout) :: self
    class(function_space_type), target, intent(in) :: fs_to
    class(function_space_type), target, intent(in) :: fs_from
    integer(i_def), intent(in) :: alpha, beta, gamma_m, gamma_p

    type(mesh_type), pointer :: mesh
    type(field_storage_type), pointer :: storage

    if (alpha < 1 .or. beta < 1 .or. gamma_m + gamma_p < 0) &
      error stop 'columnwise_operator%initialise: there is no such band'
    mesh => fs_to%get_mesh()
    if (fs_from%get_mesh_id() /= mesh%get_id()) &
      error stop 'columnwise_operator%initialise: the spaces are on different meshes'
    call self%operator_final()
    call self%operator_parent_initialiser(fs_to, fs_from)
    self%to = new_column(fs_to)
    self%from = new_column(fs_from)
    call self%set_band(alpha, beta, gamma_m, gamma_p)
    allocate (self%columnwise_matrix(bandwidth_of(self), self%to%ndof, mesh%get_ncells_2d()))
    self%columnwise_matrix = 0.0_r_solver
    storage => storage_of(self%values%held)
    call storage%wrap(self%columnwise_matrix, name='columnwise operator', spoils=.true.)
    call self%values%enter_table(lent=.false.)
  end subroutine initialise_with_band

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
    call dest%initialise_with_band(fs_to, fs_from, source%alpha, source%beta, source%gamma_m, &
                                   source%gamma_p)
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

  !> Begin to use the matrices in a space, where they are current from then on: `values` are those
  !> that code for the space works on, until `release`.
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

  !> Set the band, without what alpha and beta have in common.
  subroutine set_band(self, alpha, beta, gamma_m, gamma_p)
    class(columnwise_operator_type), intent(inout) :: self
    integer(i_def), intent(in) :: alpha, beta, gamma_m, gamma_p

    integer(i_def) :: divisor

    divisor = greatest_common_divisor(alpha, beta)
    self%alpha = alpha / divisor
    self%beta = beta / divisor
    self%gamma_m = gamma_m / divisor
    self%gamma_p = gamma_p / divisor
  end subroutine set_band

  !> Return the greatest whole number that divides both.
  pure recursive function greatest_common_divisor(a, b) result(divisor)
    integer(i_def), intent(in) :: a, b
    integer(i_def) :: divisor

    divisor = a
    if (b > 0) divisor = greatest_common_divisor(b, modulo(a, b))
  end function greatest_common_divisor

  !> Return the greatest number of entries of a row that can differ from zero.
  pure function bandwidth_of(self) result(bandwidth)
    class(columnwise_operator_type), intent(in) :: self
    integer(i_def) :: bandwidth

    bandwidth = 1 + (self%gamma_m + self%gamma_p + self%beta - 1) / self%beta
  end function bandwidth_of

  !> Return the dofs of a space in one column; stops the program if columns share dofs.
  function new_column(fs) result(column)
    class(function_space_type), intent(in) :: fs
    type(column_type) :: column

    integer(i_def), pointer :: dofmap(:)
    integer(i_def) :: df, layer
    integer(i_def), allocatable :: heights(:)

    column%at_level = fs%get_ndof_face_v()
    column%per_layer = fs%get_ndof_interior() + column%at_level
    if (is_fs_horizontally_continuous(fs%which())) &
      error stop 'columnwise_operator%initialise: a space shares dofs between columns'
    if (fs%get_ndata() /= 1) &
      error stop 'columnwise_operator%initialise: a space has more than one value at each dof'
    column%ndof = fs%get_nlayers() * column%per_layer + column%at_level
    allocate (column%banded_dofmap(fs%get_ndf(), fs%get_nlayers()))
    allocate (column%indirection_dofmap(column%ndof))
    allocate (heights, source=places_by_height(fs, column))
    ! Columns are alike, so that any cell tells.
    dofmap => fs%get_cell_dofmap(1_i_def)
    do layer = 1, fs%get_nlayers()
      column%banded_dofmap(:, layer) = heights + (layer - 1) * column%per_layer
      do df = 1, fs%get_ndf()
        column%indirection_dofmap(column%banded_dofmap(df, layer)) = &
          dofmap(df) - minval(dofmap) + layer
      end do
    end do
  end function new_column

  !> Return the place of each dof of the lowest cell in the order of height: those at the bottom,
  !> within, at the top.
  function places_by_height(fs, column) result(places)
    class(function_space_type), intent(in) :: fs
    type(column_type), intent(in) :: column
    integer(i_def) :: places(size(column%banded_dofmap, 1))

    integer(i_def), pointer :: bottom_and_top(:, :)
    integer(i_def) :: below(3), df, part

    bottom_and_top => fs%get_boundary_dofs()
    below = [0_i_def, column%at_level, column%per_layer]
    do df = 1, size(places, kind=i_def)
      part = 2
      if (column%at_level > 0) &
        part = 2 + bottom_and_top(df, 1) - bottom_and_top(df, 2)
      below(part) = below(part) + 1
      places(df) = below(part)
    end do
  end function places_by_height

  !> Return access to the matrices.
  function get_proxy(self) result(operator_proxy)
    class(columnwise_operator_type), target, intent(in) :: self
    type(columnwise_operator_proxy_type) :: operator_proxy

    call self%operator_parent_proxy_initialiser(operator_proxy)
    operator_proxy%alpha = self%alpha
    operator_proxy%beta = self%beta
    operator_proxy%gamma_m = self%gamma_m
    operator_proxy%gamma_p = self%gamma_p
    operator_proxy%bandwidth = bandwidth_of(self)
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

    alpha = self%alpha
  end function get_alpha

  !> Return beta of the band.
  function get_beta(self) result(beta)
    class(columnwise_operator_type), intent(in) :: self
    integer(i_def) :: beta

    beta = self%beta
  end function get_beta

  !> Return gamma_m of the band.
  function get_gamma_m(self) result(gamma_m)
    class(columnwise_operator_type), intent(in) :: self
    integer(i_def) :: gamma_m

    gamma_m = self%gamma_m
  end function get_gamma_m

  !> Return gamma_p of the band.
  function get_gamma_p(self) result(gamma_p)
    class(columnwise_operator_type), intent(in) :: self
    integer(i_def) :: gamma_p

    gamma_p = self%gamma_p
  end function get_gamma_p

  !> Return an operator, all zero, with the band of the product of this one and another.
  !>
  !> The two conditions on (i, l) and (l, j) are added, the first times alpha of the other, the
  !> second times beta of this one, such that l drops out.
  function columnwise_operator_product(self, op_b) result(op_c)
    class(columnwise_operator_type), intent(in) :: self
    class(columnwise_operator_type), intent(in) :: op_b
    type(columnwise_operator_type) :: op_c

    type(function_space_type), pointer :: fs_to, fs_from

    fs_to => self%get_fs_to()
    fs_from => op_b%get_fs_from()
    if (self%which_fs_from() /= op_b%which_fs_to()) &
      error stop 'columnwise_operator_product: the second does not map to where the first maps from'
    call op_c%initialise(fs_to, fs_from, &
                         alpha=self%alpha * op_b%alpha, beta=self%beta * op_b%beta, &
                         gamma_m=op_b%alpha * self%gamma_m + self%beta * op_b%gamma_m, &
                         gamma_p=op_b%alpha * self%gamma_p + self%beta * op_b%gamma_p)
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
    if (self%alpha /= op_b%alpha .or. self%beta /= op_b%beta) &
      error stop 'columnwise_operator_sum: the bands run in different directions'
    call op_c%initialise(fs_to, fs_from, self%alpha, self%beta, &
                         max(self%gamma_m, op_b%gamma_m), max(self%gamma_p, op_b%gamma_p))
  end function columnwise_operator_sum

end module columnwise_operator_mod
