!> Owns how each algorithm of the corpus is called, and with what.
module suite_mod

  use any_type_of_point_mod, only: any_type_of_point
  use areas_mod, only: areas
  use array_elements_mod, only: array_elements
  use boundaries_mod, only: boundaries
  use continuity_mod, only: continuity
  use curl_mod, only: curl
  use fluxes_mod, only: fluxes
  use members_mod, only: members, state_type
  use named_mod, only: named
  use names_of_loops_mod, only: names_of_loops
  use offset_any_mod, only: offset_any
  use offset_south_west_mod, only: offset_south_west
  use one_kernel_mod, only: one_kernel
  use one_kernel_twice_mod, only: one_kernel_twice
  use ping_pong_mod, only: ping_pong
  use read_between_mod, only: read_between
  use renamed_kernel_mod, only: renamed_kernel
  use rotation_mod, only: rotation
  use same_field_read_twice_mod, only: same_field_read_twice
  use scalars_expressions_mod, only: scalars_expressions
  use scalars_literal_mod, only: scalars_literal
  use several_invokes_mod, only: several_invokes
  use stencil_after_all_points_mod, only: stencil_after_all_points
  use stencil_after_write_mod, only: stencil_after_write
  use stencil_corners_mod, only: stencil_corners
  use stencil_cross_mod, only: stencil_cross
  use stencil_far_mod, only: stencil_far
  use stencil_near_then_far_mod, only: stencil_near_then_far
  use stencil_one_sided_mod, only: stencil_one_sided
  use stencils_wide_mod, only: stencils_wide
  use field_mod, only: free_field, go_f_points, go_t_points, go_u_points, go_v_points, r2d_field
  use grid_mod, only: grid_type
  use kind_params_mod, only: go_wp
  use world_mod, only: new_field, north_east, report_field, south_west

  implicit none
  private

  public :: run_algorithm

contains

  !> Run the algorithm of this name on new fields, and report them.
  subroutine run_algorithm(name)
    character(*), intent(in) :: name
    type(r2d_field) :: height, old, new, u, v, flux_x, flux_y, corner
    type(r2d_field) :: tracers(2)
    type(state_type) :: state

    select case (name)
    case ('offset_any', 'offset_south_west')
      call make_fields(south_west)
    case default
      call make_fields(north_east)
    end select
    select case (name)
    case ('any_type_of_point')
      call any_type_of_point(height, old, new)
    case ('areas')
      call areas(v)
    case ('array_elements')
      tracers = [old, new]
      call array_elements(tracers)
      old = tracers(1)
      new = tracers(2)
    case ('boundaries')
      call boundaries(u, height)
    case ('continuity')
      call continuity(flux_x, flux_y, height, u, v, 0.5_go_wp)
    case ('curl')
      call curl(corner, u, v)
    case ('fluxes')
      call fluxes(flux_x, flux_y, height, u, v)
    case ('members')
      state%old = old
      state%new = new
      call members(state)
      old = state%old
      new = state%new
    case ('named')
      call named(height)
    case ('names_of_loops')
      call names_of_loops(old, new)
    case ('offset_any')
      call offset_any(flux_x, height, u, corner, v)
    case ('offset_south_west')
      call offset_south_west(flux_x, height, u, corner, v)
    case ('one_kernel')
      call one_kernel(height, old, new)
    case ('one_kernel_twice')
      call one_kernel_twice(height, old, new)
    case ('ping_pong')
      call ping_pong(old, new)
    case ('read_between')
      call read_between(height, old, new)
    case ('renamed_kernel')
      call renamed_kernel(height, old, new)
    case ('rotation')
      call rotation(u, v, 0.5_go_wp)
    case ('same_field_read_twice')
      call same_field_read_twice(height, old)
    case ('scalars_expressions')
      call scalars_expressions(height, 0.5_go_wp)
    case ('scalars_literal')
      call scalars_literal(height)
    case ('several_invokes')
      call several_invokes(height, old, new)
    case ('stencil_after_all_points')
      call stencil_after_all_points(height, old, new)
    case ('stencil_after_write')
      call stencil_after_write(height, old, new)
    case ('stencil_corners')
      call stencil_corners(height, old, new)
    case ('stencil_cross')
      call stencil_cross(height, old, new)
    case ('stencil_far')
      call stencil_far(height, old, new)
    case ('stencil_near_then_far')
      call stencil_near_then_far(height, old, new)
    case ('stencil_one_sided')
      call stencil_one_sided(height, old, new)
    case ('stencils_wide')
      call stencils_wide(height, old, new)
    case default
      error stop 'run_algorithm: unknown name'
    end select
    call report_fields()
    call free_fields()

  contains

    !> Give all fields back, as storages of what is gone would be taken for those of what is new.
    subroutine free_fields()
      integer :: n

      do n = 1, 2
        call free_field(tracers(n))
      end do
      call free_field(state%old)
      call free_field(state%new)
      call free_field(height)
      call free_field(old)
      call free_field(new)
      call free_field(u)
      call free_field(v)
      call free_field(flux_x)
      call free_field(flux_y)
      call free_field(corner)
    end subroutine free_fields

    !> Make all fields.
    subroutine make_fields(grid)
      type(grid_type), target, intent(in) :: grid

      height = new_field(grid, go_t_points, 1)
      old = new_field(grid, go_t_points, 2)
      new = new_field(grid, go_t_points, 3)
      u = new_field(grid, go_u_points, 4)
      v = new_field(grid, go_v_points, 5)
      flux_x = new_field(grid, go_u_points, 6)
      flux_y = new_field(grid, go_v_points, 7)
      corner = new_field(grid, go_f_points, 8)
    end subroutine make_fields

    !> Report all fields.
    subroutine report_fields()
      call report_field(name // '/height', height)
      call report_field(name // '/old', old)
      call report_field(name // '/new', new)
      call report_field(name // '/u', u)
      call report_field(name // '/v', v)
      call report_field(name // '/flux_x', flux_x)
      call report_field(name // '/flux_y', flux_y)
      call report_field(name // '/corner', corner)
    end subroutine report_fields

  end subroutine run_algorithm

end module suite_mod
