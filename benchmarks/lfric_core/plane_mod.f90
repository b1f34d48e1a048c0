!> What the programs of this folder have in common: ranks, a plane without borders, fields, and files.
module plane_mod

  use, intrinsic :: iso_fortran_env, only: int64
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
  !> With `coarse`, the same of cells that are twice as wide, and the maps between both.
  subroutine make_mesh(layers, top, mesh, coarse)
    integer(i_def), intent(in) :: layers
    real(r_def), intent(in) :: top
    type(mesh_type), pointer, intent(out) :: mesh
    type(mesh_type), pointer, optional, intent(out) :: coarse

    type(local_mesh_type), pointer :: local, local_coarse

    if (.not. present(coarse)) then
      mesh => new_mesh('plane', new_local_mesh('plane', cells), layers, top)
      return
    end if
    if (modulo(cells, 2) == 1) error stop 'an odd number of cells has no half'
    local => new_local_mesh('plane', cells, 'coarse')
    mesh => new_mesh('plane', local, layers, top)
    local_coarse => new_local_mesh('coarse', cells / 2, 'plane')
    call map_between(local, local_coarse)
    coarse => new_mesh('coarse', local_coarse, layers, top)
    call mesh%add_mesh_map(coarse)
    call coarse%add_mesh_map(mesh)
  end subroutine make_mesh

  !> Return a mesh of some layers, and make one of a single layer besides.
  function new_mesh(name, local, layers, top) result(mesh)
    character(*), intent(in) :: name
    type(local_mesh_type), pointer, intent(in) :: local
    integer(i_def), intent(in) :: layers
    real(r_def), intent(in) :: top
    type(mesh_type), pointer :: mesh

    character(str_def) :: whole, single
    integer(i_def) :: flat

    whole = name
    single = name//'-2d'
    mesh => mesh_collection%get_mesh(mesh_collection%add_new_mesh( &
      mesh_type(local, uniform_extrusion_type(0.0_r_def, top, layers, PRIME_EXTRUSION), whole)))
    flat = mesh_collection%add_new_mesh( &
      mesh_type(local, uniform_extrusion_type(0.0_r_def, 1.0_r_def, 1_i_def, TWOD), single))
  end function new_mesh

  !> Return what this rank has of a plane of `n` by `n` cells; if it is mapped to another, of which.
  function new_local_mesh(name, n, mapped_to) result(local)
    character(*), intent(in) :: name
    integer(i_def), intent(in) :: n
    character(*), optional, intent(in) :: mapped_to
    type(local_mesh_type), pointer :: local

    type(ugrid_mesh_data_type) :: plane
    type(global_mesh_type), pointer :: global
    type(partition_type) :: partition
    procedure(partitioner_interface), pointer :: partitioner
    real(r_def) :: side
    integer(i_def) :: i, j, cell, number

    number = n**2
    side = width * cells / n
    plane%global_mesh_name = name
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
    plane%ntarget_meshes = merge(1, 0, present(mapped_to))
    plane%npanels = 1
    plane%void_cell = -9999
    plane%is_local_mesh = .false.
    plane%domain_extents = reshape([0.0_r_def, 0.0_r_def, 1.0_r_def, 0.0_r_def, 1.0_r_def, &
                                    1.0_r_def, 0.0_r_def, 1.0_r_def], [2, 4]) * width * cells
    allocate (plane%target_global_mesh_names(plane%ntarget_meshes))
    if (present(mapped_to)) plane%target_global_mesh_names = mapped_to
    allocate (plane%node_coords(2, number), plane%face_coords(2, number))
    allocate (plane%face_next_2d(4, number), plane%node_on_face_2d(4, number))
    allocate (plane%edge_on_face_2d(4, number), plane%node_on_edge_2d(2, 2 * number))
    do j = 1, n
      do i = 1, n
        cell = at(i, j, n)
        ! The corner in the north west has the number of its cell. As LFRic has it, those on the
        ! rim lie in the north and in the west, and not in the south and in the east as well.
        plane%node_coords(:, cell) = side * [i - 1, n - j + 1]
        plane%face_coords(:, cell) = side * [i - 0.5_r_def, n - j + 0.5_r_def]
        plane%face_next_2d(:, cell) = &
          [at(i - 1, j, n), at(i, j + 1, n), at(i + 1, j, n), at(i, j - 1, n)]
        plane%node_on_face_2d(:, cell) = &
          [at(i, j + 1, n), at(i + 1, j + 1, n), at(i + 1, j, n), at(i, j, n)]
        plane%edge_on_face_2d(:, cell) = &
          [at(i, j, n), number + at(i, j + 1, n), at(i + 1, j, n), number + at(i, j, n)]
        plane%node_on_edge_2d(:, cell) = [at(i, j + 1, n), at(i, j, n)]
        plane%node_on_edge_2d(:, number + cell) = [at(i, j, n), at(i + 1, j, n)]
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
  end function new_local_mesh

  !> Tell both meshes which cells of the other lie on their own, if this rank has them: 2 by 2 fine
  !> ones on a coarse one, the row in the north first, as LFRic's kernels count.
  subroutine map_between(fine, coarse)
    type(local_mesh_type), intent(inout) :: fine, coarse

    integer(i_def), allocatable :: onto_fine(:, :, :), onto_coarse(:, :, :)
    integer(i_def) :: half, n, number, x, y

    half = cells / 2
    allocate (onto_fine(2, 2, coarse%get_num_cells_in_layer()))
    do n = 1, size(onto_fine, 3)
      number = coarse%get_gid_from_lid(n) - 1
      do y = 1, 2
        do x = 1, 2
          onto_fine(x, y, n) = fine%get_lid_from_gid( &
            at(2 * modulo(number, half) + x, 2 * (number / half) + y, cells))
        end do
      end do
    end do
    allocate (onto_coarse(1, 1, fine%get_num_cells_in_layer()))
    do n = 1, size(onto_coarse, 3)
      number = fine%get_gid_from_lid(n) - 1
      onto_coarse(1, 1, n) = coarse%get_lid_from_gid( &
        at(modulo(number, cells) / 2 + 1, number / cells / 2 + 1, half))
    end do
    call coarse%add_local_mesh_map(fine%get_id(), onto_fine)
    call fine%add_local_mesh_map(coarse%get_id(), onto_coarse)
  end subroutine map_between

  !> Return the number of a cell, or of its corner in the north west, on a plane of `n` by `n` cells:
  !> rows begin in the north, where LFRic takes them to begin when it cuts a plane.
  pure function at(i, j, n)
    integer(i_def), intent(in) :: i, j, n
    integer(i_def) :: at

    at = modulo(j - 1, n) * n + modulo(i - 1, n) + 1
  end function at

  !> Make a field: zeros, or a hill on cells that is `height` high and lower from layer to layer. A
  !> dof of several cells has the highest, of however many ranks these are.
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
    do cell = 1, mesh%get_last_halo_cell(1)
      map => proxy%vspace%get_cell_dofmap(cell)
      number = mesh%get_gid_from_lid(cell) - 1
      hill = height * exp(-norm2([modulo(number, cells) - cells / 3.0_r_def, &
                                  number / cells - cells / 2.5_r_def] / 3.0_r_def)**2)
      do layer = 0, mesh%get_nlayers() - 1
        proxy%data(map + layer) = max(proxy%data(map + layer), hill / (layer + 1))
      end do
    end do
    call proxy%set_dirty()
  end subroutine new_field

  !> Write the values that the rank owns, behind numbers that tell all dofs of all ranks apart.
  subroutine write_values(name, field)
    character(*), intent(in) :: name
    type(field_type), intent(in) :: field

    type(field_proxy_type) :: proxy
    character(32) :: file
    integer(int64), allocatable :: numbers(:)
    integer :: unit

    proxy = field%get_proxy()
    if (tells) call bring_to_host(storage_of(proxy%data))
    associate (values => proxy%data(:proxy%vspace%get_last_dof_owned()))
      if (any(values /= values)) error stop 'no number: '//name
      numbers = numbers_of(field, size(values))
      write (file, '(2a, i0)') name, '_', rank
      open (newunit=unit, file=file, access='stream', form='unformatted', status='replace')
      write (unit) numbers, values
      close (unit)
    end associate
  end subroutine write_values

  !> Return numbers of the owned dofs that do not depend on how many ranks there are: a place on the
  !> column of a cell, the least of all that a dof has. This rank has all cells around what it owns.
  function numbers_of(field, owned) result(numbers)
    type(field_type), intent(in) :: field
    integer, intent(in) :: owned
    integer(int64) :: numbers(owned)

    type(field_proxy_type) :: proxy
    type(mesh_type), pointer :: mesh
    integer(i_def), pointer :: map(:)
    integer(int64) :: column, height
    integer(i_def) :: cell, df, level

    numbers = huge(numbers)
    proxy = field%get_proxy()
    mesh => field%get_mesh()
    height = int(mesh%get_nlayers(), int64) * proxy%vspace%get_ndata()
    do cell = 1, mesh%get_last_halo_cell(1)
      map => proxy%vspace%get_cell_dofmap(cell)
      do df = 1, size(map)
        column = (int(mesh%get_gid_from_lid(cell), int64) * size(map) + df) * height
        do level = 0, int(height) - 1
          if (map(df) + level <= owned) &
            numbers(map(df) + level) = min(numbers(map(df) + level), column + level)
        end do
      end do
    end do
    if (any(numbers == huge(numbers))) error stop 'a dof without a cell'
  end function numbers_of

end module plane_mod
