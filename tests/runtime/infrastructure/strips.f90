!> Planes that are narrow, small or odd, and spheres: cells, colours, dofs and exchanges on them.
program strips

  use checks_mod, only: check, deepest, finish_checks, new_mesh, new_sphere, space, start_checks
  use constants_mod, only: default_halo_depth, i_def, i_halo_index, r_def
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: W0, W1, W2, W3
  use function_space_mod, only: function_space_type
  use halo_routing_mod, only: halo_routing_type
  use lfric_sent_dofs_mod, only: sent_to_depth
  use lfric_mpi_mod, only: global_mpi
  use mesh_mod, only: mesh_type
  use storage_parts_mod, only: box_type

  implicit none

  ! Every size can be cut for 1, 2, 4 and 6 ranks.
  integer(i_def), parameter :: sizes(2, 7) = reshape( &
    [1, 12, 13, 1, 2, 6, 3, 4, 9, 7, 2, 7, 6, 5], [2, 7])
  character(16) :: name
  integer :: n

  call start_checks()
  do n = 1, size(sizes, 2)
    write (name, '(i0, a, i0)') sizes(1, n), ' x ', sizes(2, n)
    call check_mesh(new_mesh('periodic ' // trim(name), .true., sizes(1, n), sizes(2, n)), &
                    product(sizes(:, n)))
    call check_mesh(new_mesh('bounded ' // trim(name), .false., sizes(1, n), sizes(2, n)), &
                    product(sizes(:, n)))
  end do
  do n = 2, 5
    write (name, '(a, i0)') 'sphere C', n
    call check_mesh(new_sphere(trim(name), int(n, i_def)), 6 * int(n, i_def)**2)
  end do
  call finish_checks()

contains

  !> Check a mesh of so many cells.
  subroutine check_mesh(mesh, cells)
    type(mesh_type), pointer, intent(in) :: mesh
    integer(i_def), intent(in) :: cells

    integer(i_def), parameter :: spaces(4) = [W0, W1, W2, W3]
    character(:), allocatable :: mesh_name
    integer(i_def) :: number
    integer :: i

    mesh_name = trim(mesh%get_mesh_name())
    call global_mpi%global_sum(mesh%get_last_edge_cell(), number)
    call check(number == cells, 'each cell has an owner on ' // mesh_name)
    call check(mesh%get_last_edge_cell() > 0, 'no rank is without a cell on ' // mesh_name)
    call check_neighbours(mesh, mesh_name)
    call check_colours(mesh, mesh_name)
    call check_inner_cells(mesh, mesh_name)
    do i = 1, size(spaces)
      call check_space(space(mesh, spaces(i)), mesh_name)
    end do
  end subroutine check_mesh

  !> Check that neighbours agree on where they meet, and that borders are known.
  subroutine check_neighbours(mesh, mesh_name)
    type(mesh_type), pointer, intent(in) :: mesh
    character(*), intent(in) :: mesh_name

    integer(i_def), pointer :: faces(:, :)
    integer(i_def) :: cell, next, side

    faces => mesh%get_adjacent_face()
    do cell = 1, mesh%get_last_edge_cell()
      do side = 1, 4
        next = mesh%get_cell_next(side, cell)
        if (next == 0) then
          call check(faces(side, cell) == -1, 'no face lies beyond a border on ' // mesh_name)
        else
          call check(faces(faces(side, cell), next) == side .and. &
                     mesh%get_cell_next(faces(side, cell), next) == cell, &
                     'neighbours agree on ' // mesh_name)
        end if
      end do
    end do
  end subroutine check_neighbours

  !> Check that inner cells have no vertex on a cell of another rank, so that they can be computed
  !> during an exchange, and that all other owned cells have one.
  subroutine check_inner_cells(mesh, mesh_name)
    type(mesh_type), pointer, intent(in) :: mesh
    character(*), intent(in) :: mesh_name

    logical, allocatable :: of_others(:)
    logical :: touches
    integer(i_def) :: cell, corner

    allocate (of_others(mesh%get_nverts_2d()))
    of_others = .false.
    do cell = mesh%get_last_edge_cell() + 1, mesh%get_last_halo_cell(1)
      do corner = 1, 4
        of_others(mesh%get_vert_on_cell(corner, cell)) = .true.
      end do
    end do
    do cell = 1, mesh%get_last_edge_cell()
      touches = any([(of_others(mesh%get_vert_on_cell(corner, cell)), corner=1, 4)])
      call check(touches .eqv. cell > mesh%get_last_inner_cell(1), &
                 'inner cells touch no other rank, edge cells do on ' // mesh_name)
    end do
  end subroutine check_inner_cells

  !> Check that cells of a colour share no vertex, with whatever number of colours that takes.
  subroutine check_colours(mesh, mesh_name)
    type(mesh_type), pointer, intent(in) :: mesh
    character(*), intent(in) :: mesh_name

    integer(i_def), pointer :: colour_map(:, :)
    integer(i_def), allocatable :: last(:, :), cell_at(:)
    integer(i_def) :: cell, colour, corner, i, vertex, visited

    colour_map => mesh%get_colour_map()
    allocate (last, source=mesh%get_last_halo_cell_all_colours())
    allocate (cell_at(mesh%get_nverts_2d()))
    visited = 0
    do colour = 1, mesh%get_ncolours()
      cell_at = 0
      do i = 1, last(colour, deepest)
        cell = colour_map(colour, i)
        visited = visited + 1
        do corner = 1, 4
          vertex = mesh%get_vert_on_cell(corner, cell)
          ! A cell of a narrow plane may have one vertex at two corners.
          call check(any(cell_at(vertex) == [0, cell]), 'colours are apart on ' // mesh_name)
          cell_at(vertex) = cell
        end do
      end do
    end do
    call check(visited == mesh%get_last_halo_cell(deepest), 'all cells have a colour')
  end subroutine check_colours

  !> Check that each dof has an owner, and that exchanges of each depth fill what they should; a
  !> field that is not asked for a depth has the default one.
  subroutine check_space(fs, mesh_name)
    type(function_space_type), pointer, intent(in) :: fs
    character(*), intent(in) :: mesh_name

    type(field_type) :: field, shallow
    type(field_proxy_type) :: proxy
    integer(i_halo_index), allocatable :: ids(:)
    integer(i_def) :: depth, last, number

    call global_mpi%global_sum(fs%get_last_dof_owned(), number)
    call check(number == fs%get_ndof_glob(), 'each dof has an owner on ' // mesh_name)
    call fs%get_global_dof_id(ids)
    call field%initialise(fs, halo_depth=deepest)
    proxy = field%get_proxy()
    do depth = 1, deepest
      last = fs%get_last_dof_owned()
      proxy%data(:last) = real(ids(:last), r_def)
      proxy%data(last + 1:) = -1.0_r_def
      call proxy%halo_exchange(depth)
      last = fs%get_last_dof_halo(depth)
      call check(all(abs(proxy%data(:last) - real(ids(:last), r_def)) <= 0.0_r_def), &
                 'an exchange fills what it should on ' // mesh_name)
      call check(all(proxy%data(last + 1:) < 0.0_r_def), 'and no more on ' // mesh_name)
      call check_sent(fs, depth, mesh_name)
    end do
    call shallow%initialise(fs)
    call check(shallow%get_field_halo_depth() == default_halo_depth, 'the default halo depth')
  end subroutine check_space

  !> Check that what a space tells of its exchanges to everybody is what they send.
  subroutine check_sent(fs, depth, mesh_name)
    type(function_space_type), pointer, intent(in) :: fs
    integer(i_def), intent(in) :: depth
    character(*), intent(in) :: mesh_name

    type(halo_routing_type), pointer :: routing
    logical, allocatable :: is_sent(:), is_told(:)

    routing => fs%get_halo_routing(depth)
    is_sent = marked(routing%boxes_sent(), fs%get_last_dof_owned())
    is_told = marked(sent_to_depth(fs, depth), fs%get_last_dof_owned())
    call check(.not. any(is_sent .and. .not. is_told), 'what is sent is told on ' // mesh_name)
    call check(.not. any(is_told .and. .not. is_sent), 'no more than is sent is told on ' // mesh_name)
  end subroutine check_sent

  !> Return which dofs are in boxes.
  function marked(boxes, dofs) result(is_there)
    type(box_type), intent(in) :: boxes(:)
    integer(i_def), intent(in) :: dofs
    logical :: is_there(dofs)

    integer :: n

    is_there = .false.
    do n = 1, size(boxes)
      is_there(boxes(n)%first(1):boxes(n)%last(1)) = .true.
    end do
  end function marked

end program strips
