!> Run-time check of halos for GOcean (setting RUN_TIME_CHECKS = halos).
!>
!> Generated code calls it before a loop that reads a halo, and after each loop. In every n-th call of
!> an invoke, a clean halo is compared with its owners. After a loop, the halos of written fields are
!> filled with quiet NaN.
!>
!> Only points whose owners are internal points of their ranks belong to a halo here: an exchange
!> shows which they are. Boundary points are neither compared nor filled.
!>
!> It uses only what dl_esm_inf also has, so it can be compiled with either.
module halo_check_mod

  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use, intrinsic :: iso_c_binding, only: c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  use field_mod, only: r2d_field
  use gocean_mod, only: gocean_stop
  use halo_records_mod, only: halo_record_type, record_of, text_length
  use kind_params_mod, only: go_wp
  use parallel_mod, only: get_rank

  implicit none
  private

  !> Whether an invoke with errors stops the program, and the number of errors on this rank so far.
  logical, public :: halo_check_stops = .true.
  integer, public, protected :: halo_errors = 0

  !> A quiet NaN that points get which an exchange might not set.
  integer(int64), parameter :: unset = int(z'7FF8484144484F4C', int64)

  !> The check of one invoke: how often it was called, whether this call compares values, and the
  !> number of errors on this rank.
  type, public :: halo_check_type
    private
    integer :: calls = 0
    integer :: found = 0
    logical :: compares = .false.
    character(text_length) :: invoke = ''
  contains
    procedure, public :: begin
    procedure, public :: needs
    procedure, public :: wrote
    procedure, public :: finish
    procedure, private :: compare
    procedure, private :: report
  end type halo_check_type

contains

  !> Begin a call of an invoke. Values are compared in the first of `every` calls.
  subroutine begin(self, invoke, every)
    class(halo_check_type), intent(inout) :: self
    character(*), intent(in) :: invoke
    integer, intent(in) :: every

    self%invoke = invoke
    self%compares = modulo(self%calls, every) == 0
    self%calls = self%calls + 1
    self%found = 0
  end subroutine begin

  !> Check the halo of `field`, called `name`, before `reader` reads it to the distance `depth`.
  !> `dirty` is the flag of the halo, false if there is none. Ranks compare a clean halo together.
  subroutine needs(self, field, name, reader, depth, dirty)
    class(halo_check_type), intent(inout) :: self
    type(r2d_field), target, intent(inout) :: field
    character(*), intent(in) :: name, reader
    integer, intent(in) :: depth
    logical, intent(in) :: dirty

    if (depth < 1) return
    if (dirty) then
      call self%report(field, name, depth, 'is dirty and ' // reader)
    else if (self%compares) then
      call self%compare(field, name, reader, depth)
    end if
  end subroutine needs

  !> Compare the halo with its owners, and record which points an exchange sets.
  subroutine compare(self, field, name, reader, depth)
    class(halo_check_type), intent(inout) :: self
    type(r2d_field), target, intent(inout) :: field
    character(*), intent(in) :: name, reader
    integer, intent(in) :: depth
    type(halo_record_type), pointer :: record
    real(go_wp), allocatable :: before(:, :)
    integer :: i, j, distance, first

    record => record_for(field)
    allocate (before, source=field%data)
    if (allocated(record%received)) deallocate (record%received)
    allocate (record%received(size(before, 1), size(before, 2)))
    record%received = .false.
    record%domain = domain_of(field)
    first = depth + 1
    associate (own => field%grid%subdomain%internal)
      do j = 1, size(before, 2)
        do i = 1, size(before, 1)
          if (distance_of(i, j) > 0) field%data(i, j) = transfer(unset, field%data(i, j))
        end do
      end do
      call field%halo_exchange(depth)
      do j = 1, size(before, 2)
        do i = 1, size(before, 1)
          distance = distance_of(i, j)
          if (distance == 0) cycle
          record%received(i, j) = transfer(field%data(i, j), unset) /= unset
          if (.not. record%received(i, j)) then
            field%data(i, j) = before(i, j)
          else if (transfer(field%data(i, j), unset) /= transfer(before(i, j), unset)) then
            first = min(first, distance)
          end if
        end do
      end do
    end associate
    if (first > depth) return
    call self%report(field, name, first, 'is clean, differs from its owners, and ' // reader)

  contains

    !> Return the distance of a point from the points of this rank.
    pure function distance_of(i, j) result(distance)
      integer, intent(in) :: i, j
      integer :: distance

      associate (own => field%grid%subdomain%internal)
        distance = max(0, own%xstart - i, i - own%xstop, own%ystart - j, j - own%ystop)
      end associate
    end function distance_of

  end subroutine compare

  !> Note that `writer` wrote a field; fill its halo.
  subroutine wrote(self, field, writer)
    class(halo_check_type), intent(in) :: self
    type(r2d_field), target, intent(inout) :: field
    character(*), intent(in) :: writer
    type(halo_record_type), pointer :: record

    record => record_for(field)
    record%writer = writer // ' in ' // self%invoke
    if (.not. allocated(record%received)) return
    where (record%received) field%data = ieee_value(1.0_go_wp, ieee_quiet_nan)
  end subroutine wrote

  !> End a call of an invoke: stop the program if there was an error on this rank.
  subroutine finish(self)
    class(halo_check_type), intent(in) :: self

    if (self%found == 0 .or. .not. halo_check_stops) return
    call gocean_stop('Run-time check of halos: ' // trim(self%invoke) // &
                     ' has errors, see the warnings before.')
  end subroutine finish

  !> Print one error.
  subroutine report(self, field, name, level, problem)
    class(halo_check_type), intent(inout) :: self
    type(r2d_field), target, intent(in) :: field
    character(*), intent(in) :: name, problem
    integer, intent(in) :: level
    type(halo_record_type), pointer :: record
    character(8) :: numbers(2)

    self%found = self%found + 1
    halo_errors = halo_errors + 1
    record => record_for(field)
    write (numbers, '(i0)') level, get_rank()
    write (error_unit, '(a)') 'Run-time check of halos: ' // trim(self%invoke) // ', rank ' // &
        trim(numbers(2)) // ": field '" // name // "': level " // trim(numbers(1)) // &
        ' of the halo ' // problem // '; last written by ' // trim(record%writer) // '.'
  end subroutine report

  !> Return what determines which points of a field's array an exchange sets.
  pure function domain_of(field) result(domain)
    type(r2d_field), intent(in) :: field
    integer :: domain(15)

    associate (grid => field%grid, own => field%grid%subdomain%internal, &
               all => field%grid%subdomain%global)
      domain = [shape(field%data), grid%global_nx, grid%global_ny, grid%boundary_conditions, &
                own%xstart, own%xstop, own%ystart, own%ystop, &
                all%xstart, all%xstop, all%ystart, all%ystop]
    end associate
  end function domain_of

  !> Return the record of a field; the points of another grid are forgotten.
  function record_for(field) result(record)
    type(r2d_field), target, intent(in) :: field
    type(halo_record_type), pointer :: record
    type(c_ptr) :: address

    address = c_null_ptr
    if (size(field%data) > 0) address = c_loc(field%data(1, 1))
    record => record_of(address, size(field%data))
    if (.not. allocated(record%received)) return
    if (any(record%domain /= domain_of(field))) deallocate (record%received)
  end function record_for

end module halo_check_mod
