!> Stencils of every shape and extent, cell by cell, against the distances in x and in y.
program stencils

  use checks_mod, only: check, deepest, finish_checks, layers, new_mesh, space, start_checks
  use constants_mod, only: i_def, i_halo_index
  use fs_continuity_mod, only: W3
  use function_space_mod, only: function_space_type
  use mesh_mod, only: mesh_type
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
    type(stencil_dofmap_type), pointer :: stencil
    integer(i_halo_index), allocatable :: ids(:)
    integer(i_def), pointer :: dofs(:, :, :), sizes(:)
    integer(i_def) :: cell, extent, n

    mesh => new_mesh(name, periodic, cells(1), cells(2))
    fs => space(mesh, W3)
    call fs%get_global_dof_id(ids)
    do n = 1, size(shapes, kind=i_def)
      do extent = 1, deepest
        stencil => fs%get_stencil_dofmap(shapes(n), extent)
        dofs => stencil%get_whole_dofmap()
        sizes => stencil%get_stencil_sizes()
        do cell = 1, mesh%get_last_edge_cell()
          ! A column of W3 has one dof for each layer, and columns are numbered as cells are.
          call check_stencil(int(ids(dofs(1, :sizes(cell), cell)), i_def) / layers, &
                             mesh%get_gid_from_lid(cell) - 1, cells, periodic, shapes(n), extent)
        end do
      end do
    end do
  end subroutine check_plane

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
  function is_reached(cell, origin, cells, periodic, shape, extent)
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
