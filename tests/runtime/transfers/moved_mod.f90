!> Owns the count of what was moved of some values, without the maps and tables of LFRic.
module moved_mod

  use mpi
  use held_storage_mod, only: array_of, wrapped_array_type
  use halo_statistics_mod, only: get_halo_statistics, halo_statistics_type
  use storage_statistics_mod, only: get_total_statistics, storage_statistics_type
  use stored_values_mod, only: stored_values_type

  implicit none
  private

  public :: add_moved, print_moved

  type(storage_statistics_type), save :: moved

contains

  !> Add what was moved of values.
  subroutine add_moved(values)
    type(stored_values_type), target, intent(in) :: values

    type(wrapped_array_type), pointer :: array
    type(storage_statistics_type) :: own

    array => array_of(values%held)
    own = array%storage%get_statistics()
    moved%to_device = moved%to_device + own%to_device
    moved%to_device_bytes = moved%to_device_bytes + own%to_device_bytes
    moved%to_host = moved%to_host + own%to_host
    moved%to_host_bytes = moved%to_host_bytes + own%to_host_bytes
  end subroutine add_moved

  !> Write it to a file of this rank, as lines of several ranks may be mixed: transfers and bytes to
  !> the device and to the host; transfers of all else; and what this rank has sent to others.
  subroutine print_moved()
    type(storage_statistics_type) :: total
    type(halo_statistics_type) :: halos
    character(16) :: name
    integer :: rank, unit, status

    call mpi_comm_rank(mpi_comm_world, rank, status)
    write (name, '(a, i0, a)') 'moved_', rank, '.txt'
    open (newunit=unit, file=name, action='write', status='replace')
    total = get_total_statistics()
    halos = get_halo_statistics()
    write (unit, '(7(1x, i0))') moved%to_device, moved%to_device_bytes, moved%to_host, &
      moved%to_host_bytes, total%to_device - moved%to_device, total%to_host - moved%to_host, &
      halos%bytes
    close (unit)
  end subroutine print_moved

end module moved_mod
