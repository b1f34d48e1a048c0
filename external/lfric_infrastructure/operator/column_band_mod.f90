!> Numbering of the dofs of a column in columnwise operators, and the band of their matrices.
!>
!> Rows and columns of a matrix are the dofs of a column in the order of height: layer by layer,
!> those at the bottom before those within. Entry (i, j) can be nonzero only if
!>
!> -gamma_m <= alpha i - beta j <= gamma_p.
module column_band_mod

  use constants_mod, only: i_def
  use fs_continuity_mod, only: is_fs_horizontally_continuous
  use function_space_mod, only: function_space_type

  implicit none
  private

  public :: new_column, why_no_column
  public :: band_of_assembly, band_of_product, band_of_sum, new_band, why_no_sum

  !> The dofs of a space in one column. Each layer adds `per_layer` of them, and the top
  !> `at_level` more.
  type, public :: column_type
    integer(i_def) :: at_level = 0
    integer(i_def) :: per_layer = 0
    integer(i_def) :: ndof = 0
    !> The place of each dof in the order of height, (dof of cell, layer).
    integer(i_def), allocatable :: banded_dofmap(:, :)
    !> For each place in the order of height the distance from before the first dof of the column.
    integer(i_def), allocatable :: indirection_dofmap(:)
  end type column_type

  !> Which entries can differ from zero.
  type, public :: band_type
    integer(i_def) :: alpha = 1
    integer(i_def) :: beta = 1
    integer(i_def) :: gamma_m = 0
    integer(i_def) :: gamma_p = 0
  contains
    procedure, public :: is_possible
    procedure, public :: get_width
  end type band_type

contains

  !> Return a band after division by the common factor of alpha and beta.
  pure function new_band(alpha, beta, gamma_m, gamma_p) result(band)
    integer(i_def), intent(in) :: alpha, beta, gamma_m, gamma_p
    type(band_type) :: band

    integer(i_def) :: divisor

    band = band_type(alpha, beta, gamma_m, gamma_p)
    if (.not. band%is_possible()) return
    divisor = greatest_common_divisor(alpha, beta)
    band = band_type(alpha / divisor, beta / divisor, gamma_m / divisor, gamma_p / divisor)
  end function new_band

  !> Return the greatest whole number that divides both.
  pure recursive function greatest_common_divisor(a, b) result(divisor)
    integer(i_def), intent(in) :: a, b
    integer(i_def) :: divisor

    divisor = a
    if (b > 0) divisor = greatest_common_divisor(b, modulo(a, b))
  end function greatest_common_divisor

  !> Return whether there can be such a band.
  pure function is_possible(self)
    class(band_type), intent(in) :: self
    logical :: is_possible

    is_possible = self%alpha >= 1 .and. self%beta >= 1 .and. self%gamma_m + self%gamma_p >= 0
  end function is_possible

  !> Return the greatest number of entries of a row that can differ from zero.
  pure function get_width(self) result(width)
    class(band_type), intent(in) :: self
    integer(i_def) :: width

    width = 1 + (self%gamma_m + self%gamma_p + self%beta - 1) / self%beta
  end function get_width

  !> Return the band that assembly needs, which couples the dofs of one layer.
  !>
  !> Those of layer k have positions from p (k - 1) + 1 to p (k - 1) + n, where p is the number of
  !> dofs that each layer adds and n the number of dofs of a cell. With the p of the source space as
  !> alpha and that of the target space as beta, k cancels in alpha i - beta j.
  pure function band_of_assembly(to, from) result(band)
    type(column_type), intent(in) :: to
    type(column_type), intent(in) :: from
    type(band_type) :: band

    band = new_band(alpha=from%per_layer, beta=to%per_layer, &
                    gamma_m=size(from%banded_dofmap, 1, i_def) * to%per_layer - from%per_layer, &
                    gamma_p=size(to%banded_dofmap, 1, i_def) * from%per_layer - to%per_layer)
  end function band_of_assembly

  !> Return the band of the product of two matrices.
  !>
  !> The two conditions on (i, l) and (l, j) are added, the first times alpha of the other, the
  !> second times beta of this one, such that l drops out.
  pure function band_of_product(left, right) result(band)
    type(band_type), intent(in) :: left
    type(band_type), intent(in) :: right
    type(band_type) :: band

    band = new_band(alpha=left%alpha * right%alpha, beta=left%beta * right%beta, &
                    gamma_m=right%alpha * left%gamma_m + left%beta * right%gamma_m, &
                    gamma_p=right%alpha * left%gamma_p + left%beta * right%gamma_p)
  end function band_of_product

  !> Return in words why two matrices have no sum with a band, nothing if they have.
  pure function why_no_sum(left, right) result(problem)
    type(band_type), intent(in) :: left
    type(band_type), intent(in) :: right
    character(:), allocatable :: problem

    problem = ''
    if (left%alpha /= right%alpha .or. left%beta /= right%beta) &
      problem = 'the bands run in different directions'
  end function why_no_sum

  !> Return the band of the sum of two matrices that have one.
  pure function band_of_sum(left, right) result(band)
    type(band_type), intent(in) :: left
    type(band_type), intent(in) :: right
    type(band_type) :: band

    band = new_band(left%alpha, left%beta, max(left%gamma_m, right%gamma_m), &
                    max(left%gamma_p, right%gamma_p))
  end function band_of_sum

  !> Return in words why no columnwise operator can be on a space, nothing if one can.
  function why_no_column(fs) result(problem)
    class(function_space_type), intent(in) :: fs
    character(:), allocatable :: problem

    problem = ''
    if (is_fs_horizontally_continuous(fs%which())) then
      problem = 'a space shares dofs between columns'
    else if (fs%get_ndata() /= 1) then
      problem = 'a space has more than one value at each dof'
    end if
  end function why_no_column

  !> Return the dofs in one column of a space on which columnwise operators can be.
  function new_column(fs) result(column)
    class(function_space_type), intent(in) :: fs
    type(column_type) :: column

    integer(i_def), pointer :: dofmap(:)
    integer(i_def) :: df, layer
    integer(i_def), allocatable :: heights(:)

    column%at_level = fs%get_ndof_face_v()
    column%per_layer = fs%get_ndof_interior() + column%at_level
    column%ndof = fs%get_nlayers() * column%per_layer + column%at_level
    allocate (column%banded_dofmap(fs%get_ndf(), fs%get_nlayers()))
    allocate (column%indirection_dofmap(column%ndof))
    allocate (heights, source=places_by_height(fs, column))
    ! All columns have the same structure, so any cell can be used.
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

end module column_band_mod
