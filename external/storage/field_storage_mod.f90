!> Owns the type that models use for the values of a field: a coherent storage with an element
!> type, extents, and windows that are Fortran arrays.
module field_storage_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_int, c_int64_t, c_intptr_t, &
                                         c_loc, c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use coherent_storage_mod, only: storage_options_type
  use halo_storage_mod, only: halo_storage_type
  use storage_parts_mod, only: box_type, is_within, strip_type, strips_of
  use storage_words_mod, only: element_int32, element_int64, element_logical, element_real32, &
                               element_real64, error_window, no_error, space_host

  implicit none
  private

  public :: element_bytes, box_type

  !> What messages call an array that has no name: its kind, its extents and where it is, so that a
  !> debugger finds it.
  type, public :: array_name_type
    character(:), allocatable :: kind
    type(c_ptr) :: address = c_null_ptr
    integer(c_int64_t), allocatable :: extents(:)
  contains
    procedure, public :: text
  end type array_name_type

  !> The values of a field, of one of the element types, with one to three dimensions without gaps.
  !> What is named by its place is `named_at` that address, also when it is gone.
  type, public, extends(halo_storage_type) :: field_storage_type
    private
    integer(c_int) :: element = 0
    integer(c_int64_t), allocatable :: extents(:)
    type(c_ptr) :: named_at = c_null_ptr
  contains
    procedure, public :: create
    procedure, public :: describe
    procedure, private :: wrap_1, wrap_2, wrap_3
    generic, public :: wrap => wrap_1, wrap_2, wrap_3
    procedure, public :: acquire_part
    procedure, public :: begin_exchange_of_parts
    procedure, public :: widen_exchange_by_parts
    procedure, public :: get_name
    procedure, public :: get_element
    procedure, public :: get_extents
    procedure, public :: is_like
    procedure, private :: window_real32_1, window_real32_2, window_real32_3
    procedure, private :: window_real64_1, window_real64_2, window_real64_3
    procedure, private :: window_int32_1, window_int32_2, window_int32_3
    procedure, private :: window_int64_1, window_int64_2, window_int64_3
    procedure, private :: window_logical_1, window_logical_2, window_logical_3
    generic, public :: window => window_real32_1, window_real32_2, window_real32_3, &
                                 window_real64_1, window_real64_2, window_real64_3, &
                                 window_int32_1, window_int32_2, window_int32_3, &
                                 window_int64_1, window_int64_2, window_int64_3, &
                                 window_logical_1, window_logical_2, window_logical_3
    procedure, private :: window_address
  end type field_storage_type

contains

  !> Make this a storage with memory of its own for so many elements, which have no values yet.
  !>
  !> Errors: 220 for an unknown element type, or for other than one to three extents; as `set_up`.
  subroutine create(self, element, extents, halo_depth, name, status)
    class(field_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: element
    integer, intent(in) :: extents(:)
    integer(c_int), optional, intent(in) :: halo_depth
    character(*), optional, intent(in) :: name
    integer(c_int), optional, intent(out) :: status

    type(storage_options_type) :: options

    if (present(halo_depth)) options%halo_depth = halo_depth
    if (present(name)) options%name = name
    call self%describe(element, int(extents, c_int64_t), options, status)
  end subroutine create

  !> Make this a storage of elements of a type, in memory that the options give or leave to it.
  !>
  !> Errors: as `create`.
  subroutine describe(self, element, extents, options, status)
    class(field_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: extents(:)
    type(storage_options_type), intent(in) :: options
    integer(c_int), optional, intent(out) :: status

    if (element_bytes(element) == 0 .or. size(extents) < 1 .or. size(extents) > 3) then
      call self%refuse(error_window, 'is to have elements of an unknown type, or other than one ' &
                       // 'to three dimensions', status)
      return
    end if
    call self%set_up(bytes_of(element, extents), options, status)
    if (present(status)) then
      if (status /= no_error) return
    end if
    self%element = element
    self%extents = extents
    self%named_at = c_null_ptr
    if (options%named_by_place) self%named_at = options%host
  end subroutine describe

  !> Make this a storage of the values of an array, in place; it must be a target, and outlive this.
  subroutine wrap_1(self, values, halo_depth, name, read_only, spoils, status)
    class(*), target, intent(inout) :: values(:)
    include 'wrap_arguments.inc'

    call make_options(options, halo_depth, name, read_only, spoils)
    last = c_null_ptr
    if (size(values) > 0) then
      call locate(values(1), options%host)
      call locate(values(size(values)), last)
    end if
    include 'wrap_body.inc'
  end subroutine wrap_1

  !> Make this a storage of the values of an array, in place; it must be a target, and outlive this.
  subroutine wrap_2(self, values, halo_depth, name, read_only, spoils, status)
    class(*), target, intent(inout) :: values(:, :)
    include 'wrap_arguments.inc'

    call make_options(options, halo_depth, name, read_only, spoils)
    last = c_null_ptr
    if (size(values) > 0) then
      call locate(values(1, 1), options%host)
      call locate(values(size(values, 1), size(values, 2)), last)
    end if
    include 'wrap_body.inc'
  end subroutine wrap_2

  !> Make this a storage of the values of an array, in place; it must be a target, and outlive this.
  subroutine wrap_3(self, values, halo_depth, name, read_only, spoils, status)
    class(*), target, intent(inout) :: values(:, :, :)
    include 'wrap_arguments.inc'

    call make_options(options, halo_depth, name, read_only, spoils)
    last = c_null_ptr
    if (size(values) > 0) then
      call locate(values(1, 1, 1), options%host)
      call locate(values(size(values, 1), size(values, 2), size(values, 3)), last)
    end if
    include 'wrap_body.inc'
  end subroutine wrap_3

  !> Begin to use boxes alone of the values in a space: they are current there from then on, and
  !> what is not in them is of no account. A write makes no copy stale: at the release the boxes are
  !> copied to the others that are current. Boxes do not overlap.
  !>
  !> Errors: 220 for a box that is not within the field; as `acquire`.
  subroutine acquire_part(self, space, access, boxes, status)
    class(field_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    type(box_type), intent(in) :: boxes(:)
    integer(c_int), optional, intent(out) :: status

    if (.not. has_boxes(self, boxes, status)) return
    call self%acquire_strips(space, access, strips_in(self, boxes), status)
  end subroutine acquire_part

  !> Begin to exchange the halo by boxes: only what is `sent` needs to be current in the space, and
  !> what is `received` is copied at the end to the others that are current.
  !>
  !> Errors: 220 for a box that is not within the field; as `begin_exchange`.
  subroutine begin_exchange_of_parts(self, space, depth, sent, received, status)
    class(field_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: depth
    type(box_type), intent(in) :: sent(:)
    type(box_type), intent(in) :: received(:)
    integer(c_int), optional, intent(out) :: status

    if (.not. has_boxes(self, sent, status)) return
    if (.not. has_boxes(self, received, status)) return
    call self%begin_exchange_of_strips(space, depth, strips_in(self, sent), &
                                       strips_in(self, received), status)
  end subroutine begin_exchange_of_parts

  !> Extend the exchange under way by the boxes of a second one: those that are sent are current in
  !> its space from then on, and those received are handled as those of the first at the end.
  !>
  !> Errors: 206 if no exchange was begun, 220 for a box that is not within the field.
  subroutine widen_exchange_by_parts(self, sent, received, status)
    class(field_storage_type), intent(inout) :: self
    type(box_type), intent(in) :: sent(:)
    type(box_type), intent(in) :: received(:)
    integer(c_int), optional, intent(out) :: status

    if (.not. has_boxes(self, sent, status)) return
    if (.not. has_boxes(self, received, status)) return
    call self%widen_exchange_by_strips(strips_in(self, sent), strips_in(self, received), status)
  end subroutine widen_exchange_by_parts

  !> Say whether boxes are within the field; report it if not.
  function has_boxes(self, boxes, status)
    class(field_storage_type), intent(in) :: self
    type(box_type), intent(in) :: boxes(:)
    integer(c_int), optional, intent(out) :: status
    logical :: has_boxes

    has_boxes = self%is_usable(space_host, status)
    if (.not. has_boxes) return
    has_boxes = is_within(boxes, self%extents)
    if (has_boxes) return
    call self%refuse(error_window, 'is asked for a part that it has not', status)
  end function has_boxes

  !> Return boxes as strips of bytes.
  pure function strips_in(self, boxes) result(strips)
    class(field_storage_type), intent(in) :: self
    type(box_type), intent(in) :: boxes(:)
    type(strip_type) :: strips(size(boxes))

    strips = strips_of(boxes, self%extents, element_bytes(self%element))
  end function strips_in

  !> Return the name, for messages. One that is made of extents and an address is made here: nobody
  !> may ever ask for it.
  pure function get_name(self) result(name)
    class(field_storage_type), intent(in) :: self
    character(:), allocatable :: name

    type(array_name_type) :: place

    name = self%halo_storage_type%get_name()
    if (.not. c_associated(self%named_at)) return
    place = array_name_type(name, self%named_at, self%extents)
    name = place%text()
  end function get_name

  !> Return the name of an array as messages have it.
  pure function text(self)
    class(array_name_type), intent(in) :: self
    character(:), allocatable :: text

    character(20) :: number
    integer :: n

    text = self%kind // ' of'
    do n = 1, size(self%extents)
      write (number, '(i0)') self%extents(n)
      if (n > 1) text = text // ' x'
      text = text // ' ' // trim(number)
    end do
    write (number, '(z0)') transfer(self%address, 0_c_intptr_t)
    text = text // ' elements at 0x' // trim(number)
  end function text

  !> Return the element type.
  pure function get_element(self) result(element)
    class(field_storage_type), intent(in) :: self
    integer(c_int) :: element

    element = self%element
  end function get_element

  !> Return the extents.
  pure function get_extents(self) result(extents)
    class(field_storage_type), intent(in) :: self
    integer(c_int64_t), allocatable :: extents(:)

    extents = self%extents
  end function get_extents

  !> Say whether this has elements of a type, and these extents.
  pure function is_like(self, element, extents)
    class(field_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: extents(:)
    logical :: is_like

    is_like = self%element == element .and. size(self%extents) == size(extents)
    if (is_like) is_like = all(self%extents == extents)
  end function is_like

  !> Return the bytes of one element, 0 for an unknown type.
  pure function element_bytes(element) result(bytes)
    integer(c_int), intent(in) :: element
    integer(c_size_t) :: bytes

    select case (element)
    case (element_real32, element_int32)
      bytes = 4
    case (element_real64, element_int64)
      bytes = 8
    case (element_logical)
      bytes = storage_size(.true.) / 8
    case default
      bytes = 0
    end select
  end function element_bytes

  !> Return the bytes of elements with these extents; -1 if an extent is below 0, or there are more
  !> than can be counted.
  pure function bytes_of(element, extents) result(bytes)
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: extents(:)
    integer(c_size_t) :: bytes

    integer :: n

    bytes = -1
    if (any(extents < 0)) return
    bytes = element_bytes(element)
    do n = 1, size(extents)
      if (bytes > huge(bytes) / max(extents(n), 1_c_int64_t)) then
        bytes = -1
        return
      end if
      bytes = bytes * extents(n)
    end do
  end function bytes_of

  ! -- windows: one for each element type and number of dimensions ---------------------------------
  !
  ! A window shows the values to code for a space, between an acquire and its release there. Errors:
  ! 206 if nobody has access there, 220 if the storage has other elements or dimensions. The text of
  ! all of them is window_body.inc.

  subroutine window_real32_1(self, space, values, status)
    real(real32), pointer, contiguous, intent(out) :: values(:)
    integer(c_int), parameter :: element = element_real32, dimensions = 1
    include 'window_body.inc'
  end subroutine window_real32_1

  subroutine window_real32_2(self, space, values, status)
    real(real32), pointer, contiguous, intent(out) :: values(:, :)
    integer(c_int), parameter :: element = element_real32, dimensions = 2
    include 'window_body.inc'
  end subroutine window_real32_2

  subroutine window_real32_3(self, space, values, status)
    real(real32), pointer, contiguous, intent(out) :: values(:, :, :)
    integer(c_int), parameter :: element = element_real32, dimensions = 3
    include 'window_body.inc'
  end subroutine window_real32_3

  subroutine window_real64_1(self, space, values, status)
    real(real64), pointer, contiguous, intent(out) :: values(:)
    integer(c_int), parameter :: element = element_real64, dimensions = 1
    include 'window_body.inc'
  end subroutine window_real64_1

  subroutine window_real64_2(self, space, values, status)
    real(real64), pointer, contiguous, intent(out) :: values(:, :)
    integer(c_int), parameter :: element = element_real64, dimensions = 2
    include 'window_body.inc'
  end subroutine window_real64_2

  subroutine window_real64_3(self, space, values, status)
    real(real64), pointer, contiguous, intent(out) :: values(:, :, :)
    integer(c_int), parameter :: element = element_real64, dimensions = 3
    include 'window_body.inc'
  end subroutine window_real64_3

  subroutine window_int32_1(self, space, values, status)
    integer(int32), pointer, contiguous, intent(out) :: values(:)
    integer(c_int), parameter :: element = element_int32, dimensions = 1
    include 'window_body.inc'
  end subroutine window_int32_1

  subroutine window_int32_2(self, space, values, status)
    integer(int32), pointer, contiguous, intent(out) :: values(:, :)
    integer(c_int), parameter :: element = element_int32, dimensions = 2
    include 'window_body.inc'
  end subroutine window_int32_2

  subroutine window_int32_3(self, space, values, status)
    integer(int32), pointer, contiguous, intent(out) :: values(:, :, :)
    integer(c_int), parameter :: element = element_int32, dimensions = 3
    include 'window_body.inc'
  end subroutine window_int32_3

  subroutine window_int64_1(self, space, values, status)
    integer(int64), pointer, contiguous, intent(out) :: values(:)
    integer(c_int), parameter :: element = element_int64, dimensions = 1
    include 'window_body.inc'
  end subroutine window_int64_1

  subroutine window_int64_2(self, space, values, status)
    integer(int64), pointer, contiguous, intent(out) :: values(:, :)
    integer(c_int), parameter :: element = element_int64, dimensions = 2
    include 'window_body.inc'
  end subroutine window_int64_2

  subroutine window_int64_3(self, space, values, status)
    integer(int64), pointer, contiguous, intent(out) :: values(:, :, :)
    integer(c_int), parameter :: element = element_int64, dimensions = 3
    include 'window_body.inc'
  end subroutine window_int64_3

  subroutine window_logical_1(self, space, values, status)
    logical, pointer, contiguous, intent(out) :: values(:)
    integer(c_int), parameter :: element = element_logical, dimensions = 1
    include 'window_body.inc'
  end subroutine window_logical_1

  subroutine window_logical_2(self, space, values, status)
    logical, pointer, contiguous, intent(out) :: values(:, :)
    integer(c_int), parameter :: element = element_logical, dimensions = 2
    include 'window_body.inc'
  end subroutine window_logical_2

  subroutine window_logical_3(self, space, values, status)
    logical, pointer, contiguous, intent(out) :: values(:, :, :)
    integer(c_int), parameter :: element = element_logical, dimensions = 3
    include 'window_body.inc'
  end subroutine window_logical_3

  ! -- private -------------------------------------------------------------------------------------

  !> Return the address for a window, null where it is refused.
  function window_address(self, space, element, dimensions, status) result(address)
    class(field_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: element
    integer(c_int), intent(in) :: dimensions
    integer(c_int), optional, intent(out) :: status
    type(c_ptr) :: address

    address = self%get_kernel_address(space, status)
    if (.not. c_associated(address)) return
    if (element == self%element .and. dimensions == size(self%extents)) return
    address = c_null_ptr
    call self%refuse(error_window, 'has elements of another type, or other dimensions, than the ' &
                     // 'window', status)
  end function window_address

  !> Set options from arguments that may be absent.
  subroutine make_options(options, halo_depth, name, read_only, spoils)
    type(storage_options_type), intent(out) :: options
    integer(c_int), optional, intent(in) :: halo_depth
    character(*), optional, intent(in) :: name
    logical, optional, intent(in) :: read_only
    logical, optional, intent(in) :: spoils

    if (present(halo_depth)) options%halo_depth = halo_depth
    if (present(name)) options%name = name
    if (present(read_only)) options%read_only = read_only
    if (present(spoils)) options%spoils = spoils
    options%has_values = .true.
  end subroutine make_options

  !> Set the address of one element, null if its type is none of ours.
  subroutine locate(value, address)
    class(*), target, intent(in) :: value
    type(c_ptr), intent(out) :: address

    address = c_null_ptr
    select type (value)
    type is (real(real32))
      address = c_loc(value)
    type is (real(real64))
      address = c_loc(value)
    type is (integer(int32))
      address = c_loc(value)
    type is (integer(int64))
      address = c_loc(value)
    type is (logical)
      address = c_loc(value)
    end select
  end subroutine locate

  !> Return how many bytes one address lies behind another.
  pure function distance(first, last) result(bytes)
    type(c_ptr), intent(in) :: first
    type(c_ptr), intent(in) :: last
    integer(c_intptr_t) :: bytes

    bytes = transfer(last, 0_c_intptr_t) - transfer(first, 0_c_intptr_t)
  end function distance

end module field_storage_mod
