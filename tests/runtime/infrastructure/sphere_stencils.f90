!> Stencils and maps on a cubed sphere, against the places of cells on the cube.
!>
!> Seen from a panel, a row of its cells goes on round the cube at the same height. So how far a
!> cell is along a row needs no neighbours to be known.
program sphere_stencils

  use checks_mod, only: check, deepest, finish_checks, layers, new_sphere, space, start_checks
  use constants_mod, only: i_def, i_halo_index, r_def
  use coord_transform_mod, only: PANEL_ROT_MATRIX
  use fs_continuity_mod, only: W3
  use function_space_mod, only: function_space_type
  use mesh_map_mod, only: mesh_map_type
  use mesh_mod, only: mesh_type
  use stencil_2D_dofmap_mod, only: STENCIL_2D_CROSS, stencil_2D_dofmap_type
  use stencil_dofmap_mod, only: STENCIL_1DX, STENCIL_1DY, STENCIL_CROSS, STENCIL_POINT, &
                                STENCIL_REGION, stencil_dofmap_type
  use surface_mod, only: sides

  implicit none

  integer(i_def), parameter :: off_row = huge(0_i_def)
  integer(i_def), parameter :: shapes(5) = &
    [STENCIL_POINT, STENCIL_1DX, STENCIL_1DY, STENCIL_CROSS, STENCIL_REGION]
  type(mesh_type), pointer :: mesh, finer
  integer(i_def) :: edge_cells, extent
  integer(i_halo_index), allocatable :: ids(:)
  type(function_space_type), pointer :: fs

  call start_checks()
  do edge_cells = 4, 5
    mesh => new_sphere(merge('even', 'odd ', edge_cells == 4), edge_cells)
    fs => space(mesh, W3)
    call fs%get_global_dof_id(ids)
    do extent = 1, deepest
      call lists_have_their_cells()
      call branches_go_straight()
    end do
  end do
  mesh => new_sphere('wide', 4_i_def)
  finer => new_sphere('narrow', 8_i_def, cells_together=2_i_def)
  call mesh%add_mesh_map(finer)
  call finer%add_mesh_map(mesh)
  call cells_cover_cells()
  call finish_checks()

contains

  !> Check the stencils that are one list of cells.
  subroutine lists_have_their_cells()
    type(stencil_dofmap_type), pointer :: stencil
    integer(i_def), pointer :: dofs(:, :, :), sizes(:)
    integer(i_def) :: cell, n

    do n = 1, size(shapes, kind=i_def)
      stencil => fs%get_stencil_dofmap(shapes(n), extent)
      dofs => stencil%get_whole_dofmap()
      sizes => stencil%get_stencil_sizes()
      do cell = 1, mesh%get_last_edge_cell()
        call check_list(cells_of(dofs(1, :sizes(cell), cell)), mesh%get_gid_from_lid(cell), &
                        shapes(n))
      end do
    end do
  end subroutine lists_have_their_cells

  !> Check that a stencil begins with its cell, and has all cells that it should, once.
  subroutine check_list(found, origin, shape)
    integer(i_def), intent(in) :: found(:)
    integer(i_def), intent(in) :: origin, shape

    integer(i_def) :: cell, number
    logical :: in_x, in_y

    call check(found(1) == origin, 'a stencil begins with its cell')
    do cell = 1, mesh_cells()
      number = count(found == cell, kind=i_def)
      in_x = abs(steps_along(2, origin, cell)) <= extent
      in_y = abs(steps_along(3, origin, cell)) <= extent
      select case (shape)
      case (STENCIL_POINT)
        in_x = cell == origin
        in_y = in_x
      case (STENCIL_1DX)
        in_y = in_x
      case (STENCIL_1DY)
        in_x = in_y
      case (STENCIL_REGION)
        call check_region(number, origin, cell, in_x .or. in_y)
        cycle
      end select
      call check(number == merge(1, 0, in_x .or. in_y), 'a stencil has the cells of its shape')
    end do
  end subroutine check_list

  !> Check how often a region has a cell. At extent 1 it has those at the vertices; on its own panel
  !> it has what a region of a plane has; it has its cross, and no cell twice.
  subroutine check_region(number, origin, cell, in_cross)
    integer(i_def), intent(in) :: number, origin, cell
    logical, intent(in) :: in_cross

    integer(i_def) :: apart(3)

    call check(number <= 1, 'a region has no cell twice')
    call check(number == 1 .or. .not. in_cross, 'a region has its cross')
    if (extent == 1) call check((number == 1) .eqv. (in_cross .or. meet_at_corner(origin, cell)), &
                                'a region of one step has the cells at the vertices')
    if (panel_of(cell) /= panel_of(origin)) return
    apart = abs(place_of(cell) - place_of(origin)) / 2
    call check((number == 1) .eqv. all(apart <= extent), 'a region is square on its panel')
  end subroutine check_region

  !> Return whether the corners of two cells meet on the cube.
  function meet_at_corner(one, two) result(meet)
    integer(i_def), intent(in) :: one, two
    logical :: meet

    integer(i_def) :: one_corner, two_corner

    meet = .false.
    do one_corner = 1, sides
      do two_corner = 1, sides
        meet = meet .or. all(corner_of(one, one_corner) == corner_of(two, two_corner))
      end do
    end do
  end function meet_at_corner

  !> Check that the branches of a cross go to their sides, step by step.
  subroutine branches_go_straight()
    integer(i_def), parameter :: axes(sides) = [2, 3, 2, 3]
    integer(i_def), parameter :: signs(sides) = [-1, -1, 1, 1]
    type(stencil_2D_dofmap_type), pointer :: stencil
    integer(i_def), pointer :: dofs(:, :, :, :), sizes(:, :)
    integer(i_def), allocatable :: branch(:)
    integer(i_def) :: cell, side, step

    stencil => fs%get_stencil_2D_dofmap(STENCIL_2D_CROSS, extent)
    dofs => stencil%get_whole_dofmap()
    sizes => stencil%get_stencil_sizes()
    do cell = 1, mesh%get_last_edge_cell()
      do side = 1, sides
        call check(sizes(side, cell) == extent + 1, 'no branch meets a border')
        branch = cells_of(dofs(1, :extent + 1, side, cell))
        do step = 0, extent
          call check(steps_along(axes(side), branch(1), branch(step + 1)) == signs(side) * step, &
                     'a branch goes straight to its side')
        end do
      end do
    end do
  end subroutine branches_go_straight

  !> Return the cells over all ranks of dofs of W3, which has one for each layer of a cell.
  function cells_of(dofs) result(cells)
    integer(i_def), intent(in) :: dofs(:)
    integer(i_def), allocatable :: cells(:)

    cells = int(ids(dofs), i_def) / layers + 1
  end function cells_of

  !> Return the number of cells of the sphere.
  function mesh_cells() result(number)
    integer(i_def) :: number

    number = 6 * edge_cells**2
  end function mesh_cells

  !> Return the panel of a cell.
  function panel_of(cell) result(panel)
    integer(i_def), intent(in) :: cell
    integer(i_def) :: panel

    panel = (cell - 1) / edge_cells**2 + 1
  end function panel_of

  !> Return the place of the middle of a cell on the cube, in half cells from its centre.
  function place_of(cell) result(place)
    integer(i_def), intent(in) :: cell
    integer(i_def) :: place(3)

    integer(i_def) :: n

    n = modulo(cell - 1, edge_cells**2)
    place = matmul(PANEL_ROT_MATRIX(:, :, panel_of(cell)), &
                   [edge_cells, 2 * modulo(n, edge_cells) + 1 - edge_cells, &
                    2 * (n / edge_cells) + 1 - edge_cells])
  end function place_of

  !> Return the place of a corner of a cell on the cube.
  function corner_of(cell, corner) result(place)
    integer(i_def), intent(in) :: cell, corner
    integer(i_def) :: place(3)

    integer(i_def), parameter :: right(sides) = [-1, 1, 1, -1], up(sides) = [-1, -1, 1, 1]

    place = place_of(cell) + matmul(PANEL_ROT_MATRIX(:, :, panel_of(cell)), &
                                    [0_i_def, right(corner), up(corner)])
  end function corner_of

  !> Return how many steps a cell is along a row of another, in x (2) or y (3), the short way round;
  !> off_row if it is not in it.
  function steps_along(axis, origin, cell) result(steps)
    integer(i_def), intent(in) :: axis, origin, cell
    integer(i_def) :: steps

    integer(i_def) :: from(3), to(3), round

    associate (turn => PANEL_ROT_MATRIX(:, :, panel_of(origin)))
      from = matmul(place_of(origin), turn)
      to = matmul(place_of(cell), turn)
    end associate
    steps = off_row
    if (to(5 - axis) /= from(5 - axis)) return
    ! How far it is round the cube from the middle of the panel: along the axis, down the next
    ! panel, back behind, and up again.
    if (to(1) == edge_cells) then
      round = to(axis)
    else if (to(axis) == edge_cells) then
      round = 2 * edge_cells - to(1)
    else if (to(1) == -edge_cells) then
      round = 4 * edge_cells - to(axis)
    else
      round = 6 * edge_cells + to(1)
    end if
    steps = (modulo(round - from(axis) + 4 * edge_cells, 8 * edge_cells) - 4 * edge_cells) / 2
  end function steps_along

  !> Check that a cell covers four of the finer mesh, which have its corners and are in it.
  subroutine cells_cover_cells()
    type(mesh_map_type), pointer :: down, up
    integer(i_def), pointer :: covered(:, :, :), covering(:, :, :)
    real(r_def) :: wide(3, 8), narrow(3, 8)
    integer(i_def) :: cell, corner, i, j
    integer(i_def), parameter :: right(sides) = [1, 2, 2, 1], up_to(sides) = [1, 1, 2, 2]

    down => mesh%get_mesh_map(finer)
    up => finer%get_mesh_map(mesh)
    covered => down%get_whole_cell_map()
    covering => up%get_whole_cell_map()
    call check(all(shape(covered(:, :, 1)) == 2), 'four cells are covered')
    do cell = 1, mesh%get_last_edge_cell()
      call mesh%get_cell_coords(cell, wide)
      do corner = 1, sides
        i = covered(right(corner), up_to(corner), cell)
        call finer%get_cell_coords(i, narrow)
        call check(norm2(wide(:, corner) - narrow(:, corner)) < 1.0e-13_r_def, 'a corner is shared')
      end do
      do j = 1, 2
        do i = 1, 2
          call check(all(covering(:, :, covered(i, j, cell)) == cell), 'there and back')
        end do
      end do
    end do
  end subroutine cells_cover_cells

end program sphere_stencils
