!> Owns the columnwise operator: a banded matrix for every column, in the precision of the solver.
!>
!> Entry (i, j) of a matrix with `nrow` rows and `ncol` columns can differ from zero where
!> alpha i - gamma_m <= beta j <= alpha i + gamma_p. It is an interface only: a generated PSy
!> layer compiles against it, but no operator can be made.
module columnwise_operator_mod

  use constants_mod, only: i_def, r_solver
  use function_space_mod, only: function_space_type
  use no_body_mod, only: no_body
  use operator_parent_mod, only: operator_parent_proxy_type, operator_parent_type

  implicit none
  private

  !> A banded matrix for every column, (band, row, column of cells).
  type, extends(operator_parent_type), public :: columnwise_operator_type
    private
    integer(i_def) :: alpha = 1
    integer(i_def) :: beta = 1
    integer(i_def) :: gamma_m = 0
    integer(i_def) :: gamma_p = 0
  contains
    procedure, public :: initialise_from_spaces
    procedure, public :: initialise_with_band
    generic, public :: initialise => initialise_from_spaces, initialise_with_band
    procedure, public :: get_proxy
    procedure, public :: get_alpha
    procedure, public :: get_beta
    procedure, public :: get_gamma_m
    procedure, public :: get_gamma_p
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

    call no_body('columnwise_operator_type%initialise')
  end subroutine initialise_from_spaces

  !> Make an operator from one space to another, with a given band.
  subroutine initialise_with_band(self, fs_to, fs_from, alpha, beta, gamma_m, gamma_p)
    class(columnwise_operator_type), target, intent(inout) :: self
    class(function_space_type), target, intent(in) :: fs_to
    class(function_space_type), target, intent(in) :: fs_from
    integer(i_def), intent(in) :: alpha, beta, gamma_m, gamma_p

    call no_body('columnwise_operator_type%initialise')
  end subroutine initialise_with_band

  !> Return access to the matrices.
  function get_proxy(self) result(operator_proxy)
    class(columnwise_operator_type), target, intent(in) :: self
    type(columnwise_operator_proxy_type) :: operator_proxy

    call self%operator_parent_proxy_initialiser(operator_proxy)
    call no_body('columnwise_operator_type%get_proxy')
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

end module columnwise_operator_mod
