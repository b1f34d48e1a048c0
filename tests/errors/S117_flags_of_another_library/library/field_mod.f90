! Fields of a library without flags, without exchanges of several fields, and with half of those in
! two calls.
module field_mod
  implicit none
  type :: r2d_field
    real, allocatable :: data(:, :)
  contains
    procedure :: halo_exchange
    procedure :: halo_exchange_start => halo_exchange
  end type r2d_field
contains
  subroutine halo_exchange(self, depth)
    class(r2d_field), intent(inout) :: self
    integer, intent(in) :: depth
  end subroutine halo_exchange
end module field_mod
