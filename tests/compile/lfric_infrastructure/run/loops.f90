!> What loops visit: colours, tiles, stencils and inter-grid maps.
program loops

  use constants_mod, only: i_def
  use fs_continuity_mod, only: W3
  use function_space_mod, only: function_space_type
  use mesh_map_mod, only: mesh_map_type
  use mesh_mod, only: mesh_type
  use small_plane_mod, only: check, new_mesh, space
  use stencil_2D_dofmap_mod, only: STENCIL_2D_CROSS, stencil_2D_dofmap_type
  use stencil_dofmap_mod, only: STENCIL_1DX, STENCIL_CROSS, STENCIL_REGION, stencil_dofmap_type

  implicit none

  type(mesh_type), pointer :: mesh, odd, coarse

  mesh => new_mesh('plane', 6, 4)
  odd => new_mesh('odd', 5, 3)
  coarse => new_mesh('coarse', 3, 2)
  call check(mesh%get_ncolours() == 4, 'an even plane has four colours')
  call colours_are_apart(mesh)
  call colours_are_apart(odd)
  call stencils_reach()
  call maps_nest()

contains

  !> Check that every cell has a colour, and that no two cells of a colour share a vertex.
  subroutine colours_are_apart(some_mesh)
    type(mesh_type), pointer, intent(in) :: some_mesh

    integer(i_def), pointer :: colour_map(:, :), tiling(:, :, :)
    integer(i_def), allocatable :: last(:, :)
    integer(i_def), allocatable :: visits(:)
    integer(i_def) :: cell, cells, colour, corner, i, vertex

    allocate (visits(some_mesh%get_nverts_2d()))
    colour_map => some_mesh%get_colour_map()
    tiling => some_mesh%get_coloured_tiling_map()
    allocate (last, source=some_mesh%get_last_halo_cell_all_colours())
    cells = 0
    do colour = 1, some_mesh%get_ncolours()
      visits = 0
      do i = 1, last(colour, 1)
        cell = colour_map(colour, i)
        cells = cells + 1
        call check(tiling(colour, i, 1) == cell, 'a tile is a cell')
        do corner = 1, 4
          vertex = some_mesh%get_vert_on_cell(corner, cell)
          visits(vertex) = visits(vertex) + 1
        end do
      end do
      call check(maxval(visits) == 1, 'cells of a colour share no vertex')
    end do
    call check(cells == some_mesh%get_last_edge_cell(), 'every cell has a colour')
  end subroutine colours_are_apart

  !> Check stencils around cell 8 of rows of six, by the cells that they list.
  subroutine stencils_reach()
    type(function_space_type), pointer :: fs
    type(stencil_dofmap_type), pointer :: stencil
    type(stencil_2D_dofmap_type), pointer :: cross_2D
    integer(i_def), pointer :: map_2D(:, :, :, :), sizes_2D(:, :)

    fs => space(mesh, W3)
    call check(all(cells_of(STENCIL_1DX, 1) == [8, 7, 9]), '1DX is centre, west, east')
    call check(all(cells_of(STENCIL_CROSS, 1) == [8, 7, 2, 9, 14]), 'cross is W, S, E, N')
    call check(all(cells_of(STENCIL_REGION, 1) == [8, 7, 1, 2, 3, 9, 15, 14, 13]), 'region')
    stencil => fs%get_stencil_dofmap(STENCIL_CROSS, 2)
    call check(stencil%get_local_size(8) == 8, 'a cell met twice is listed once')
    call check(associated(stencil, fs%get_stencil_dofmap(STENCIL_CROSS, 2)), 'maps are shared')
    cross_2D => fs%get_stencil_2D_dofmap(STENCIL_2D_CROSS, 1)
    map_2D => cross_2D%get_whole_dofmap()
    sizes_2D => cross_2D%get_stencil_sizes()
    call check(all(sizes_2D == 2), 'a branch is the centre and one more')
    call check(all(map_2D(1, 1, :, 8) == dof(8)), 'branches start at the centre')
    call check(all(map_2D(1, 2, :, 8) == dof([7, 2, 9, 14])), 'branches are W, S, E, N')
  end subroutine stencils_reach

  !> Return the cells of the stencil of cell 8.
  function cells_of(shape, extent) result(cells)
    integer(i_def), intent(in) :: shape, extent
    integer(i_def), allocatable :: cells(:)

    type(function_space_type), pointer :: fs
    type(stencil_dofmap_type), pointer :: stencil
    integer(i_def), pointer :: map(:, :)

    fs => space(mesh, W3)
    stencil => fs%get_stencil_dofmap(shape, extent)
    map => stencil%get_dofmap(8)
    allocate (cells, source=(map(1, :) - 1) / 5 + 1)
  end function cells_of

  !> Return the lowest W3 dof of a cell.
  elemental function dof(cell)
    integer(i_def), intent(in) :: cell
    integer(i_def) :: dof

    dof = 1 + (cell - 1) * 5
  end function dof

  !> Check the map between two meshes of one plane, both ways.
  subroutine maps_nest()
    type(mesh_map_type), pointer :: down, up
    integer(i_def), pointer :: fine_cells(:, :, :), coarse_cells(:, :, :)
    integer(i_def) :: cell

    call coarse%add_mesh_map(mesh)
    call mesh%add_mesh_map(coarse)
    down => coarse%get_mesh_map(mesh)
    up => mesh%get_mesh_map(coarse)
    fine_cells => down%get_whole_cell_map()
    coarse_cells => up%get_whole_cell_map()
    call check(down%get_ntarget_cells_per_source_cell() == 4, 'four fine cells in a coarse one')
    call check(all(reshape(fine_cells(:, :, 2), [4]) == [3, 4, 9, 10]), 'cells of the second')
    do cell = 1, coarse%get_ncells_2d()
      call check(all(coarse_cells(1, 1, [fine_cells(:, :, cell)]) == cell), 'there and back')
    end do
  end subroutine maps_nest

end program loops
