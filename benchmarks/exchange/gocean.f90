!> Exchanges of depth 1 between two halves of a GOcean grid, cut across y and across x; of three
!> fields together if cut across y.
program gocean

  use bare_mod, only: report
  use field_mod, only: exchange_several, field_reference_type, go_t_points, r2d_field
  use gocean_mod, only: gocean_finalise, gocean_initialise
  use grid_mod, only: go_arakawa_c, go_bc_none, go_offset_ne, grid_init, grid_type
  use halo_statistics_mod, only: get_halo_statistics, halo_statistics_type, reset_halo_statistics
  use kind_params_mod, only: go_wp

  implicit none

  type(grid_type), target :: grid
  type(r2d_field), target :: field, others(3)
  integer :: n

  call gocean_initialise()
  do n = 0, 5
    call measure('rows', 256 * 2**n, 1, 2)
  end do
  do n = 0, 5
    call measure('columns', 256 * 2**n, 2, 1)
  end do
  call gocean_finalise()

contains

  !> Time exchanges of `points` values, which include the two beyond the boundaries.
  subroutine measure(name, points, parts_x, parts_y)
    character(*), intent(in) :: name
    integer, intent(in) :: points, parts_x, parts_y
    type(halo_statistics_type) :: once
    integer :: m

    grid = grid_type(go_arakawa_c, [go_bc_none, go_bc_none, go_bc_none], go_offset_ne)
    call grid%decompose(merge(points - 2, 32, parts_x == 1), merge(points - 2, 32, parts_y == 1), &
        ndomainx=parts_x, ndomainy=parts_y)
    call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
    field = r2d_field(grid, go_t_points)
    do m = 1, size(others)
      others(m) = r2d_field(grid, go_t_points)
    end do
    call reset_halo_statistics()
    call exchange_one()
    once = get_halo_statistics()
    call report('gocean ' // name, once%bytes, exchange_one, stride=merge(grid%nx, 1, parts_x > 1))
    if (parts_x > 1) return
    call reset_halo_statistics()
    call exchange_three()
    once = get_halo_statistics()
    call report('gocean ' // name // ', 3 fields together', once%bytes, exchange_three)
  end subroutine measure

  subroutine exchange_one()
    call field%halo_exchange(1)
  end subroutine exchange_one

  subroutine exchange_three()
    integer :: m

    call exchange_several([(field_reference_type(others(m)), m=1, 3)], 1)
  end subroutine exchange_three

end program gocean
