!> Waves from a hill of water on a biperiodic plane, on any number of ranks.
!>
!> Prints the volume of water above rest, which must stay what it is, the energy of the waves, which
!> only the tolerance of the solver changes, and how many iterations the solver took; then
!> what halo exchanges have cost. Writes the surface to files of each rank,
!> `surface_<step>.<rank>`: x, y, height, in metres.
program waves

  use constants_mod, only: i_def, r_def
  use extrusion_mod, only: PRIME_EXTRUSION, uniform_extrusion_type
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: W2, W3
  use function_space_collection_mod, only: function_space_collection, &
                                           function_space_collection_type
  use function_space_mod, only: function_space_type
  use halo_statistics_mod, only: get_halo_statistics, halo_statistics_type
  use lfric_mpi_mod, only: create_comm, destroy_comm, global_mpi, lfric_comm_type
  use local_mesh_mod, only: local_mesh_type
  use mesh_collection_mod, only: mesh_collection, mesh_collection_type
  use mesh_mod, only: mesh_type
  use quadrature_rule_gaussian_mod, only: quadrature_rule_gaussian_type
  use quadrature_xyoz_mod, only: quadrature_xyoz_type
  use waves_alg_mod, only: basin_type, measure, prepare, step_on, workspace_type

  implicit none

  integer(i_def), parameter :: cells = 48, points = 3
  real(r_def), parameter :: width = 1000.0_r_def  ! of a cell, in metres
  real(r_def), parameter :: layer = 1.0_r_def
  integer, parameter :: steps = 40, steps_between = 10

  type(lfric_comm_type) :: comm
  type(mesh_type), pointer :: mesh
  type(function_space_type), pointer :: velocities, heights
  type(basin_type) :: basin
  type(workspace_type) :: work
  type(field_type) :: velocity, height
  integer(i_def) :: iterations, taken
  integer :: step

  call create_comm(comm)
  call global_mpi%initialise(comm)
  call make_spaces()
  call make_fields()
  call prepare(basin, width, layer, &
               quadrature_xyoz_type(points, quadrature_rule_gaussian_type()))

  call report(0, 0_i_def)
  iterations = 0_i_def
  do step = 1, steps
    call step_on(basin, velocity, height, work, taken)
    iterations = iterations + taken
    if (modulo(step, steps_between) == 0) call report(step, iterations)
  end do
  call print_statistics()
  call destroy_comm()

contains

  !> Make a plane of one layer that has no borders, and its function spaces.
  subroutine make_spaces()
    type(local_mesh_type), pointer :: plane

    allocate (mesh_collection, source=mesh_collection_type())
    allocate (function_space_collection, source=function_space_collection_type())
    allocate (plane)
    plane = local_mesh_type('plane', cells, cells, width, width)
    mesh => mesh_collection%get_mesh(mesh_collection%add_new_mesh( &
      mesh_type(plane, uniform_extrusion_type(0.0_r_def, layer, 1_i_def, PRIME_EXTRUSION))))
    velocities => function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, W2)
    heights => function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, W3)
  end subroutine make_spaces

  !> Make all fields, the water at rest but for a hill; a step lets a wave pass two cells.
  subroutine make_fields()
    basin%depth = 100.0_r_def
    basin%gravity = 9.81_r_def
    basin%volume = width**2 * layer
    basin%time_step = 2.0_r_def * width / sqrt(basin%gravity * basin%depth)
    call basin%mass%initialise(velocities, velocities)
    call basin%divergence%initialise(heights, velocities)
    call new_field(velocity, velocities)
    call new_field(work%change, velocities)
    call new_field(work%residual, velocities)
    call new_field(work%direction, velocities)
    call new_field(work%image, velocities)
    call new_field(work%thrust, velocities)
    call new_field(work%outflow, heights)
    call new_field(height, heights)
    call place_hill()
  end subroutine make_fields

  !> Make a field of zeros.
  subroutine new_field(field, space)
    type(field_type), intent(inout) :: field
    type(function_space_type), pointer, intent(in) :: space
    type(field_proxy_type) :: proxy

    call field%initialise(space)
    proxy = field%get_proxy()
    proxy%data = 0.0_r_def
  end subroutine new_field

  !> Raise the surface by a metre off the middle, in owned cells: what others own is left to halo
  !> exchanges.
  subroutine place_hill()
    type(field_proxy_type) :: proxy
    integer(i_def), pointer :: map(:)
    integer(i_def) :: cell
    real(r_def) :: place(3), distance

    proxy = height%get_proxy()
    do cell = 1, mesh%get_last_edge_cell()
      call mesh%get_cell_centre_coords(cell, place)
      map => proxy%vspace%get_cell_dofmap(cell)
      distance = norm2(place(:2) / width - [16.0_r_def, 20.0_r_def])
      proxy%data(map(1)) = exp(-(distance / 3.0_r_def)**2)
    end do
    call proxy%set_dirty()
  end subroutine place_hill

  !> Print what is known of the waves, and write the surface.
  subroutine report(at_step, so_far)
    integer, intent(in) :: at_step
    integer(i_def), intent(in) :: so_far

    call print_state(at_step, so_far)
    call write_surface(at_step)
  end subroutine report

  !> Print what is known of the waves.
  subroutine print_state(at_step, so_far)
    integer, intent(in) :: at_step
    integer(i_def), intent(in) :: so_far

    real(r_def) :: volume, energy

    call measure(basin, velocity, height, work, volume, energy)
    if (global_mpi%get_comm_rank() == 0) &
      print '(a, i4, 2(a, es23.16), a, i5)', 'step', at_step, '  volume', volume, '  energy', &
        energy, '  iterations', so_far
  end subroutine print_state

  !> Write the height of the surface.
  subroutine write_surface(at_step)
    integer, intent(in) :: at_step

    type(field_proxy_type) :: proxy
    integer(i_def), pointer :: map(:)
    character(32) :: file_name
    integer(i_def) :: cell
    integer :: unit
    real(r_def) :: place(3)

    proxy = height%get_proxy()
    call proxy%bring_to_host()
    write (file_name, '(a, i3.3, a, i0)') 'surface_', at_step, '.', global_mpi%get_comm_rank()
    open (newunit=unit, file=file_name, action='write', status='replace')
    do cell = 1, mesh%get_last_edge_cell()
      call mesh%get_cell_centre_coords(cell, place)
      map => proxy%vspace%get_cell_dofmap(cell)
      write (unit, '(2f9.1, es25.16e3)') place(:2), proxy%data(map(1))
    end do
    close (unit)
  end subroutine write_surface

  !> Print what halo exchanges have cost rank 0.
  subroutine print_statistics()
    type(halo_statistics_type) :: statistics

    statistics = get_halo_statistics()
    if (global_mpi%get_comm_rank() == 0) &
      print '(3(i0, a))', statistics%exchanges, ' halo exchanges, ', statistics%messages, &
        ' messages and ', statistics%bytes, ' bytes sent by this rank'
  end subroutine print_statistics

end program waves
