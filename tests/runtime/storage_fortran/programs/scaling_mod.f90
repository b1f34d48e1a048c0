!> Owns what a model does with fields that it is lent: procedures for C that take a handle.
module scaling_mod

  use, intrinsic :: iso_c_binding, only: c_double, c_int, c_ptr
  use, intrinsic :: iso_fortran_env, only: real64
  use field_storage_c_mod, only: find_storage
  use field_storage_mod, only: field_storage_type
  use storage_constants_mod, only: access_read, access_read_write, space_host

  implicit none
  private

contains

  !> Multiply all values, in a space.
  subroutine scale(handle, space, factor) bind(c)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: space
    real(c_double), value, intent(in) :: factor

    type(field_storage_type), pointer :: field
    real(real64), pointer, contiguous :: values(:)

    call find_storage(handle, field)
    call field%acquire(space, access_read_write)
    call field%window(space, values)
    values = values * factor
    call field%release(space)
  end subroutine scale

  !> Return the sum of all values, computed in a space.
  function total(handle, space) bind(c)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: space
    real(c_double) :: total

    type(field_storage_type), pointer :: field
    real(real64), pointer, contiguous :: values(:)

    call find_storage(handle, field)
    call field%acquire(space, access_read)
    call field%window(space, values)
    total = sum(values)
    call field%release(space)
  end function total

  !> Return one value of a table.
  function entry(handle, i, j) bind(c)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: i, j
    real(c_double) :: entry

    type(field_storage_type), pointer :: field
    real(real64), pointer, contiguous :: values(:, :)

    call find_storage(handle, field)
    call field%acquire(space_host, access_read)
    call field%window(space_host, values)
    entry = values(i, j)
    call field%release(space_host)
  end function entry

end module scaling_mod
