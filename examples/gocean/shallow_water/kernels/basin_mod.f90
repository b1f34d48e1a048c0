!> The basin, what is in it at the start, and what is known of it at any time.
module basin_mod

  use field_mod, only: r2d_field
  use gocean_mod, only: model_write_log
  use grid_mod, only: go_arakawa_c, go_bc_external, go_bc_none, go_offset_ne, grid_init, grid_type
  use kind_params_mod, only: go_wp
  use parallel_mod, only: on_master
  use parallel_utils_mod, only: global_sum

  implicit none
  private

  public :: add_hill, basin, report, write_step

contains

  !> Return the grid of a square basin with `points` of water in each direction and land around.
  function basin(points, distance) result(grid)
    integer, intent(in) :: points
    real(go_wp), intent(in) :: distance
    type(grid_type) :: grid
    integer, allocatable :: mask(:, :)
    integer :: i, j

    grid = grid_type(go_arakawa_c, [go_bc_external, go_bc_external, go_bc_none], go_offset_ne)
    call grid%decompose(points, points)
    associate (part => grid%subdomain%global)
      allocate (mask(part%nx, part%ny), source=0)
      do j = 1, part%ny
        do i = 1, part%nx
          if (all(place(grid, i, j) >= 1 .and. place(grid, i, j) <= points)) mask(i, j) = 1
        end do
      end do
    end associate
    call grid_init(grid, distance, distance, mask)
  end function basin

  !> Return the column and the row of the domain that a point of this rank is in.
  pure function place(grid, i, j)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: i, j
    integer :: place(2)

    associate (domain => grid%subdomain%global, own => grid%subdomain%internal)
      place = [i + domain%xstart - own%xstart, j + domain%ystart - own%ystart]
    end associate
  end function place

  !> Raise the surface by up to one metre in a part of the basin that is not its middle.
  subroutine add_hill(height)
    type(r2d_field), intent(inout) :: height
    integer :: i, j, from_top(2)

    associate (own => height%internal, grid => height%grid)
      do j = own%ystart, own%ystop
        do i = own%xstart, own%xstop
          from_top = place(grid, i, j) - [grid%global_nx / 3, grid%global_ny / 2]
          height%data(i, j) = exp(-sum((from_top / 4.0_go_wp)**2))
        end do
      end do
    end associate
  end subroutine add_hill

  !> Write one line: when, the volume of water above rest in m3, and the energy in m5/s2.
  subroutine report(when, height, u, v, depth_u, depth_v, gravity)
    character(len=*), intent(in) :: when
    type(r2d_field), intent(in) :: height, u, v, depth_u, depth_v
    real(go_wp), intent(in) :: gravity
    character(len=72) :: line

    write (line, '(a, 2es24.15)') when, total_volume(height), &
        total_energy(height, u, v, depth_u, depth_v, gravity)
    call model_write_log("(a)", trim(line))
  end subroutine report

  !> Write the height of the surface after so many steps, if there is a prefix for the file's name.
  subroutine write_step(height, prefix, number)
    type(r2d_field), intent(in) :: height
    character(len=*), intent(in) :: prefix
    integer, intent(in) :: number
    character(len=3) :: digits

    if (prefix == '') return
    write (digits, '(i3.3)') number
    call write_surface(height, trim(prefix) // '_' // digits // '.txt')
  end subroutine write_step

  !> Return the volume of water above rest in a basin.
  function total_volume(height) result(volume)
    type(r2d_field), intent(in) :: height
    real(go_wp) :: volume
    real(go_wp), pointer :: heights(:, :)

    heights => height%get_data()
    associate (own => height%internal, grid => height%grid)
      volume = grid%dx * grid%dy * sum(heights(own%xstart:own%xstop, own%ystart:own%ystop))
    end associate
    call global_sum(volume)
  end function total_volume

  !> Return the potential and kinetic energy in a basin, per unit of density.
  function total_energy(height, u, v, depth_u, depth_v, gravity) result(energy)
    type(r2d_field), intent(in) :: height, u, v, depth_u, depth_v
    real(go_wp), intent(in) :: gravity
    real(go_wp) :: energy
    real(go_wp), pointer, dimension(:, :) :: heights, in_x, in_y, deep_u, deep_v

    ! A device may have the latest values.
    heights => height%get_data()
    in_x => u%get_data()
    in_y => v%get_data()
    deep_u => depth_u%get_data()
    deep_v => depth_v%get_data()
    associate (own => height%internal, grid => height%grid)
      associate (i => own%xstart, ii => own%xstop, j => own%ystart, jj => own%ystop)
        energy = 0.5_go_wp * grid%dx * grid%dy * ( &
            gravity * sum(heights(i:ii, j:jj)**2) &
            + sum(deep_u(i:ii, j:jj) * in_x(i:ii, j:jj)**2) &
            + sum(deep_v(i:ii, j:jj) * in_y(i:ii, j:jj)**2))
      end associate
    end associate
    call global_sum(energy)
  end function total_energy

  !> Write the height of the surface to a file, a line for each row, from south to north.
  subroutine write_surface(height, file_name)
    type(r2d_field), intent(in) :: height
    character(len=*), intent(in) :: file_name
    real(go_wp), allocatable :: surface(:, :)
    integer :: row, unit

    call height%gather_inner_data(surface)
    if (.not. on_master()) return
    open (newunit=unit, file=file_name, action='write', status='replace')
    do row = 1, size(surface, 2)
      write (unit, '(*(es24.16))') surface(:, row)
    end do
    close (unit)
  end subroutine write_surface

end module basin_mod
