!> A bay that is open in the south, the fields of NEMOLite2D in it, and what a step of it takes.
module bay_mod

  use field_mod, only: go_t_points, go_u_points, go_v_points, r2d_field
  use grid_mod, only: go_arakawa_c, go_bc_external, go_bc_none, go_offset_ne, grid_init, grid_type
  use kind_params_mod, only: go_wp

  implicit none
  private

  public :: grid, make_fields, make_grid, one_step, place
  public :: ua, va, un, vn, sshn_t, sshn_u, sshn_v, ssha_t, ssha_u, ssha_v

  interface
    subroutine step(istp, ua, va, un, vn, sshn_t, sshn_u, sshn_v, ssha_t, ssha_u, ssha_v, hu, hv, ht)
      import :: r2d_field
      integer, intent(inout) :: istp
      type(r2d_field), intent(inout) :: un, vn, sshn_t, sshn_u, sshn_v
      type(r2d_field), intent(inout) :: ua, va, ssha_t, ssha_u, ssha_v
      type(r2d_field), intent(inout) :: hu, hv, ht
    end subroutine step
  end interface

  type(grid_type), target, save :: grid
  type(r2d_field), target, save :: ua, va, un, vn, sshn_t, sshn_u, sshn_v, ssha_t, ssha_u, ssha_v
  type(r2d_field), target, save :: hu, hv, ht

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

  !> Make all fields: water at rest, 100 metres deep.
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
  end subroutine make_fields

  !> Do the step of this number.
  subroutine one_step(number)
    integer, intent(in) :: number
    integer :: istp

    istp = number
    call step(istp, ua, va, un, vn, sshn_t, sshn_u, sshn_v, ssha_t, ssha_u, ssha_v, hu, hv, ht)
  end subroutine one_step

end module bay_mod
