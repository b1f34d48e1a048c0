!> Owns what makes a missing transfer show: fields are put on the other side before they are acquired.
module away_mod

  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value

  use field_mod, only: r2d_field
  use kind_params_mod, only: go_wp
  use storage_words_mod, only: access_read, access_read_write, space_device, space_host

  implicit none
  private

  public :: put_away, spoil

  !> The access that says nothing of writing.
  integer(c_int), parameter, public :: without_writing = access_read

contains

  !> Leave the only current values of a field on the side where it is not going to be acquired.
  subroutine put_away(field, space)
    type(r2d_field), intent(in) :: field
    integer(c_int), intent(in) :: space
    real(go_wp), pointer, contiguous :: values(:, :)

    call field%acquire(space_host + space_device - space, access_read_write, values)
    call field%release(space_host + space_device - space)
  end subroutine put_away

  !> Make values unmistakable where none were brought.
  subroutine spoil(values)
    real(go_wp), intent(out) :: values(:, :)

    values = ieee_value(0.0_go_wp, ieee_quiet_nan)
  end subroutine spoil

end module away_mod
