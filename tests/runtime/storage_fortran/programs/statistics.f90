!> Prints what was done for two fields, for one of them, and nothing once set to quiet.
program statistics

  use, intrinsic :: iso_c_binding, only: c_int64_t
  use field_storage_mod, only: field_storage_type
  use storage_statistics_mod, only: get_total_statistics, print_statistics, &
                                    reset_total_statistics, set_quiet, storage_statistics_type
  use storage_constants_mod

  implicit none

  type(field_storage_type) :: first, second
  type(storage_statistics_type) :: done

  call first%create(element_real64, [10], halo_depth=1, name='first')
  call second%create(element_int32, [10], name='second')
  call use_everywhere(first)
  call use_everywhere(second)
  call first%begin_exchange(space_host, 1)
  call first%end_exchange(3_c_int64_t, 48_c_int64_t)
  call first%print_statistics()
  call second%print_statistics()
  call print_statistics('all')
  call first%reset_statistics()
  call first%print_statistics()
  done = get_total_statistics()
  print '(i0)', done%to_device
  call reset_total_statistics()
  call print_statistics('all')
  call set_quiet(.true.)
  call first%print_statistics()
  call print_statistics('all')

contains

  !> Write on the host; read and write on the device; read twice on the host.
  subroutine use_everywhere(field)
    type(field_storage_type), intent(inout) :: field

    call field%acquire(space_host, access_write)
    call field%release(space_host)
    call field%acquire(space_device, access_read)
    call field%release(space_device)
    call field%acquire(space_device, access_read_write)
    call field%release(space_device)
    call field%acquire(space_host, access_read)
    call field%release(space_host)
    call field%acquire(space_host, access_read)
    call field%release(space_host)
  end subroutine use_everywhere

end program statistics
