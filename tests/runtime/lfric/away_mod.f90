!> Owns what makes a missing transfer show: values are put on the other side before they are acquired.
module away_mod

  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value

  use field_parent_mod, only: field_parent_proxy_type
  use halo_exchange_mod, only: finish_exchange, start_exchange
  use held_storage_mod, only: array_of
  use mutation_mod, only: is_mutating
  use operator_parent_mod, only: operator_parent_proxy_type
  use storage_constants_mod, only: access_read, access_read_write, space_device, space_host
  use stored_values_mod, only: stored_values_type
  use wrapped_arrays_mod, only: wrapped_array_type

  implicit none
  private

  public :: put_away, spoil, exchange_plainly

  !> The access that says nothing of writing.
  integer(c_int), parameter, public :: without_writing = access_read
  !> Where exchanges work.
  integer(c_int), parameter, public :: on_host = space_host

  !> Leave the only current values of a field, an operator or an array on the side where they are not
  !> going to be acquired, unless somebody has them under another name, or nothing is mutated.
  interface put_away
    module procedure put_field_away, put_operator_away, put_array_away
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

    type(wrapped_array_type), pointer :: array

    array => array_of(values%held)
    if (.not. is_mutating .or. array%is_used()) return
    call values%acquire(space_host + space_device - space, access_read_write)
    call values%release(space_host + space_device - space)
  end subroutine put_values_away

  !> As for fields, of an array that its program tells of.
  subroutine put_array_away(array, space)
    type(wrapped_array_type), pointer, intent(in) :: array
    integer(c_int), intent(in) :: space

    if (.not. is_mutating .or. array%is_used()) return
    call array%begin_use(space_host + space_device - space, access_read_write)
    call array%release(space_host + space_device - space)
  end subroutine put_array_away

  !> Exchange the halo of a field in the memory of the host, as a field does that knows no storage. If
  !> nobody has told its storage, nothing is noticed of what has come.
  subroutine exchange_plainly(proxy, depth)
    class(field_parent_proxy_type), intent(inout) :: proxy
    integer, intent(in) :: depth

    type(wrapped_array_type), pointer :: array

    array => array_of(proxy%values%held)
    call start_exchange([proxy%get_part(depth)], proxy%messages)
    call finish_exchange(proxy%messages)
    if (.not. array%is_exchanged()) call array%watch()
    call proxy%set_clean(depth)
  end subroutine exchange_plainly

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
