!> Objects that C refers to by handles, and their lifetimes.
!>
!> A handle is a number that is never reused, so that a freed one is detected. An object exists
!> until all objects that depend on it are freed.
module handles_mod

  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_null_char

  implicit none
  private

  public :: add_object, find_object, free_object, count_objects
  public :: refuse

  integer(c_int), parameter, public :: done = 0
  integer(c_int), parameter, public :: refused = 1

  !> Size of a message in characters, including the terminating null character.
  integer, parameter :: room_of_message = 256

  !> An object that C may hold; `built_on` is the handle of another, or 0.
  type, abstract, public :: object_type
    integer(c_int64_t) :: built_on = 0
    integer :: users = 0
    logical :: is_freed = .false.
  contains
    procedure(release_interface), public, deferred :: release
  end type object_type

  abstract interface
    !> Free the contents of an object.
    subroutine release_interface(self)
      import :: object_type
      class(object_type), intent(inout) :: self
    end subroutine release_interface
  end interface

  !> The object of a handle, which is its place.
  type :: holder_type
    class(object_type), pointer :: object => null()
  end type holder_type

  type(holder_type), allocatable, save :: holders(:)
  integer(c_int64_t), save :: last_handle = 0

contains

  !> Store an object and return its handle; increments the use counts of the objects that it depends
  !> on.
  function add_object(object) result(handle)
    class(object_type), pointer, intent(in) :: object
    integer(c_int64_t) :: handle

    type(holder_type), allocatable :: more(:)

    if (.not. allocated(holders)) allocate (holders(16))
    if (last_handle == size(holders)) then
      allocate (more(2 * size(holders)))
      more(:size(holders)) = holders
      call move_alloc(more, holders)
    end if
    last_handle = last_handle + 1
    holders(last_handle)%object => object
    handle = last_handle
    if (object%built_on > 0) then
      associate (below => holders(object%built_on)%object)
        below%users = below%users + 1
      end associate
    end if
  end function add_object

  !> Return the object of a handle, nothing if there is none or it was freed.
  function find_object(handle) result(object)
    integer(c_int64_t), intent(in) :: handle
    class(object_type), pointer :: object

    object => null()
    if (handle < 1 .or. handle > last_handle) return
    if (.not. associated(holders(handle)%object)) return
    if (.not. holders(handle)%object%is_freed) object => holders(handle)%object
  end function find_object

  !> Free an object; it goes as soon as nothing is built on it.
  function free_object(handle) bind(c, name='lfric_free') result(status)
    integer(c_int64_t), value :: handle
    integer(c_int) :: status

    class(object_type), pointer :: object

    status = refused
    object => find_object(handle)
    if (.not. associated(object)) return
    object%is_freed = .true.
    call release_unused(handle)
    status = done
  end function free_object

  !> Free an object that was released and has no users, then recursively the objects that it depends
  !> on.
  subroutine release_unused(handle)
    integer(c_int64_t), intent(in) :: handle

    class(object_type), pointer :: object
    integer(c_int64_t) :: below, current

    current = handle
    do while (current > 0)
      object => holders(current)%object
      if (object%users > 0 .or. .not. object%is_freed) return
      below = object%built_on
      call object%release()
      deallocate (object)
      holders(current)%object => null()
      if (below > 0) holders(below)%object%users = holders(below)%object%users - 1
      current = below
    end do
  end subroutine release_unused

  !> Return how many objects there are, those included that were freed and are in use.
  function count_objects() bind(c, name='lfric_count_objects') result(number)
    integer(c_int64_t) :: number

    integer(c_int64_t) :: handle

    number = 0
    do handle = 1, last_handle
      if (associated(holders(handle)%object)) number = number + 1
    end do
  end function count_objects

  !> Set a message and the status that says there is one.
  subroutine refuse(words, message, status)
    character(*), intent(in) :: words
    character(c_char), intent(out) :: message(room_of_message)
    integer(c_int), intent(out) :: status

    integer :: n

    message = c_null_char
    do n = 1, min(len(words), room_of_message - 1)
      message(n) = words(n:n)
    end do
    status = refused
  end subroutine refuse

end module handles_mod
