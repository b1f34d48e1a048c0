!> Waves on a biperiodic plane with LFRic's own types: every rank writes what it owns in the end.
!>
!> The words of the command line are the cells in each direction, the steps, and whether the program
!> tells a registry of storages what it does.
program real_waves

  use constants_mod, only: i_def, l_def, r_def, str_def
  use extrusion_mod, only: PRIME_EXTRUSION, uniform_extrusion_type
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: W2, W3
  use function_space_collection_mod, only: function_space_collection, &
                                           function_space_collection_type
  use function_space_mod, only: function_space_type
  use global_mesh_mod, only: global_mesh_type
  use halo_comms_mod, only: initialise_halo_comms
  use halo_routing_collection_mod, only: halo_routing_collection, halo_routing_collection_type
  use lfric_mpi_mod, only: create_comm, destroy_comm, global_mpi, lfric_comm_type
  use local_mesh_mod, only: local_mesh_type
  use log_mod, only: initialise_logging, log_level_error, log_set_level
  use mesh_collection_mod, only: mesh_collection, mesh_collection_type
  use mesh_mod, only: mesh_type
  use panel_decomposition_mod, only: auto_decomposition_type
  use partition_mod, only: partition_type, partitioner_interface, partitioner_planar
  use quadrature_rule_gaussian_mod, only: quadrature_rule_gaussian_type
  use quadrature_xyoz_mod, only: quadrature_xyoz_type
  use storage_statistics_mod, only: print_statistics
  use ugrid_mesh_data_mod, only: ugrid_mesh_data_type
  use waves_alg_mod, only: basin_type, measure, prepare, step_on, workspace_type
  use wrapped_arrays_mod, only: bring_to_host, set_program_tells, storage_of

  implicit none

  real(r_def), parameter :: width = 1000.0_r_def
  type(lfric_comm_type) :: comm
  type(mesh_type), pointer :: mesh
  type(function_space_type), pointer :: velocities, heights
  type(basin_type) :: basin
  type(workspace_type) :: work
  type(field_type), target :: velocity, height
  integer(i_def) :: cells, iterations, rank
  integer :: step, steps
  character(8) :: word
  real(r_def) :: volume, energy
  logical :: tells

  call create_comm(comm)
  call global_mpi%initialise(comm)
  call initialise_halo_comms(comm)
  call initialise_logging(comm%get_comm_mpi_val(), 'waves')
  call log_set_level(log_level_error)
  rank = global_mpi%get_comm_rank()
  call get_command_argument(1, word)
  read (word, *) cells
  call get_command_argument(2, word)
  read (word, *) steps
  call get_command_argument(3, word)
  tells = word == 'tells'
  call set_program_tells(tells)
  allocate (mesh_collection, source=mesh_collection_type())
  allocate (function_space_collection, source=function_space_collection_type())
  allocate (halo_routing_collection, source=halo_routing_collection_type())
  call make_mesh()
  velocities => function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, W2)
  heights => function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, W3)
  call make_fields()
  call prepare(basin, width, 1.0_r_def, &
               quadrature_xyoz_type(3_i_def, quadrature_rule_gaussian_type()))
  do step = 1, steps
    call step_on(basin, velocity, height, work, iterations)
    if (rank == 0 .and. step == steps) print '(a, i0)', 'iterations ', iterations
  end do
  call measure(basin, velocity, height, work, volume, energy)
  if (rank == 0) print '(a, 2(1x, es23.16))', 'measured', volume, energy
  call write_values('velocity', velocity)
  call write_values('height', height)
  if (rank == 0) call print_statistics('moved')
  call destroy_comm()

contains

  !> Make a plane of one layer without borders.
  subroutine make_mesh()
    type(ugrid_mesh_data_type) :: plane
    type(global_mesh_type), pointer :: global
    type(local_mesh_type), pointer :: local
    type(partition_type) :: partition
    procedure(partitioner_interface), pointer :: partitioner
    integer(i_def) :: i, j, cell, number

    number = cells**2
    plane%global_mesh_name = 'plane'
    plane%geometry = 'planar'
    plane%topology = 'periodic'
    plane%coord_sys = 'xyz'
    plane%coord_units_xy = 'm'
    plane%nnode = number
    plane%nface = number
    plane%nedge = 2 * number
    plane%num_nodes_per_face = 4
    plane%num_nodes_per_edge = 2
    plane%num_edges_per_face = 4
    plane%max_num_faces_per_node = 4
    plane%periodic_xy = .true.
    plane%ntarget_meshes = 0
    plane%npanels = 1
    plane%void_cell = -9999
    plane%is_local_mesh = .false.
    plane%domain_extents = reshape([0.0_r_def, 0.0_r_def, 1.0_r_def, 0.0_r_def, 1.0_r_def, &
                                    1.0_r_def, 0.0_r_def, 1.0_r_def], [2, 4]) * width * cells
    allocate (plane%target_global_mesh_names(0))
    allocate (plane%node_coords(2, number), plane%face_coords(2, number))
    allocate (plane%face_next_2d(4, number), plane%node_on_face_2d(4, number))
    allocate (plane%edge_on_face_2d(4, number), plane%node_on_edge_2d(2, 2 * number))
    do j = 1, cells
      do i = 1, cells
        cell = at(i, j)
        plane%node_coords(:, cell) = width * [i - 1, j - 1]
        plane%face_coords(:, cell) = width * ([i, j] - 0.5_r_def)
        plane%face_next_2d(:, cell) = [at(i - 1, j), at(i, j - 1), at(i + 1, j), at(i, j + 1)]
        plane%node_on_face_2d(:, cell) = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]
        plane%edge_on_face_2d(:, cell) = &
          [at(i, j), number + at(i, j), at(i + 1, j), number + at(i, j + 1)]
        plane%node_on_edge_2d(:, cell) = [at(i, j), at(i, j + 1)]
        plane%node_on_edge_2d(:, number + cell) = [at(i, j), at(i + 1, j)]
      end do
    end do
    plane%populated_with_mesh = .true.
    allocate (global, local)
    global = global_mesh_type(plane)
    partitioner => partitioner_planar
    partition = partition_type(global, partitioner, auto_decomposition_type(), 2_i_def, &
                               .true._l_def, rank, global_mpi%get_comm_size())
    call local%initialise(global, partition)
    call local%init_cell_owner()
    mesh => mesh_collection%get_mesh(mesh_collection%add_new_mesh( &
      mesh_type(local, uniform_extrusion_type(0.0_r_def, 1.0_r_def, 1_i_def, PRIME_EXTRUSION))))
  end subroutine make_mesh

  !> Return the number of a cell, or of its lower left corner.
  pure function at(i, j)
    integer(i_def), intent(in) :: i, j
    integer(i_def) :: at

    at = modulo(j - 1, cells) * cells + modulo(i - 1, cells) + 1
  end function at

  !> Make all fields, the water at rest but for a hill.
  subroutine make_fields()
    type(field_proxy_type) :: proxy
    integer(i_def), pointer :: map(:)
    integer(i_def) :: cell, number

    basin%depth = 100.0_r_def
    basin%gravity = 9.81_r_def
    basin%volume = width**2
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
    proxy = height%get_proxy()
    do cell = 1, mesh%get_last_edge_cell()
      map => proxy%vspace%get_cell_dofmap(cell)
      number = mesh%get_gid_from_lid(cell) - 1
      proxy%data(map(1)) = exp(-norm2([modulo(number, cells) - cells / 3.0_r_def, &
                                       number / cells - cells / 2.5_r_def] / 3.0_r_def)**2)
    end do
    call proxy%set_dirty()
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

  !> Write the values that the rank owns.
  subroutine write_values(name, field)
    character(*), intent(in) :: name
    type(field_type), intent(in) :: field

    type(field_proxy_type) :: proxy
    character(32) :: file
    integer :: unit

    proxy = field%get_proxy()
    if (tells) call bring_to_host(storage_of(proxy%data))
    write (file, '(2a, i0)') name, '_', rank
    open (newunit=unit, file=file, access='stream', form='unformatted', status='replace')
    write (unit) proxy%data(:proxy%vspace%get_last_dof_owned())
    close (unit)
  end subroutine write_values

end program real_waves
