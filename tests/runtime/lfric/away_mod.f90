!> Owns what makes a missing transfer show: values are put on the other side before they are acquired.
module away_mod

  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value

  use field_parent_mod, only: field_parent_proxy_type
  use operator_parent_mod, only: operator_parent_proxy_type
  use storage_words_mod, only: access_read, access_read_write, space_device, space_host
  use stored_values_mod, only: stored_values_type

  implicit none
  private

  public :: put_away, spoil

  !> The access that says nothing of writing.
  integer(c_int), parameter, public :: without_writing = access_read

  !> Leave the only current values of a field or an operator on the side where they are not going to
  !> be acquired, unless somebody has them under another name.
  interface put_away
    module procedure put_field_away, put_operator_away
  end interface put_away

  !> Make values unmistakable where none were brought.
  interface spoil
    module procedure spoil_real64_1, spoil_real32_1, spoil_int32_1, spoil_real64_3, spoil_real32_3
  end interface spoil

contains

  subroutine put_field_away(proxy, space)
    class(field_parent_proxy_type), intent(in) :: proxy
    integer(c_int), intent(in) :: space

    call put_values_away(proxy%values, space)
  end subroutine put_field_away

  subroutine put_operator_away(proxy, space)
    class(operator_parent_proxy_type), intent(in) :: proxy
    integer(c_int), intent(in) :: space

    call put_values_away(proxy%values, space)
  end subroutine put_operator_away

  subroutine put_values_away(values, space)
    type(stored_values_type), intent(inout) :: values
    integer(c_int), intent(in) :: space

    if (values%is_written()) return
    call values%acquire(space_host + space_device - space, access_read_write)
    call values%release(space_host + space_device - space)
  end subroutine put_values_away

  subroutine spoil_real64_1(values)
    real(real64), intent(out) :: values(:)

    values = ieee_value(0.0_real64, ieee_quiet_nan)
  end subroutine spoil_real64_1

  subroutine spoil_real32_1(values)
    real(real32), intent(out) :: values(:)

    values = ieee_value(0.0_real32, ieee_quiet_nan)
  end subroutine spoil_real32_1

  subroutine spoil_int32_1(values)
    integer(int32), intent(out) :: values(:)

    values = -1000003
  end subroutine spoil_int32_1

  subroutine spoil_real64_3(values)
    real(real64), intent(out) :: values(:, :, :)

    values = ieee_value(0.0_real64, ieee_quiet_nan)
  end subroutine spoil_real64_3

  subroutine spoil_real32_3(values)
    real(real32), intent(out) :: values(:, :, :)

    values = ieee_value(0.0_real32, ieee_quiet_nan)
  end subroutine spoil_real32_3

end module away_mod
