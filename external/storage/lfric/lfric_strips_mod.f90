!> Owns how an exchange of one of LFRic's own fields is begun, whose storage a registry has.
module lfric_strips_mod

  use constants_mod, only: i_def
  use function_space_mod, only: function_space_type
  use lfric_sent_dofs_mod, only: received_to_depth, sent_to_depth
  use storage_device_mod, only: device_has_memory
  use wrapped_array_mod, only: wrapped_array_type

  implicit none
  private

  public :: begin_exchange_of_strips

contains

  !> Begin an exchange of the halo of an array, which is the data of a field on a space, in the
  !> memory of the host: what is sent is current there, and a device gets what is received. One that
  !> is not `needed`, because the halo is clean, changes nothing.
  subroutine begin_exchange_of_strips(array, space, depth, needed)
    type(wrapped_array_type), pointer, intent(in) :: array
    type(function_space_type), pointer, intent(in) :: space
    integer(i_def), intent(in) :: depth
    logical, optional, intent(in) :: needed

    if (device_has_memory) then
      call array%begin_exchange_of_parts(1, sent_to_depth(space, depth), &
                                         received_to_depth(space, depth), needed=needed)
    else
      call array%begin_exchange(needed=needed)
    end if
  end subroutine begin_exchange_of_strips

end module lfric_strips_mod
