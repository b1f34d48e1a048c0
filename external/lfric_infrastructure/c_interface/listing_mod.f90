!> Lists of named numbers and arrays for C.
!>
!> An array is passed by its address: nothing is copied, and the first index is the fastest.
module listing_mod

  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_loc, c_null_char, c_null_ptr, &
                                         c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64

  implicit none
  private

  integer, parameter :: most_dimensions = 4
  integer, parameter :: room_of_name = 48

  ! What an entry holds: a number, or an array of these elements
  integer(c_int), parameter :: holds_number = 0
  integer(c_int), parameter :: holds_int32 = 1
  integer(c_int), parameter :: holds_int64 = 2
  integer(c_int), parameter :: holds_real64 = 3

  !> A number, `extents(1)`, or an array of `dimensions` at an address, null if it has no elements.
  type, bind(c), public :: entry_type
    character(c_char) :: name(room_of_name)
    type(c_ptr) :: address
    integer(c_int64_t) :: extents(most_dimensions)
    integer(c_int) :: dimensions
    integer(c_int) :: holds
  end type entry_type

  !> Entries of a list with limited space, and the number of all entries.
  type, public :: listing_type
    private
    type(entry_type), pointer :: entries(:) => null()
    integer, public :: number = 0
  contains
    procedure, public :: into
    procedure, private :: put_number
    procedure, private :: put_int32_1
    procedure, private :: put_int32_2
    procedure, private :: put_int32_3
    procedure, private :: put_int32_4
    procedure, private :: put_int64_1
    procedure, private :: put_real64_1
    procedure, private :: put_real64_2
    generic, public :: put => put_number, put_int32_1, put_int32_2, put_int32_3, put_int32_4, &
                              put_int64_1, put_real64_1, put_real64_2
    procedure, private :: put_entry
  end type listing_type

contains

  !> Fill these entries; further ones are only counted.
  subroutine into(self, entries)
    class(listing_type), intent(inout) :: self
    type(entry_type), target, intent(inout) :: entries(:)

    self%entries => entries
    self%number = 0
  end subroutine into

  !> Add an entry.
  subroutine put_entry(self, name, address, extents, holds)
    class(listing_type), intent(inout) :: self
    character(*), intent(in) :: name
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: extents(:)
    integer(c_int), intent(in) :: holds

    integer :: n

    self%number = self%number + 1
    if (self%number > size(self%entries)) return
    associate (new => self%entries(self%number))
      new%name = c_null_char
      do n = 1, min(len(name), room_of_name - 1)
        new%name(n) = name(n:n)
      end do
      new%address = address
      if (product(extents) == 0) new%address = c_null_ptr
      new%extents = 1
      new%extents(:size(extents)) = extents
      new%dimensions = size(extents)
      new%holds = holds
    end associate
  end subroutine put_entry

  !> Add a number.
  subroutine put_number(self, name, number)
    class(listing_type), intent(inout) :: self
    character(*), intent(in) :: name
    integer(int32), intent(in) :: number

    call self%put_entry(name, c_null_ptr, [number], holds_number)
  end subroutine put_number

  !> Add an array.
  subroutine put_int32_1(self, name, array)
    class(listing_type), intent(inout) :: self
    character(*), intent(in) :: name
    integer(int32), target, intent(in) :: array(:)

    call self%put_entry(name, c_loc(array), shape(array), holds_int32)
  end subroutine put_int32_1

  !> Add an array.
  subroutine put_int32_2(self, name, array)
    class(listing_type), intent(inout) :: self
    character(*), intent(in) :: name
    integer(int32), target, intent(in) :: array(:, :)

    call self%put_entry(name, c_loc(array), shape(array), holds_int32)
  end subroutine put_int32_2

  !> Add an array.
  subroutine put_int32_3(self, name, array)
    class(listing_type), intent(inout) :: self
    character(*), intent(in) :: name
    integer(int32), target, intent(in) :: array(:, :, :)

    call self%put_entry(name, c_loc(array), shape(array), holds_int32)
  end subroutine put_int32_3

  !> Add an array.
  subroutine put_int32_4(self, name, array)
    class(listing_type), intent(inout) :: self
    character(*), intent(in) :: name
    integer(int32), target, intent(in) :: array(:, :, :, :)

    call self%put_entry(name, c_loc(array), shape(array), holds_int32)
  end subroutine put_int32_4

  !> Add an array.
  subroutine put_int64_1(self, name, array)
    class(listing_type), intent(inout) :: self
    character(*), intent(in) :: name
    integer(int64), target, intent(in) :: array(:)

    call self%put_entry(name, c_loc(array), shape(array), holds_int64)
  end subroutine put_int64_1

  !> Add an array.
  subroutine put_real64_1(self, name, array)
    class(listing_type), intent(inout) :: self
    character(*), intent(in) :: name
    real(real64), target, intent(in) :: array(:)

    call self%put_entry(name, c_loc(array), shape(array), holds_real64)
  end subroutine put_real64_1

  !> Add an array.
  subroutine put_real64_2(self, name, array)
    class(listing_type), intent(inout) :: self
    character(*), intent(in) :: name
    real(real64), target, intent(in) :: array(:, :)

    call self%put_entry(name, c_loc(array), shape(array), holds_real64)
  end subroutine put_real64_2

end module listing_mod
