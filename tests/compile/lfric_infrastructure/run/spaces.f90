!> The dofs of every space: their number, and which cells share them.
program spaces

  use constants_mod, only: i_def
  use fs_continuity_mod
  use function_space_mod, only: function_space_type
  use mesh_mod, only: mesh_type
  use small_plane_mod, only: check, new_mesh, space

  implicit none

  ! On a biperiodic plane of c columns there are c vertices and 2 c edges.
  integer(i_def), parameter :: c = 24, layers = 5, levels = 6
  type(mesh_type), pointer :: mesh
  type(function_space_type), pointer :: fs
  integer(i_def), pointer :: map(:, :)

  mesh => new_mesh('plane', 6, 4)
  call expect(W0, 8, c * levels)
  call expect(W1, 12, 2 * c * levels + c * layers)
  call expect(W2, 6, 2 * c * layers + c * levels)
  call expect(W2H, 4, 2 * c * layers)
  call expect(W2V, 2, c * levels)
  call expect(W2broken, 6, 6 * c * layers)
  call expect(W2trace, 6, 2 * c * layers + c * levels)
  call expect(W3, 1, c * layers)
  call expect(Wtheta, 2, c * levels)

  ! The eastern face of a cell is the western face of the next, and levels follow one another.
  fs => space(mesh, W2)
  map => fs%get_whole_dofmap()
  call check(map(3, 1) == map(1, 2), 'east is the west of the next cell')
  call check(map(4, 1) == map(2, 7), 'north is the south of the next row')
  call check(map(3, 6) == map(1, 1), 'the plane is periodic')
  call check(map(6, 1) == map(5, 1) + 1, 'the top is one above the bottom')

contains

  subroutine expect(which, ndf, undf)
    integer(i_def), intent(in) :: which, ndf, undf

    fs => space(mesh, which)
    map => fs%get_whole_dofmap()
    call check(fs%get_ndf() == ndf, 'ndf of ' // name_from_functionspace(which))
    call check(fs%get_undf() == undf, 'undf of ' // name_from_functionspace(which))
    call check(minval(map) == 1, 'dofs start at 1 on ' // name_from_functionspace(which))
  end subroutine expect

end program spaces
