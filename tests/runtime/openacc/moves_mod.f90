!> Owns what a program with OpenACC says of its transfers, beside an emulated device.
module moves_mod

  use, intrinsic :: iso_c_binding, only: c_int64_t
  use halo_statistics_mod, only: get_halo_statistics, halo_statistics_type

  implicit none
  private

  public :: print_moves

  interface
    subroutine emulated_moves(counts) bind(c, name='emulated_moves')
      import :: c_int64_t
      integer(c_int64_t), intent(out) :: counts(5)
    end subroutine emulated_moves
  end interface

contains

  !> Print transfers and bytes to the device and to the host, and arguments of regions; then the
  !> messages and the bytes that this rank has sent to others.
  subroutine print_moves()
    integer(c_int64_t) :: counts(5)
    type(halo_statistics_type) :: halos

    call emulated_moves(counts)
    halos = get_halo_statistics()
    print '(a, 8(1x, i0))', 'moved', counts, halos%exchanges, halos%messages, halos%bytes
  end subroutine print_moves

end module moves_mod
