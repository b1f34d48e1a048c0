!> Times the step of NEMOLite2D on a grid of any size, as `../fortran/gocean/bench.f90` does the example's.
!> A bay that is open in the south, with a hill of water. Usage: bench points runs
program bench

  use, intrinsic :: iso_fortran_env, only: real64
  use field_mod, only: go_t_points, go_u_points, go_v_points, r2d_field
  use gocean_mod, only: gocean_finalise, gocean_initialise
  use grid_mod, only: go_arakawa_c, go_bc_external, go_bc_none, go_offset_ne, grid_init, grid_type
  use kind_params_mod, only: go_wp
  use parallel_utils_mod, only: global_sum
  use timing_mod, only: now, number, report, time_triad

  implicit none

  interface
    subroutine step(istp, ua, va, un, vn, sshn_t, sshn_u, sshn_v, ssha_t, ssha_u, ssha_v, hu, hv, ht)
      import :: r2d_field
      integer, intent(inout) :: istp
      type(r2d_field), intent(inout) :: un, vn, sshn_t, sshn_u, sshn_v
      type(r2d_field), intent(inout) :: ua, va, ssha_t, ssha_u, ssha_v
      type(r2d_field), intent(inout) :: hu, hv, ht
    end subroutine step
  end interface

  type(grid_type), target :: grid
  type(r2d_field), target :: ua, va, un, vn, sshn_t, sshn_u, sshn_v, ssha_t, ssha_u, ssha_v
  type(r2d_field), target :: hu, hv, ht
  real(real64) :: start(2), least(2)
  real(go_wp) :: total
  integer :: run, istp

  call gocean_initialise()
  call make_grid(number(1))
  call make_fields()
  least = huge(least)
  do run = 1, number(2)
    istp = run
    start = now()
    call step(istp, ua, va, un, vn, sshn_t, sshn_u, sshn_v, ssha_t, ssha_u, ssha_v, hu, hv, ht)
    least = min(least, now() - start)
  end do
  total = total_of(un) + total_of(vn) + total_of(sshn_t)
  call global_sum(total)
  call report('NEMOLite2D', least, total)
  call time_triad('NEMOLite2D', 25 * size(un%data), number(2))
  call gocean_finalise()

contains

  !> Make a grid of `points` of sea each way, with land on three sides and an open boundary in the south.
  subroutine make_grid(points)
    integer, intent(in) :: points
    integer, allocatable :: mask(:, :)
    integer :: i, j

    grid = grid_type(go_arakawa_c, [go_bc_external, go_bc_external, go_bc_none], go_offset_ne)
    call grid%decompose(points, points)
    associate (all => grid%subdomain%global)
      allocate (mask(all%nx, all%ny), source=0)
      do j = 1, all%ny
        do i = 1, all%nx
          associate (column => place(i, j, 1), row => place(i, j, 2))
            if (row < 1) then
              mask(i, j) = -1
            else if (1 <= column .and. column <= points .and. row <= points) then
              mask(i, j) = 1
            end if
          end associate
        end do
      end do
    end associate
    call grid_init(grid, 1000.0_go_wp, 1000.0_go_wp, mask)
  end subroutine make_grid

  !> Return the column (1) or the row (2) of the domain that a point of this rank is in.
  integer function place(i, j, way)
    integer, intent(in) :: i, j, way

    associate (domain => grid%subdomain%global, own => grid%subdomain%internal)
      place = merge(i + domain%xstart - own%xstart, j + domain%ystart - own%ystart, way == 1)
    end associate
  end function place

  !> Make all fields: water 100 metres deep, with a hill on it.
  subroutine make_fields()
    ua = r2d_field(grid, go_u_points)
    va = r2d_field(grid, go_v_points)
    un = r2d_field(grid, go_u_points)
    vn = r2d_field(grid, go_v_points)
    sshn_t = r2d_field(grid, go_t_points)
    sshn_u = r2d_field(grid, go_u_points)
    sshn_v = r2d_field(grid, go_v_points)
    ssha_t = r2d_field(grid, go_t_points)
    ssha_u = r2d_field(grid, go_u_points)
    ssha_v = r2d_field(grid, go_v_points)
    hu = r2d_field(grid, go_u_points)
    hv = r2d_field(grid, go_v_points)
    ht = r2d_field(grid, go_t_points)
    hu%data = 100.0_go_wp
    hv%data = 100.0_go_wp
    ht%data = 100.0_go_wp
    call add_hill(sshn_t)
  end subroutine make_fields

  !> Raise the surface by up to one metre around a place that is not the middle.
  subroutine add_hill(height)
    type(r2d_field), intent(inout) :: height
    integer :: i, j, from_top(2)

    associate (own => height%internal)
      do j = own%ystart, own%ystop
        do i = own%xstart, own%xstop
          from_top = [place(i, j, 1), place(i, j, 2)] - [grid%global_nx / 3, grid%global_ny / 2]
          height%data(i, j) = exp(-sum((from_top / 8.0_go_wp)**2))
        end do
      end do
    end associate
  end subroutine add_hill

  !> Return the sum of what this rank computes of a field, without signs.
  real(go_wp) function total_of(field)
    type(r2d_field), intent(in) :: field

    associate (own => field%internal)
      total_of = sum(abs(field%data(own%xstart:own%xstop, own%ystart:own%ystop)))
    end associate
  end function total_of

end program bench
