!> What the programs of this folder have in common: ranks, a plane without borders, fields, and files.
module plane_mod

  use constants_mod, only: i_def, l_def, r_def, str_def
  use extrusion_mod, only: PRIME_EXTRUSION, TWOD, uniform_extrusion_type
  use field_mod, only: field_proxy_type, field_type
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
  use storage_statistics_mod, only: print_statistics
  use ugrid_mesh_data_mod, only: ugrid_mesh_data_type
  use wrapped_arrays_mod, only: bring_to_host, set_program_tells, storage_of

  implicit none
  private

  public :: start, finish, make_mesh, new_field, write_values

  !> The side of a cell, in metres.
  real(r_def), parameter, public :: width = 1000.0_r_def
  !> The cells in each direction, and the steps: the first two words of the command line.
  integer(i_def), public, protected :: cells, steps
  !> This rank.
  integer(i_def), public, protected :: rank
  !> Whether the program tells the registry of storages what it does: the third word is `tells`.
  logical, public, protected :: tells
  type(lfric_comm_type) :: comm

contains

  !> Start MPI and LFRic's collections, and read the command line.
  subroutine start(name)
    character(*), intent(in) :: name
    character(8) :: word

    call create_comm(comm)
    call global_mpi%initialise(comm)
    call initialise_halo_comms(comm)
    call initialise_logging(comm%get_comm_mpi_val(), name)
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
  end subroutine start

  !> Print what moved, and end.
  subroutine finish()
    if (rank == 0) call print_statistics('moved')
    call destroy_comm()
  end subroutine finish

  !> Make a plane without borders, with layers of equal height up to a top, and one layer on its own.
  subroutine make_mesh(layers, top, mesh)
    integer(i_def), intent(in) :: layers
    real(r_def), intent(in) :: top
    type(mesh_type), pointer, intent(out) :: mesh

    type(ugrid_mesh_data_type) :: plane
    type(global_mesh_type), pointer :: global
    type(local_mesh_type), pointer :: local
    type(partition_type) :: partition
    procedure(partitioner_interface), pointer :: partitioner
    character(str_def) :: name
    integer(i_def) :: i, j, cell, number, flat

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
        ! LFRic moves corners beyond the east to its end, and those beyond the south to its begin.
        plane%node_coords(:, cell) = width * [i - 1, modulo(j - 2, cells) + 1]
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
    name = 'plane'
    mesh => mesh_collection%get_mesh(mesh_collection%add_new_mesh( &
      mesh_type(local, uniform_extrusion_type(0.0_r_def, top, layers, PRIME_EXTRUSION), name)))
    name = 'plane-2d'
    flat = mesh_collection%add_new_mesh( &
      mesh_type(local, uniform_extrusion_type(0.0_r_def, 1.0_r_def, 1_i_def, TWOD), name))
  end subroutine make_mesh

  !> Return the number of a cell, or of its lower left corner.
  pure function at(i, j)
    integer(i_def), intent(in) :: i, j
    integer(i_def) :: at

    at = modulo(j - 1, cells) * cells + modulo(i - 1, cells) + 1
  end function at

  !> Make a field: zeros, or a hill on cells that is `height` high and lower from layer to layer.
  subroutine new_field(field, space, height)
    type(field_type), intent(inout) :: field
    type(function_space_type), pointer, intent(in) :: space
    real(r_def), optional, intent(in) :: height

    type(field_proxy_type) :: proxy
    type(mesh_type), pointer :: mesh
    integer(i_def), pointer :: map(:)
    integer(i_def) :: cell, number, layer
    real(r_def) :: hill

    call field%initialise(space)
    proxy = field%get_proxy()
    proxy%data = 0.0_r_def
    if (.not. present(height)) return
    mesh => field%get_mesh()
    do cell = 1, mesh%get_last_edge_cell()
      map => proxy%vspace%get_cell_dofmap(cell)
      number = mesh%get_gid_from_lid(cell) - 1
      hill = height * exp(-norm2([modulo(number, cells) - cells / 3.0_r_def, &
                                  number / cells - cells / 2.5_r_def] / 3.0_r_def)**2)
      do layer = 0, mesh%get_nlayers() - 1
        proxy%data(map + layer) = hill / (layer + 1)
      end do
    end do
    call proxy%set_dirty()
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
    if (any(proxy%data(:proxy%vspace%get_last_dof_owned()) /= &
            proxy%data(:proxy%vspace%get_last_dof_owned()))) error stop 'no number: '//name
    write (file, '(2a, i0)') name, '_', rank
    open (newunit=unit, file=file, access='stream', form='unformatted', status='replace')
    write (unit) proxy%data(:proxy%vspace%get_last_dof_owned())
    close (unit)
  end subroutine write_values

end module plane_mod
