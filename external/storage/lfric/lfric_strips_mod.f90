!> Start of halo exchanges of LFRic's own fields, whose storages are in the registry.
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

  !> Begin a halo exchange of an array, the data of a field on a space, in host memory: what is sent
  !> becomes current there, and devices get what is received. An exchange that is not `needed`,
  !> because the halo is clean, changes nothing.
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
