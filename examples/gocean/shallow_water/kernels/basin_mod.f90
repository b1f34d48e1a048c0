!> The basin and what is in it at the start.
module basin_mod

  use field_mod, only: r2d_field
  use grid_mod, only: go_arakawa_c, go_bc_external, go_bc_none, go_offset_ne, grid_init, grid_type
  use kind_params_mod, only: go_wp

  implicit none
  private

  public :: add_hill, basin, total_energy

contains

  !> Return the grid of a square basin with `points` of water in each direction and land around.
  function basin(points, distance) result(grid)
    integer, intent(in) :: points
    real(go_wp), intent(in) :: distance
    type(grid_type) :: grid
    integer, allocatable :: mask(:, :)

    grid = grid_type(go_arakawa_c, [go_bc_external, go_bc_external, go_bc_none], go_offset_ne)
    call grid%decompose(points, points)
    allocate (mask(points + 2, points + 2), source=0)
    mask(2:points + 1, 2:points + 1) = 1
    call grid_init(grid, distance, distance, mask)
  end function basin

  !> Raise the surface by up to one metre in a part of the basin that is not its middle.
  subroutine add_hill(height)
    type(r2d_field), intent(inout) :: height
    real(go_wp) :: distance
    integer :: i, j

    associate (own => height%internal, grid => height%grid)
      do j = own%ystart, own%ystop
        do i = own%xstart, own%xstop
          distance = hypot(real(i - own%nx / 3, go_wp), real(j - own%ny / 2, go_wp))
          height%data(i, j) = exp(-(distance / 4.0_go_wp)**2)
        end do
      end do
    end associate
  end subroutine add_hill

  !> Return the potential and kinetic energy in a basin, per unit of density.
  function total_energy(height, u, v, depth_u, depth_v, gravity) result(energy)
    type(r2d_field), intent(in) :: height, u, v, depth_u, depth_v
    real(go_wp), intent(in) :: gravity
    real(go_wp) :: energy

    associate (own => height%internal, grid => height%grid)
      associate (i => own%xstart, ii => own%xstop, j => own%ystart, jj => own%ystop)
        energy = 0.5_go_wp * grid%dx * grid%dy * ( &
            gravity * sum(height%data(i:ii, j:jj)**2) &
            + sum(depth_u%data(i:ii, j:jj) * u%data(i:ii, j:jj)**2) &
            + sum(depth_v%data(i:ii, j:jj) * v%data(i:ii, j:jj)**2))
      end associate
    end associate
  end function total_energy

end module basin_mod
