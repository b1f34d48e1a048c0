!> Times the step of NEMOLite2D on a grid of any size, as `../fortran/gocean/bench.f90` does the example's.
!> A bay that is open in the south, with a hill of water. Usage: bench points runs
program bench

  use, intrinsic :: iso_fortran_env, only: real64
  use bay_mod, only: grid, make_fields, make_grid, one_step, place, sshn_t, un, vn
  use field_mod, only: r2d_field
  use gocean_mod, only: gocean_finalise, gocean_initialise
  use kind_params_mod, only: go_wp
  use parallel_utils_mod, only: global_sum
  use timing_mod, only: now, number, report, time_triad

  implicit none

  real(real64) :: start(2), least(2)
  real(go_wp) :: total
  integer :: run

  call gocean_initialise()
  call make_grid(number(1))
  call make_fields()
  call add_hill(sshn_t)
  least = huge(least)
  do run = 1, number(2)
    start = now()
    call one_step(run)
    least = min(least, now() - start)
  end do
  total = total_of(un) + total_of(vn) + total_of(sshn_t)
  call global_sum(total)
  call report('NEMOLite2D', least, total)
  call time_triad('NEMOLite2D', 25 * size(un%data), number(2))
  call gocean_finalise()

contains

  !> Raise the surface by up to one metre around a place that is not the middle.
  subroutine add_hill(height)
    type(r2d_field), target, intent(inout) :: height
    real(go_wp), pointer :: values(:, :)
    integer :: i, j, from_top(2)

    values => height%get_data()
    associate (own => height%internal)
      do j = own%ystart, own%ystop
        do i = own%xstart, own%xstop
          from_top = [place(i, j, 1), place(i, j, 2)] - [grid%global_nx / 3, grid%global_ny / 2]
          values(i, j) = exp(-sum((from_top / 8.0_go_wp)**2))
        end do
      end do
    end associate
  end subroutine add_hill

  !> Return the sum of what this rank computes of a field, without signs.
  real(go_wp) function total_of(field)
    type(r2d_field), target, intent(inout) :: field
    real(go_wp), pointer :: values(:, :)

    values => field%get_data()
    associate (own => field%internal)
      total_of = sum(abs(values(own%xstart:own%xstop, own%ystart:own%ystop)))
    end associate
  end function total_of

end program bench
