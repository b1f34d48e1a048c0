!> Exchanges between two halves of a GOcean grid: rows, columns, and rows to two depths, of one
!> field and of three together.
program gocean

  use, intrinsic :: iso_fortran_env, only: int64, real64
  use bare_mod, only: report
  use field_mod, only: exchange_several, field_reference_type, go_t_points, r2d_field
  use gocean_mod, only: gocean_finalise, gocean_initialise
  use grid_mod, only: go_arakawa_c, go_bc_none, go_offset_ne, grid_init, grid_type
  use kind_params_mod, only: go_wp

  implicit none

  type(grid_type), target :: grid
  type(r2d_field), target :: fields(3)
  integer :: depth, number

  call gocean_initialise()
  call measure('rows', 1, 1, 2, 1)
  call measure('rows of depth 2', 2, 1, 2, 1)
  call measure('columns', 1, 2, 1, 1)
  call measure('columns of depth 2', 2, 2, 1, 1)
  call measure('3 fields, rows', 1, 1, 2, 3)
  call measure('3 fields, columns', 1, 2, 1, 3)
  call gocean_finalise()

contains

  !> Time exchanges of so many fields, of more and more points.
  subroutine measure(name, halo, parts_x, parts_y, fields_together)
    character(*), intent(in) :: name
    integer, intent(in) :: halo, parts_x, parts_y, fields_together
    integer(int64) :: bytes
    integer :: m, n, points

    depth = halo
    number = fields_together
    do n = 0, 5
      ! Two points at each end of what is exchanged lie beyond a boundary.
      points = 256 * 2**n / (depth * number) - 2 * depth
      grid = grid_type(go_arakawa_c, [go_bc_none, go_bc_none, go_bc_none], go_offset_ne)
      call grid%decompose(merge(points, 32, parts_x == 1), merge(points, 32, parts_y == 1), &
          ndomainx=parts_x, ndomainy=parts_y, halo_width=depth)
      call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
      do m = 1, number
        fields(m) = r2d_field(grid, go_t_points)
      end do
      if (number == 1) then
        call report('gocean ' // name, bytes, exchange_apart, get, put)
      else
        call report('gocean ' // name, bytes, exchange_together, get, put, exchange_apart)
      end if
    end do
  end subroutine measure

  subroutine exchange_apart()
    integer :: m

    do m = 1, number
      call fields(m)%halo_exchange(depth)
    end do
  end subroutine exchange_apart

  subroutine exchange_together()
    integer :: m

    call exchange_several([(field_reference_type(fields(m)), m=1, number)], depth)
  end subroutine exchange_together

  function get() result(values)
    real(real64), allocatable :: values(:)
    integer :: m

    values = [(fields(m)%data, m=1, number)]
  end function get

  subroutine put(values)
    real(real64), contiguous, intent(in) :: values(:)
    integer :: m, points

    points = size(fields(1)%data)
    do m = 1, number
      fields(m)%data = reshape(values((m - 1) * points + 1:m * points), [grid%nx, grid%ny])
    end do
  end subroutine put

end program gocean
