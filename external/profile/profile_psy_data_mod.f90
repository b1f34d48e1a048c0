!> A profiler for generated code: it counts and times regions, and prints a table of them.
!>
!> Generated code has one saved `profile_PSyDataType` per region and calls `PreStart` and `PostEnd`
!> around it. A program may call `profile_PSyDataInit` first, which resets all counters, and
!> `profile_PSyDataShutdown` last, which prints the table. `profile_PSyDataStop` and
!> `profile_PSyDataStart` exclude a part of a program.
!>
!> Times are wall-clock times in seconds on this rank. A recursive entry of a region is counted, but
!> timed only once. Only the initial thread may call the profiler.
module profile_psy_data_mod

  use, intrinsic :: iso_fortran_env, only : int64, output_unit, real64

  implicit none

  private
  public :: profile_PSyDataType
  public :: profile_PSyDataInit, profile_PSyDataShutdown
  public :: profile_PSyDataStart, profile_PSyDataStop

  !> State of one region for the profiler.
  type :: profile_PSyDataType
    private
    !> Index of the region in the table, 0 before its first entry.
    integer :: place = 0
    !> Number of entries without an exit.
    integer :: depth = 0
    !> Time of the outermost entry in clock ticks.
    integer(int64) :: entered = 0
  contains
    procedure, public :: PreStart
    procedure, public :: PostEnd
  end type profile_PSyDataType

  !> Entry of one region in the table.
  type :: region_type
    character(len=:), allocatable :: module, name
    integer(int64) :: count = 0, ticks = 0, longest = 0
  end type region_type

  type(region_type), allocatable :: regions(:)
  logical :: counting = .true.

contains

  !> Enter a region. The last two arguments count variables that are passed to the profiler, which
  !> uses none, so that they are 0.
  subroutine PreStart(this, module_name, region_name, num_pre_vars, num_post_vars)
    class(profile_PSyDataType), intent(inout), target :: this
    character(len=*), intent(in) :: module_name, region_name
    integer, intent(in) :: num_pre_vars, num_post_vars

    if (num_pre_vars /= 0 .or. num_post_vars /= 0) then
      error stop 'profile_psy_data_mod: a profiler takes no variables'
    end if
    if (.not. counting) return
    if (this%place == 0) this%place = place_of(module_name, region_name)
    this%depth = this%depth + 1
    regions(this%place)%count = regions(this%place)%count + 1
    if (this%depth == 1) call system_clock(this%entered)
  end subroutine PreStart

  !> Leave a region.
  subroutine PostEnd(this)
    class(profile_PSyDataType), intent(inout), target :: this

    integer(int64) :: now, taken

    if (this%depth == 0) return
    this%depth = this%depth - 1
    if (this%depth > 0) return
    call system_clock(now)
    taken = now - this%entered
    associate (region => regions(this%place))
      region%ticks = region%ticks + taken
      region%longest = max(region%longest, taken)
    end associate
  end subroutine PostEnd

  !> Reset all counters.
  subroutine profile_PSyDataInit()
    if (.not. allocated(regions)) return
    regions%count = 0
    regions%ticks = 0
    regions%longest = 0
  end subroutine profile_PSyDataInit

  !> Count the regions that follow, after `profile_PSyDataStop`.
  subroutine profile_PSyDataStart()
    counting = .true.
  end subroutine profile_PSyDataStart

  !> Exclude the regions that are entered from now on.
  subroutine profile_PSyDataStop()
    counting = .false.
  end subroutine profile_PSyDataStop

  !> Print all regions to `unit` or standard output, in descending order of their times.
  subroutine profile_PSyDataShutdown(unit)
    integer, intent(in), optional :: unit

    integer, allocatable :: order(:)
    integer(int64) :: rate
    integer :: place, out

    out = output_unit
    if (present(unit)) out = unit
    if (.not. allocated(regions)) return
    call system_clock(count_rate=rate)
    allocate(order, source=by_time())
    write (out, '(a12, 3a14, 2x, a)') &
        'calls', 'seconds', 'per call', 'longest call', 'region'
    do place = 1, size(order)
      associate (region => regions(order(place)))
        write (out, '(i12, 3f14.6, 2x, a)') region%count, seconds(region%ticks, rate), &
            seconds(region%ticks, rate) / real(max(region%count, 1_int64), real64), &
            seconds(region%longest, rate), region%module // ':' // region%name
      end associate
    end do
  end subroutine profile_PSyDataShutdown

  !> Return the index of a region in the table; a new region is appended.
  integer function place_of(module_name, region_name) result(place)
    character(len=*), intent(in) :: module_name, region_name

    if (.not. allocated(regions)) allocate (regions(0))
    do place = 1, size(regions)
      if (regions(place)%module == module_name .and. regions(place)%name == region_name) return
    end do
    regions = [regions, region_type(module_name, region_name)]
  end function place_of

  !> Return the indices of all regions in descending order of their times.
  function by_time() result(order)
    integer, allocatable :: order(:)

    integer :: place, best, swapped

    order = [(place, place = 1, size(regions))]
    do place = 1, size(order) - 1
      best = place - 1 + maxloc(regions(order(place:))%ticks, dim=1)
      swapped = order(place)
      order(place) = order(best)
      order(best) = swapped
    end do
  end function by_time

  !> Return a number of ticks as seconds.
  pure real(real64) function seconds(ticks, rate)
    integer(int64), intent(in) :: ticks, rate

    seconds = real(ticks, real64) / real(rate, real64)
  end function seconds

end module profile_psy_data_mod
