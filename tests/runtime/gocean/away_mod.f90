!> Owns what makes a missing transfer show: fields are put on the other side before they are acquired.
module away_mod

  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: int32
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value

  use field_mod, only: r2d_field
  use kind_params_mod, only: go_wp
  use storage_constants_mod, only: access_read, access_read_write, space_device, space_host
  use wrapped_arrays_mod, only: wrapped_array_type

  implicit none
  private

  public :: put_away, spoil, exchange_plainly

  !> The access that says nothing of writing.
  integer(c_int), parameter, public :: without_writing = access_read
  !> Where exchanges work.
  integer(c_int), parameter, public :: on_host = space_host

  !> Leave the only current values of a field, or of an array, where they are not going to be used.
  interface put_away
    module procedure put_field_away, put_array_away
  end interface put_away

  !> Make values unmistakable where none were brought.
  interface spoil
    module procedure spoil_reals, spoil_integers
  end interface spoil

contains

  !> Leave the only current values of a field on the side where it is not going to be acquired.
  subroutine put_field_away(field, space)
    type(r2d_field), intent(in) :: field
    integer(c_int), intent(in) :: space
    real(go_wp), pointer, contiguous :: values(:, :)

    call field%acquire(space_host + space_device - space, access_read_write, values)
    call field%release(space_host + space_device - space)
  end subroutine put_field_away

  !> Leave the only current values of an array, which its program tells of, on the other side.
  subroutine put_array_away(array, space)
    type(wrapped_array_type), pointer, intent(in) :: array
    integer(c_int), intent(in) :: space

    call array%begin_use(space_host + space_device - space, access_read_write)
    call array%release(space_host + space_device - space)
  end subroutine put_array_away

  !> Exchange the halo of a field in the memory of the host, as a field does that knows no storage.
  subroutine exchange_plainly(field, depth)
    type(r2d_field), intent(inout) :: field
    integer, intent(in) :: depth
    type(r2d_field) :: plain

    plain = r2d_field(field%grid, field%defined_on)
    plain%data(:, :) = field%data
    call plain%halo_exchange(depth)
    field%data(:, :) = plain%data
  end subroutine exchange_plainly

  !> Make integers unmistakable.
  subroutine spoil_integers(values)
    integer(int32), intent(out) :: values(:, :)

    values = -1000003
  end subroutine spoil_integers

  !> Make reals unmistakable.
  subroutine spoil_reals(values)
    real(go_wp), intent(out) :: values(:, :)

    values = ieee_value(0.0_go_wp, ieee_quiet_nan)
  end subroutine spoil_reals

end module away_mod
