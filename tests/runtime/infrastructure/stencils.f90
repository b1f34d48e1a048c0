!> Stencils of every shape and extent, cell by cell, against the distances in x and in y.
program stencils

  use checks_mod, only: check, deepest, finish_checks, layers, new_mesh, space, start_checks
  use constants_mod, only: i_def, i_halo_index
  use fs_continuity_mod, only: W3
  use function_space_mod, only: function_space_type
  use mesh_mod, only: mesh_type
  use stencil_2D_dofmap_mod, only: STENCIL_2D_CROSS, stencil_2D_dofmap_type
  use stencil_dofmap_mod, only: STENCIL_1DX, STENCIL_1DY, STENCIL_CROSS, STENCIL_POINT, &
                                STENCIL_REGION, stencil_dofmap_type

  implicit none

  integer(i_def), parameter :: shapes(5) = &
    [STENCIL_POINT, STENCIL_1DX, STENCIL_1DY, STENCIL_CROSS, STENCIL_REGION]

  call start_checks()
  call check_plane('periodic', .true., [9, 7])
  call check_plane('small', .true., [3, 4])
  call check_plane('bounded', .false., [7, 5])
  call finish_checks()

contains

  !> Check all stencils of the cells that a rank owns on a plane of a size.
  subroutine check_plane(name, periodic, cells)
    character(*), intent(in) :: name
    logical, intent(in) :: periodic
    integer(i_def), intent(in) :: cells(2)

    type(mesh_type), pointer :: mesh
    type(function_space_type), pointer :: fs
    type(stencil_dofmap_type), pointer :: again, stencil
    integer(i_halo_index), allocatable :: ids(:)
    integer(i_def), pointer :: dofs(:, :, :), sizes(:)
    integer(i_def) :: cell, extent, n, places

    mesh => new_mesh(name, periodic, cells(1), cells(2))
    fs => space(mesh, W3)
    call fs%get_global_dof_id(ids)
    do n = 1, size(shapes, kind=i_def)
      do extent = 1, deepest
        stencil => fs%get_stencil_dofmap(shapes(n), extent)
        dofs => stencil%get_whole_dofmap()
        sizes => stencil%get_stencil_sizes()
        places = size(dofs, 2, i_def)
        call check(stencil%get_size() == places, 'the size of a stencil within the plane')
        again => fs%get_stencil_dofmap(shapes(n), extent)
        call check(associated(again, stencil), 'stencils are made once')
        do cell = 1, mesh%get_last_edge_cell()
          call check(stencil%get_local_size(cell) == sizes(cell), 'the size of one stencil')
          call check(all(stencil%get_dofmap(cell) == dofs(:, :, cell)), 'the dofs of one stencil')
          call check(all(dofs(:, sizes(cell) + 1:, cell) == 0), 'and none beyond')
          ! A column of W3 has one dof for each layer, and columns are numbered as cells are.
          call check_stencil(int(ids(dofs(1, :sizes(cell), cell)), i_def) / layers, &
                             mesh%get_gid_from_lid(cell) - 1, cells, periodic, shapes(n), extent)
        end do
        call again%clear()
        call again%clear()
        if (all(cells > 2 * extent)) &
          call check(places == size_within(shapes(n), extent), 'the size within a plane')
      end do
    end do
    do extent = 1, deepest
      call check_branches(fs, extent, cells, periodic)
    end do
  end subroutine check_plane

  !> Return the number of cells of a stencil that neither ends at a border nor meets itself.
  pure function size_within(shape, extent)
    integer(i_def), intent(in) :: shape, extent
    integer(i_def) :: size_within

    integer(i_def), parameter :: cells(2) = 2 * deepest + 1
    integer(i_def), parameter :: origin = deepest + deepest * cells(1)
    integer(i_def) :: cell

    size_within = count([(is_reached(cell, origin, cells, .false., shape, extent), &
                          cell=0, product(cells) - 1)], kind=i_def)
  end function size_within

  !> Check the branches of crosses: each begins with the cell, goes one way, and ends at a border or
  !> where it is back.
  subroutine check_branches(fs, extent, cells, periodic)
    type(function_space_type), pointer, intent(in) :: fs
    integer(i_def), intent(in) :: extent
    integer(i_def), intent(in) :: cells(2)
    logical, intent(in) :: periodic

    integer(i_def), parameter :: steps(2, 4) = reshape([-1, 0, 0, -1, 1, 0, 0, 1], [2, 4])
    type(mesh_type), pointer :: mesh
    type(stencil_2D_dofmap_type), pointer :: again, stencil
    integer(i_halo_index), allocatable :: ids(:)
    integer(i_def), pointer :: dofs(:, :, :, :), sizes(:, :)
    integer(i_def) :: at(2), branch, cell, length, origin(2), place

    mesh => fs%get_mesh()
    call fs%get_global_dof_id(ids)
    stencil => fs%get_stencil_2D_dofmap(STENCIL_2D_CROSS, extent)
    again => fs%get_stencil_2D_dofmap(STENCIL_2D_CROSS, extent)
    call check(associated(again, stencil), 'crosses are made once')
    dofs => stencil%get_whole_dofmap()
    sizes => stencil%get_stencil_sizes()
    call check(all(shape(dofs) == [fs%get_ndf(), extent + 1, 4, mesh%get_ncells_2d()]) .and. &
               all(shape(sizes) == [4, mesh%get_ncells_2d()]), 'four branches for each cell')
    do cell = 1, mesh%get_last_edge_cell()
      call check(all(stencil%get_dofmap(cell) == dofs(:, :, :, cell)), 'the dofs of one cross')
      origin = [modulo(mesh%get_gid_from_lid(cell) - 1, cells(1)), &
                (mesh%get_gid_from_lid(cell) - 1) / cells(1)]
      do branch = 1, 4
        length = 0
        do place = 1, extent + 1
          at = origin + (place - 1) * steps(:, branch)
          if (periodic) at = modulo(at, cells)
          if (any(at < 0 .or. at >= cells) .or. (place > 1 .and. all(at == origin))) exit
          length = place
          call check(ids(dofs(1, place, branch, cell)) / layers == at(1) + at(2) * cells(1), &
                     'a branch goes one way')
        end do
        call check(sizes(branch, cell) == length, 'a branch ends at a border')
        call check(all(dofs(:, length + 1:, branch, cell) == 0), 'and has no dofs beyond')
      end do
    end do
    call again%clear()
    call again%clear()
  end subroutine check_branches

  !> Check that a stencil begins with its cell, and has all cells that it should, once.
  subroutine check_stencil(found, origin, cells, periodic, shape, extent)
    integer(i_def), intent(in) :: found(:)
    integer(i_def), intent(in) :: origin
    integer(i_def), intent(in) :: cells(2)
    logical, intent(in) :: periodic
    integer(i_def), intent(in) :: shape, extent

    integer(i_def) :: cell, wanted

    call check(found(1) == origin, 'a stencil begins with its cell')
    do cell = 0, product(cells) - 1
      wanted = merge(1_i_def, 0_i_def, is_reached(cell, origin, cells, periodic, shape, extent))
      call check(count(found == cell) == wanted, 'a stencil has the cells that its shape says')
    end do
  end subroutine check_stencil

  !> Return whether a shape of an extent reaches from one cell, from 0, to another.
  pure function is_reached(cell, origin, cells, periodic, shape, extent)
    integer(i_def), intent(in) :: cell, origin
    integer(i_def), intent(in) :: cells(2)
    logical, intent(in) :: periodic
    integer(i_def), intent(in) :: shape, extent
    logical :: is_reached

    integer(i_def) :: apart(2)

    apart = abs([modulo(cell, cells(1)) - modulo(origin, cells(1)), &
                 cell / cells(1) - origin / cells(1)])
    if (periodic) apart = min(apart, cells - apart)
    is_reached = all(apart <= extent)
    select case (shape)
    case (STENCIL_POINT)
      is_reached = cell == origin
    case (STENCIL_1DX)
      is_reached = is_reached .and. apart(2) == 0
    case (STENCIL_1DY)
      is_reached = is_reached .and. apart(1) == 0
    case (STENCIL_CROSS)
      is_reached = is_reached .and. any(apart == 0)
    end select
  end function is_reached

end program stencils
