!> Constants of the storage library: spaces, access modes, element types and error codes.
module storage_constants_mod

  use, intrinsic :: iso_c_binding, only: c_int

  implicit none
  public

  !> Memory spaces. `space_device` is the current device of the calling thread; `space_of_device`
  !> returns the space of each device.
  integer(c_int), parameter :: space_host = 1, space_device = 2

  !> Maximum number of devices with copies per process; they are numbered from 0.
  integer(c_int), parameter :: most_devices = 8
  integer(c_int), parameter :: first_device_space = space_device + 1
  integer(c_int), parameter :: last_space = space_device + most_devices

  !> Space of all devices beyond this number; no copy can be there.
  integer(c_int), parameter :: space_beyond = last_space + 1

  !> Access modes. `access_write` promises to write all values, so that none are copied first.
  integer(c_int), parameter :: access_read = 1, access_write = 2, access_read_write = 3

  !> Element types. A logical element is a default logical.
  integer(c_int), parameter :: element_real32 = 1, element_real64 = 2
  integer(c_int), parameter :: element_int32 = 3, element_int64 = 4
  integer(c_int), parameter :: element_logical = 5

  !> Error codes; those that the storage runtime in Python also has are equal there.
  integer(c_int), parameter :: no_error = 0
  integer(c_int), parameter :: error_lost_values = 200
  integer(c_int), parameter :: error_access_conflict = 201
  integer(c_int), parameter :: error_read_only = 204
  integer(c_int), parameter :: error_memory_in_use = 205
  integer(c_int), parameter :: error_no_access = 206
  integer(c_int), parameter :: error_memory = 207
  integer(c_int), parameter :: error_unknown_word = 209
  integer(c_int), parameter :: error_window = 220
  integer(c_int), parameter :: error_halo = 230

contains

  !> Return the space of a device; the first one has the number 0.
  pure function space_of_device(number) result(space)
    integer(c_int), intent(in) :: number
    integer(c_int) :: space

    space = first_device_space + number
  end function space_of_device

  !> Return the name of a space for messages; the first device is "the device".
  pure function name_of_space(space) result(name)
    integer(c_int), intent(in) :: space
    character(:), allocatable :: name

    name = trim(merge('the host  ', 'the device', space == space_host))
    if (space > first_device_space) then
      name = 'device ' // achar(iachar('0') + space - first_device_space)
    end if
  end function name_of_space

  !> Return the name of an access mode for messages.
  pure function name_of_access(access) result(name)
    integer(c_int), intent(in) :: access
    character(:), allocatable :: name

    select case (access)
    case (access_read)
      name = 'read'
    case (access_write)
      name = 'write-only'
    case default
      name = 'read-write'
    end select
  end function name_of_access

end module storage_constants_mod
