!> Numbering of the dofs of columns in columnwise operators, for the C interface.
!>
!> The caller owns the matrices: (band, row, column of cells).
module c_columns_mod

  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t
  use, intrinsic :: iso_fortran_env, only: int64
  use c_space_mod, only: find_space, space_object_type
  use column_band_mod, only: band_of_assembly, band_of_product, band_of_sum, band_type, &
                             column_type, new_band, new_column, why_no_column, why_no_sum
  use constants_mod, only: i_def
  use function_space_mod, only: function_space_type
  use handles_mod, only: add_object, done, find_object, object_type, refuse
  use listing_mod, only: entry_type, listing_type
  use mesh_mod, only: mesh_type

  implicit none
  private

  !> What is known of the matrices that map from one space to another.
  type, extends(object_type) :: columns_object_type
    type(column_type) :: to, from
    type(band_type) :: band
  contains
    procedure, public :: release => release_columns
  end type columns_object_type

  ! What a band is made of
  integer(c_int), parameter :: for_assembly = 0
  integer(c_int), parameter :: as_given = 1
  integer(c_int), parameter :: for_product = 2
  integer(c_int), parameter :: for_sum = 3

contains

  !> Create the description of the matrices between two spaces. Their band is that of assembly, the
  !> one in `numbers` (alpha, beta, gamma_m, gamma_p), or that of the product or the sum of two
  !> others.
  function new_columns(to, from, how, numbers, left, right, handle, message) &
    bind(c, name='lfric_new_columns') result(status)
    integer(c_int64_t), value :: to
    integer(c_int64_t), value :: from
    integer(c_int), value :: how
    integer(c_int), intent(in) :: numbers(4)
    integer(c_int64_t), value :: left
    integer(c_int64_t), value :: right
    integer(c_int64_t), intent(out) :: handle
    character(c_char), intent(out) :: message(*)
    integer(c_int) :: status

    class(object_type), pointer :: object
    type(band_type) :: band
    type(columns_object_type), pointer :: made
    type(space_object_type), pointer :: space_from, space_to

    space_to => find_space(to)
    space_from => find_space(from)
    call check_spaces(space_to, space_from, message, status)
    if (status /= done) return
    allocate (made)
    made%to = new_column(space_to%space)
    made%from = new_column(space_from%space)
    select case (how)
    case (for_assembly)
      band = band_of_assembly(made%to, made%from)
    case (as_given)
      band = new_band(numbers(1), numbers(2), numbers(3), numbers(4))
    case default
      call combine(how == for_product, left, right, band, message, status)
    end select
    if (status == done) call check_band(band, made, space_to%space, message, status)
    if (status /= done) then
      deallocate (made)
      return
    end if
    made%band = band
    object => made
    handle = add_object(object)
  end function new_columns

  !> See whether matrices can map between two spaces.
  subroutine check_spaces(to, from, message, status)
    type(space_object_type), pointer, intent(in) :: to
    type(space_object_type), pointer, intent(in) :: from
    character(c_char), intent(out) :: message(*)
    integer(c_int), intent(out) :: status

    character(:), allocatable :: problem

    status = done
    problem = ''
    if (.not. (associated(to) .and. associated(from))) then
      problem = 'there is no such function space: it was freed'
    else if (to%space%get_mesh_id() /= from%space%get_mesh_id()) then
      problem = 'the spaces are on different meshes'
    else
      problem = why_no_column(to%space)
      if (len(problem) == 0) problem = why_no_column(from%space)
    end if
    if (len(problem) > 0) call refuse(problem, message, status)
  end subroutine check_spaces

  !> Set the band of the product or the sum of two matrices.
  subroutine combine(is_product, left, right, band, message, status)
    logical, intent(in) :: is_product
    integer(c_int64_t), intent(in) :: left
    integer(c_int64_t), intent(in) :: right
    type(band_type), intent(out) :: band
    character(c_char), intent(out) :: message(*)
    integer(c_int), intent(out) :: status

    type(columns_object_type), pointer :: one, other

    status = done
    one => find_columns(left)
    other => find_columns(right)
    if (.not. (associated(one) .and. associated(other))) then
      call refuse('there is no such columnwise operator: it was freed', message, status)
    else if (is_product) then
      if (most_of(one%band) > huge(1_i_def) / (2 * most_of(other%band))) then
        call refuse('the numbers of the band are more than 32 bits can count', message, status)
      else
        band = band_of_product(one%band, other%band)
      end if
    else if (len(why_no_sum(one%band, other%band)) > 0) then
      call refuse(why_no_sum(one%band, other%band), message, status)
    else
      band = band_of_sum(one%band, other%band)
    end if
  end subroutine combine

  !> Return the largest number of a band.
  pure function most_of(band) result(most)
    type(band_type), intent(in) :: band
    integer(int64) :: most

    most = maxval(int(abs([band%alpha, band%beta, band%gamma_m, band%gamma_p]), int64))
  end function most_of

  !> See whether there can be matrices with a band.
  subroutine check_band(band, columns, space, message, status)
    type(band_type), intent(in) :: band
    type(columns_object_type), intent(in) :: columns
    type(function_space_type), intent(in) :: space
    character(c_char), intent(out) :: message(*)
    integer(c_int), intent(out) :: status

    integer(int64) :: width
    type(mesh_type), pointer :: mesh

    status = done
    mesh => space%get_mesh()
    width = int(band%gamma_m, int64) + band%gamma_p + band%beta
    if (min(band%alpha, band%beta) < 1 .or. width < band%beta) then
      call refuse('there is no such band', message, status)
    else if (width > huge(1_i_def) .or. width / band%beta + 1 > &
             huge(1_i_def) / (int(columns%to%ndof, int64) * mesh%get_ncells_2d())) then
      call refuse('there are more entries than numbers of 32 bits can count', message, status)
    end if
  end subroutine check_band

  !> Return the description of the matrices of a handle, null if there is none.
  function find_columns(handle) result(made)
    integer(c_int64_t), intent(in) :: handle
    type(columns_object_type), pointer :: made

    class(object_type), pointer :: object

    made => null()
    object => find_object(handle)
    if (.not. associated(object)) return
    select type (object)
    type is (columns_object_type)
      made => object
    end select
  end function find_columns

  !> List the properties of matrices in at most `room` entries; return the total number of entries,
  !> 0 for an unknown handle.
  function describe_columns(handle, entries, room) bind(c, name='lfric_describe_columns') &
    result(number)
    integer(c_int64_t), value :: handle
    integer(c_int), value :: room
    type(entry_type), target, intent(inout) :: entries(room)
    integer(c_int) :: number

    type(columns_object_type), pointer :: made
    type(listing_type) :: list

    number = 0
    made => find_columns(handle)
    if (.not. associated(made)) return
    call list%into(entries)
    call list%put('alpha', made%band%alpha)
    call list%put('beta', made%band%beta)
    call list%put('gamma_m', made%band%gamma_m)
    call list%put('gamma_p', made%band%gamma_p)
    call list%put('bandwidth', made%band%get_width())
    call list%put('nrow', made%to%ndof)
    call list%put('ncol', made%from%ndof)
    call list%put('banded_dofmap_to', made%to%banded_dofmap)
    call list%put('banded_dofmap_from', made%from%banded_dofmap)
    call list%put('indirection_dofmap_to', made%to%indirection_dofmap)
    call list%put('indirection_dofmap_from', made%from%indirection_dofmap)
    number = list%number
  end function describe_columns

  !> Free the description of matrices.
  subroutine release_columns(self)
    class(columns_object_type), intent(inout) :: self

    deallocate (self%to%banded_dofmap, self%to%indirection_dofmap)
    deallocate (self%from%banded_dofmap, self%from%indirection_dofmap)
  end subroutine release_columns

end module c_columns_mod
