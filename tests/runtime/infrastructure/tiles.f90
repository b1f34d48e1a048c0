!> Tiles: every cell is in one, tiles of a colour share no vertex, loops visit what they should.
program tiles

  use checks_mod, only: check, deepest, finish_checks, new_mesh, new_sphere, &
                        start_checks
  use constants_mod, only: i_def
  use lfric_mpi_mod, only: global_mpi
  use mesh_mod, only: mesh_type

  implicit none

  type(mesh_type), pointer :: mesh
  integer(i_def) :: mixed

  call start_checks()
  mesh => new_mesh('even', .true., 16, 12, tile_size=[4, 3])
  call check_tiles(mesh, most_cells=12, cells_x=16, tile_size=[4, 3])
  call check(mesh%get_ntilecolours() < 8, 'tiles of an even plane have few colours')
  mesh => new_mesh('odd', .true., 9, 7, tile_size=[2, 2])
  call check_tiles(mesh, most_cells=4, cells_x=9, tile_size=[2, 2])
  mesh => new_mesh('bounded', .false., 10, 7, tile_size=[3, 1])
  call check_tiles(mesh, most_cells=3, cells_x=10, tile_size=[3, 1])
  mesh => new_mesh('wide', .false., 10, 7, tile_size=[100, 1])
  call check_tiles(mesh, most_cells=10, cells_x=10, tile_size=[100, 1])
  mesh => new_sphere('sphere', 6, tile_size=[4, 3])
  call check_tiles(mesh, most_cells=12, cells_x=6, tile_size=[4, 3])
  mesh => new_mesh('single', .true., 9, 7)
  call check_tiles(mesh, most_cells=1, cells_x=9, tile_size=[1, 1])
  call check(mesh%get_ntilecolours() == mesh%get_ncolours(), 'single cells are coloured as cells')
  call check(all(mesh%get_last_edge_tile_all_colours() == mesh%get_last_edge_cell_all_colours()), &
             'and visited as cells')
  mesh => new_mesh('apart', .true., 24, 22, tile_size=[4, 3], inner_halo_tiles=.true.)
  call check_tiles(mesh, most_cells=12, cells_x=24, tile_size=[4, 3])
  call check(.not. has_mixed_tile(mesh), 'tiles of inner cells are apart if that is asked for')
  mesh => new_sphere('apart on a sphere', 9, tile_size=[4, 3], inner_halo_tiles=.true.)
  call check_tiles(mesh, most_cells=12, cells_x=9, tile_size=[4, 3])
  call check(.not. has_mixed_tile(mesh), 'tiles of inner cells are apart on a sphere, too')
  mesh => new_mesh('together', .true., 24, 22, tile_size=[4, 3])
  call global_mpi%global_sum(merge(1, 0, has_mixed_tile(mesh)), mixed)
  call check(mixed > 0 .or. global_mpi%get_comm_size() == 1, 'and not otherwise')
  call finish_checks()

contains

  !> Return whether a tile has both cells of the deepest inner depth and others that are owned.
  function has_mixed_tile(mesh)
    type(mesh_type), pointer, intent(in) :: mesh
    logical :: has_mixed_tile

    integer(i_def), allocatable :: inner(:, :, :), owned(:, :)

    allocate (inner, source=mesh%get_last_inner_cell_all_colours_all_tiles())
    allocate (owned, source=mesh%get_last_edge_cell_all_colours_all_tiles())
    associate (deepest_inner => inner(:, :, mesh%get_inner_depth()))
      has_mixed_tile = any(deepest_inner > 0 .and. deepest_inner < owned)
    end associate
  end function has_mixed_tile

  !> Check the loops over the tiles of a mesh.
  subroutine check_tiles(mesh, most_cells, cells_x, tile_size)
    type(mesh_type), pointer, intent(in) :: mesh
    integer(i_def), intent(in) :: most_cells
    integer(i_def), intent(in) :: cells_x
    integer(i_def), intent(in) :: tile_size(2)

    integer(i_def), allocatable :: last_tiles(:, :), last_cells(:, :, :)
    integer(i_def), pointer :: map(:, :, :)
    integer(i_def) :: colour, depth, n, tile

    map => mesh%get_coloured_tiling_map()
    call check(size(map, 3) <= most_cells, 'a tile is not larger than asked for')
    allocate (last_tiles, source=mesh%get_last_halo_tile_all_colours())
    allocate (last_cells, source=mesh%get_last_halo_cell_all_colours_all_tiles())
    do depth = 1, deepest
      call check_loop(mesh, last_tiles(:, depth), last_cells(:, :, depth), &
                      mesh%get_last_halo_cell(depth))
      do colour = 1, mesh%get_ntilecolours()
        call check(last_tiles(colour, depth) == mesh%get_last_halo_tile_per_colour(colour, depth), &
                   'tiles of one colour')
        do tile = 1, last_tiles(colour, depth)
          call check(last_cells(colour, tile, depth) == &
                     mesh%get_last_halo_cell_per_colour_and_tile(colour, tile, depth), &
                     'cells of one tile')
          associate (numbers => [(mesh%get_gid_from_lid(map(colour, tile, n)) - 1, &
                                  n=1, last_cells(colour, tile, depth))])
            call check(all(modulo(numbers, cells_x) / tile_size(1) == &
                           modulo(numbers(1), cells_x) / tile_size(1) .and. &
                           numbers / cells_x / tile_size(2) == &
                           numbers(1) / cells_x / tile_size(2)), 'tiles are cut from the plane')
          end associate
        end do
      end do
    end do
    call check_loop(mesh, mesh%get_last_edge_tile_all_colours(), &
                    mesh%get_last_edge_cell_all_colours_all_tiles(), mesh%get_last_edge_cell())
    deallocate (last_tiles, last_cells)
    allocate (last_tiles, source=mesh%get_last_inner_tile_all_colours())
    allocate (last_cells, source=mesh%get_last_inner_cell_all_colours_all_tiles())
    do depth = 1, mesh%get_inner_depth()
      call check_loop(mesh, last_tiles(:, depth), last_cells(:, :, depth), &
                      mesh%get_last_inner_cell(depth))
    end do
    call check_single_numbers(mesh)
  end subroutine check_tiles

  !> Check that what is asked for one colour and tile is what all of them have, and that loops to
  !> the deepest halo visit all.
  subroutine check_single_numbers(mesh)
    type(mesh_type), pointer, intent(in) :: mesh

    integer(i_def), allocatable :: inner_tiles(:, :), inner_cells(:, :, :)
    integer(i_def), allocatable :: halo_tiles(:, :), halo_cells(:, :, :)
    integer(i_def), allocatable :: edge_tiles(:), edge_cells(:, :)
    integer(i_def), pointer :: cells_of_tiles(:, :), map(:, :, :), tiles_of_colours(:)
    integer(i_def) :: colour, depth, ncolours, tile

    allocate (inner_tiles, source=mesh%get_last_inner_tile_all_colours())
    allocate (inner_cells, source=mesh%get_last_inner_cell_all_colours_all_tiles())
    allocate (edge_tiles, source=mesh%get_last_edge_tile_all_colours())
    allocate (edge_cells, source=mesh%get_last_edge_cell_all_colours_all_tiles())
    allocate (halo_tiles, source=mesh%get_last_halo_tile_all_colours())
    allocate (halo_cells, source=mesh%get_last_halo_cell_all_colours_all_tiles())
    call mesh%get_tiling(ncolours, tiles_of_colours, cells_of_tiles, map)
    call check(ncolours == mesh%get_ntilecolours(), 'the number of colours of tiles')
    call check(associated(map, mesh%get_coloured_tiling_map()), 'the map of tiles')
    call check(all(tiles_of_colours == mesh%get_last_halo_tile_all_colours_deepest()) .and. &
               all(tiles_of_colours == halo_tiles(:, deepest)), 'all tiles')
    call check(all(cells_of_tiles == halo_cells(:, :, deepest)) .and. &
               all(cells_of_tiles == mesh%get_last_halo_cell_all_colours_all_tiles_deepest()), &
               'all cells of tiles')
    call check(all(shape(map) == [ncolours, maxval(tiles_of_colours), maxval(cells_of_tiles)]), &
               'no room to spare')
    do colour = 1, ncolours
      call check(mesh%get_last_edge_tile_per_colour(colour) == edge_tiles(colour), 'owned tiles')
      call check(mesh%get_last_halo_tile_per_colour(colour) == tiles_of_colours(colour), &
                 'tiles of a colour')
      do depth = 1, mesh%get_inner_depth()
        call check(mesh%get_last_inner_tile_per_colour(colour, depth) == &
                   inner_tiles(colour, depth), 'inner tiles')
      end do
      do tile = 1, tiles_of_colours(colour)
        call check(mesh%get_last_edge_cell_per_colour_and_tile(colour, tile) == &
                   edge_cells(colour, tile), 'owned cells of a tile')
        call check(mesh%get_last_halo_cell_per_colour_and_tile(colour, tile) == &
                   cells_of_tiles(colour, tile), 'cells of a tile')
        call check(all(map(colour, tile, cells_of_tiles(colour, tile) + 1:) == 0), 'and no more')
        do depth = 1, mesh%get_inner_depth()
          call check(mesh%get_last_inner_cell_per_colour_and_tile(colour, tile, depth) == &
                     inner_cells(colour, tile, depth), 'inner cells of a tile')
        end do
      end do
    end do
  end subroutine check_single_numbers

  !> Check that a loop visits all cells to the last one, and that those of different tiles of one
  !> colour share no vertex.
  subroutine check_loop(mesh, last_tiles, last_cells, last_cell)
    type(mesh_type), pointer, intent(in) :: mesh
    integer(i_def), intent(in) :: last_tiles(:)
    integer(i_def), intent(in) :: last_cells(:, :)
    integer(i_def), intent(in) :: last_cell

    integer(i_def), pointer :: map(:, :, :)
    integer(i_def), allocatable :: tile_at(:), visits(:)
    integer(i_def) :: cell, colour, corner, place, tile, vertex

    map => mesh%get_coloured_tiling_map()
    allocate (tile_at(mesh%get_nverts_2d()), visits(mesh%get_ncells_2d()))
    visits = 0
    do colour = 1, mesh%get_ntilecolours()
      tile_at = 0
      do tile = 1, last_tiles(colour)
        call check(last_cells(colour, tile) > 0, 'no tile is without a cell')
        do place = 1, last_cells(colour, tile)
          cell = map(colour, tile, place)
          visits(cell) = visits(cell) + 1
          do corner = 1, 4
            vertex = mesh%get_vert_on_cell(corner, cell)
            call check(any(tile_at(vertex) == [0, tile]), 'tiles of a colour share no vertex')
            tile_at(vertex) = tile
          end do
        end do
      end do
    end do
    call check(all(visits(:last_cell) == 1), 'every cell is visited once')
    call check(all(visits(last_cell + 1:) == 0), 'and none beyond')
  end subroutine check_loop

end program tiles
