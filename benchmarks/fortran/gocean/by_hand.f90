!> The same as `bench_alg_mod.x90`, written by hand for one thread: rows follow one another, so that
!> what a row needs of the row before is in the cache. v of a row waits for u of the next.
module bench_alg_mod

  use field_mod, only : r2d_field
  use kind_params_mod, only : go_wp
  use region_mod, only : region_type

  implicit none
  private

  public :: advance

  real(go_wp), parameter :: time_step = 50.0_go_wp, gravity = 9.81_go_wp, coriolis = 1.0e-4_go_wp

contains

  !> Advance the waves by one step.
  subroutine advance(height, u, v, u_at_v, v_at_u, depth_u, depth_v)
    type(r2d_field), intent(inout) :: height, u, v, u_at_v, v_at_u, depth_u, depth_v

    associate (grid => height%grid)
      call invoke_advance(size(u%data, 1), size(u%data, 2), height%internal, u%internal, &
                          v%internal, height%data, u%data, v%data, u_at_v%data, v_at_u%data, &
                          depth_u%data, depth_v%data, grid%dx, grid%dy, grid%area_t, grid%dx_u, &
                          grid%dy_v, grid%tmask)
    end associate
  end subroutine advance

  !> Advance u of each row and then v of the row before.
  subroutine invoke_advance(nx, ny, of_t, of_u, of_v, height, u, v, u_at_v, v_at_u, depth_u, &
                            depth_v, dx, dy, area_t, dx_u, dy_v, mask)
    integer, intent(in) :: nx, ny, mask(nx, ny)
    type(region_type), intent(in) :: of_t, of_u, of_v
    real(go_wp), intent(inout), dimension(nx, ny) :: height, u, v, u_at_v, v_at_u
    real(go_wp), intent(in), dimension(nx, ny) :: depth_u, depth_v, area_t, dx_u, dy_v
    real(go_wp), intent(in) :: dx, dy
    real(go_wp) :: other
    integer :: i, j

    do j = min(of_t%ystart, of_u%ystart), max(of_t%ystop, of_u%ystop, of_v%ystop) + 1
      if (of_t%ystart <= j .and. j <= of_t%ystop) then
        do i = of_t%xstart, of_t%xstop
          height(i, j) = height(i, j) + time_step / area_t(i, j) * ( &
              dy * (depth_u(i - 1, j) * u(i - 1, j) - depth_u(i, j) * u(i, j)) &
              + dx * (depth_v(i, j - 1) * v(i, j - 1) - depth_v(i, j) * v(i, j)))
        end do
      end if
      if (of_u%ystart <= j .and. j <= of_u%ystop) then
        do i = of_u%xstart, of_u%xstop
          other = 0.25_go_wp * (v(i, j - 1) + v(i + 1, j - 1) + v(i, j) + v(i + 1, j))
          v_at_u(i, j) = other
          u(i, j) = merge(u(i, j) + time_step * (coriolis * other - gravity * &
              (height(i + 1, j) - height(i, j)) / dx_u(i, j)), &
              0.0_go_wp, mask(i, j) == 1 .and. mask(i + 1, j) == 1)
        end do
      end if
      if (of_v%ystart < j .and. j - 1 <= of_v%ystop) call advance_v(j - 1)
    end do

  contains

    !> Advance v of a row, whose heights and those of the next are new.
    subroutine advance_v(row)
      integer, intent(in) :: row

      do i = of_v%xstart, of_v%xstop
        other = 0.25_go_wp * (u(i - 1, row) + u(i, row) + u(i - 1, row + 1) + u(i, row + 1))
        u_at_v(i, row) = other
        v(i, row) = merge(v(i, row) - time_step * (coriolis * other + gravity * &
            (height(i, row + 1) - height(i, row)) / dy_v(i, row)), &
            0.0_go_wp, mask(i, row) == 1 .and. mask(i, row + 1) == 1)
      end do
    end subroutine advance_v

  end subroutine invoke_advance

end module bench_alg_mod
