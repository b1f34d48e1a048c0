!> Run-time check of halos for LFRic (setting RUN_TIME_CHECKS = halos).
!>
!> Generated code calls it before and after each loop. Before a loop that reads a halo, the levels
!> that it reads must be clean; in every n-th call of an invoke, all levels that the flags call clean
!> are compared with their owners. After a loop, the levels of written fields that are dirty are
!> filled with quiet NaN (integer fields: the largest value).
!>
!> It uses only what LFRic's own infrastructure also has, so it can be compiled with either.
module halo_check_mod

  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use constants_mod, only: i_def
  use field_parent_mod, only: field_parent_proxy_type
  use field_real32_mod, only: field_real32_proxy_type
  use field_real64_mod, only: field_real64_proxy_type
  use halo_records_mod, only: halo_record_type, record_of, text_length
  use integer_field_mod, only: integer_field_proxy_type
  use lfric_mpi_mod, only: global_mpi
  use log_mod, only: log_event, log_level_error, log_level_warning

  implicit none
  private

  public :: clean_halo_depth

  !> Whether an invoke with errors stops the program, and the number of errors on this rank so far.
  logical, public :: halo_check_stops = .true.
  integer, public, protected :: halo_errors = 0

  !> The check of one invoke: how often it was called, whether this call compares values, and the
  !> number of errors on this rank.
  type, public :: halo_check_type
    private
    integer :: calls = 0
    integer :: found = 0
    logical :: compares = .false.
    logical :: keeps_annexed = .false.
    character(text_length) :: invoke = ''
  contains
    procedure, public :: begin
    procedure, public :: needs
    procedure, public :: wrote
    procedure, public :: finish
    procedure, private :: compare
    procedure, private :: report
  end type halo_check_type

  !> The number of the current call of an invoke.
  integer :: call_number = 0

  !> The values of a field as words of 32 bits, and what dirty values are filled with.
  type :: view_type
    integer(int32), pointer :: words(:) => null()
    integer :: words_per_value = 1
    integer(int32) :: spoilt(2) = huge(0_int32)
  end type view_type

contains

  !> Return how many levels of a halo are clean according to its flags.
  function clean_halo_depth(field) result(depth)
    class(field_parent_proxy_type), intent(in) :: field
    integer(i_def) :: depth

    do depth = 0, field%get_field_proxy_halo_depth() - 1
      if (field%is_dirty(depth + 1)) return
    end do
  end function clean_halo_depth

  !> Begin a call of an invoke. Values are compared in the first of `every` calls. With
  !> `keeps_annexed`, annexed dofs are clean between invokes.
  subroutine begin(self, invoke, every, keeps_annexed)
    class(halo_check_type), intent(inout) :: self
    character(*), intent(in) :: invoke
    integer, intent(in) :: every
    logical, intent(in) :: keeps_annexed

    call_number = call_number + 1
    self%keeps_annexed = keeps_annexed
    self%invoke = invoke
    self%compares = modulo(self%calls, every) == 0
    self%calls = self%calls + 1
    self%found = 0
  end subroutine begin

  !> Check the halo of `field`, called `name`, before `reader` reads it to level `depth`, and the
  !> annexed dofs if `annexed`.
  subroutine needs(self, field, name, reader, depth, annexed)
    class(halo_check_type), intent(inout) :: self
    class(field_parent_proxy_type), intent(inout) :: field
    character(*), intent(in) :: name
    character(*), intent(in) :: reader
    integer(i_def), intent(in) :: depth
    logical, intent(in) :: annexed
    type(halo_record_type), pointer :: record
    type(view_type) :: view
    integer(i_def) :: clean

    if (field%get_field_proxy_halo_depth() == 0) return
    call see(field, view, record)
    clean = clean_halo_depth(field)
    if (clean > 0) record%annexed = 0
    if (min(depth, field%get_field_proxy_halo_depth()) > clean) then
      call self%report(name, 'level', clean + 1, 'of the halo is dirty and', reader, record)
    else if (annexed .and. has_stale_annexed(self, field, record, clean)) then
      call self%report(name, 'level', 0, '(annexed dofs) is stale and', reader, record)
    end if
    if (self%compares) call self%compare(field, name, reader, clean)
  end subroutine needs

  !> Return whether annexed dofs are stale: the last write left them so, or they are not known to be
  !> clean, and neither a halo exchange nor a convention makes them clean.
  function has_stale_annexed(self, field, record, clean) result(stale)
    class(halo_check_type), intent(in) :: self
    class(field_parent_proxy_type), intent(in) :: field
    type(halo_record_type), intent(in) :: record
    integer(i_def), intent(in) :: clean
    logical :: stale

    stale = clean == 0 .and. record%annexed < 1
    if (record%call_number /= call_number) stale = clean == 0
    if (self%keeps_annexed) stale = record%annexed < 0
    stale = stale .and. last_dof(field, 0) > field%vspace%get_last_dof_owned()
  end function has_stale_annexed

  !> Compare levels 1 to `clean` of a halo, and annexed dofs, with their owners. All ranks call it.
  !> Levels that the last loop computed are not compared.
  subroutine compare(self, field, name, reader, clean)
    class(halo_check_type), intent(inout) :: self
    class(field_parent_proxy_type), intent(inout) :: field
    character(*), intent(in) :: name
    character(*), intent(in) :: reader
    integer(i_def), intent(in) :: clean
    type(halo_record_type), pointer :: record
    type(view_type) :: view
    integer(int32), allocatable :: before(:)
    integer(i_def) :: least, most, computed, level
    integer :: first, last, owned

    if (field%vspace%is_readonly()) return
    call global_mpi%global_min(clean, least)
    call global_mpi%global_max(clean, most)
    call see(field, view, record)
    if (least /= most) then
      call self%report(name, 'level', least + 1, 'of the halo is clean on some ranks only when', &
                       reader, record)
      return
    end if
    if (most == 0) return
    ! A record may be that of another field, which had the address before, on some ranks.
    call global_mpi%global_max(record%computed, computed)
    if (clean <= computed) return
    owned = view%words_per_value * field%vspace%get_last_dof_owned()
    last = view%words_per_value * field%vspace%get_last_dof_halo(clean)
    allocate (before, source=view%words(owned + 1:last))
    call field%halo_exchange(clean)
    do level = 0, clean
      first = 1
      if (level > 0) first = view%words_per_value * last_dof(field, level - 1) - owned + 1
      last = view%words_per_value * last_dof(field, level) - owned
      if (any(before(first:last) /= view%words(owned + first:owned + last))) then
        call self%report(name, 'level', level, &
                         'of the halo is marked clean, differs from its owners, and', reader, record)
      end if
    end do
  end subroutine compare

  !> Note that `writer` wrote a field and computed its halo to level `clean`; fill what is dirty.
  !> It left annexed dofs clean (`annexed` is 1), stale (-1), or as clean as before (0). Values of
  !> `trusted` loops are never compared.
  subroutine wrote(self, field, writer, clean, annexed, trusted)
    class(halo_check_type), intent(inout) :: self
    class(field_parent_proxy_type), intent(inout) :: field
    character(*), intent(in) :: writer
    integer(i_def), intent(in) :: clean
    integer, intent(in) :: annexed
    logical, intent(in) :: trusted
    type(halo_record_type), pointer :: record
    type(view_type) :: view
    integer(i_def) :: depth

    call see(field, view, record)
    record%writer = writer // ' in ' // self%invoke
    depth = field%get_field_proxy_halo_depth()
    record%computed = min(clean, depth)
    record%call_number = call_number
    record%annexed = annexed
    if (trusted) record%computed = depth
    if (trusted .or. depth == 0) return
    if (annexed < 0) call spoil(view, field%vspace%get_last_dof_owned(), last_dof(field, 0))
    call spoil(view, last_dof(field, min(clean, depth)), last_dof(field, depth))
  end subroutine wrote

  !> End a call of an invoke: stop the program if there was an error.
  subroutine finish(self)
    class(halo_check_type), intent(inout) :: self
    integer(i_def) :: found

    found = self%found
    if (self%compares) call global_mpi%global_max(self%found, found)
    if (found == 0 .or. .not. halo_check_stops) return
    call log_event('Run-time check of halos: ' // trim(self%invoke) // &
                   ' has errors, see the warnings before.', log_level_error)
  end subroutine finish

  !> Log one error.
  subroutine report(self, name, what, level, problem, reader, record)
    class(halo_check_type), intent(inout) :: self
    character(*), intent(in) :: name, what
    integer(i_def), intent(in) :: level
    character(*), intent(in) :: problem, reader
    type(halo_record_type), intent(in) :: record
    character(8) :: numbers(2)

    self%found = self%found + 1
    halo_errors = halo_errors + 1
    write (numbers, '(i0)') level, global_mpi%get_comm_rank()
    call log_event('Run-time check of halos: ' // trim(self%invoke) // ', rank ' // &
                   trim(numbers(2)) // ": field '" // name // "': " // what // ' ' // &
                   trim(numbers(1)) // ' ' // problem // ' ' // reader // '; last written by ' // &
                   trim(record%writer) // '.', log_level_warning)
  end subroutine report

  !> Return the last dof of a level of the halo; level 0 are annexed dofs.
  function last_dof(field, level) result(last)
    class(field_parent_proxy_type), intent(in) :: field
    integer(i_def), intent(in) :: level
    integer(i_def) :: last

    if (level == 0) then
      last = field%vspace%get_last_dof_annexed()
    else
      last = field%vspace%get_last_dof_halo(level)
    end if
  end function last_dof

  !> Fill the values after dof `before` up to dof `last`.
  subroutine spoil(view, before, last)
    type(view_type), intent(in) :: view
    integer(i_def), intent(in) :: before, last
    integer :: n, word

    n = view%words_per_value
    do word = 1, n
      view%words(n * before + word:n * last:n) = view%spoilt(word)
    end do
  end subroutine spoil

  !> Return the words and the record of a field.
  subroutine see(field, view, record)
    class(field_parent_proxy_type), intent(in) :: field
    type(view_type), intent(out) :: view
    type(halo_record_type), pointer, intent(out) :: record
    type(c_ptr) :: address
    integer :: values

    address = c_null_ptr
    values = 0
    select type (field)
    type is (field_real64_proxy_type)
      values = size(field%data)
      if (values > 0) address = c_loc(field%data(1))
      view%words_per_value = 2
      view%spoilt = transfer(ieee_value(0.0_real64, ieee_quiet_nan), view%spoilt)
    type is (field_real32_proxy_type)
      values = size(field%data)
      if (values > 0) address = c_loc(field%data(1))
      view%spoilt = transfer(ieee_value(0.0_real32, ieee_quiet_nan), view%spoilt(1))
    type is (integer_field_proxy_type)
      values = size(field%data)
      if (values > 0) address = c_loc(field%data(1))
    end select
    call c_f_pointer(address, view%words, [view%words_per_value * values])
    record => record_of(address, values)
  end subroutine see

end module halo_check_mod
