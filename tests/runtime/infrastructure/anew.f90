!> Meshes and spaces that are given back and made anew: a device reads the maps of the new ones,
!> also where these lie at the place, and have the size, of maps that it has read before. Whichever
!> arrays are forgotten, the others are still known.
program anew

  use, intrinsic :: iso_c_binding, only: c_intptr_t, c_loc, c_ptr
  use checks_mod, only: check, finish_checks, new_mesh, start_checks
  use constants_mod, only: i_def
  use fs_continuity_mod, only: W0, W2, W3
  use function_space_collection_mod, only: function_space_collection
  use function_space_mod, only: function_space_type
  use mesh_collection_mod, only: mesh_collection
  use mesh_mod, only: mesh_type
  use mesh_map_mod, only: mesh_map_type
  use stencil_2D_dofmap_mod, only: STENCIL_2D_CROSS, stencil_2D_dofmap_type
  use stencil_dofmap_mod, only: STENCIL_CROSS, stencil_dofmap_type
  use storage_tables_mod, only: acquire_table, forget_table, release_table
  use storage_constants_mod, only: space_device

  implicit none

  integer(i_def), parameter :: kinds(3) = [W0, W2, W3]

  !> An array, and what the device has of it.
  type :: array_type
    integer(i_def), pointer, contiguous :: here(:) => null(), there(:) => null()
  end type array_type

  !> Where maps were, by kind of map, and how often one is where another of its kind was.
  integer(c_intptr_t), allocatable :: places(:, :)
  integer :: reused(6) = 0
  integer(i_def) :: values
  integer :: n, round

  allocate (places(2, 0))
  call start_checks()
  do round = 1, 8
    values = 1 + modulo(round, 2)
    if (values == 1) then
      call read_maps(4, 6)
    else
      call read_maps(6, 4)
    end if
    call function_space_collection%clear()
    call mesh_collection%clear()
  end do
  do n = 2, 7
    call forget_some(n)
  end do
  print '(a, 6(1x, l1))', 'reused', (reused(n) > 0, n=1, size(reused))
  call finish_checks()

contains

  !> Make meshes and spaces, and read their maps on the device.
  subroutine read_maps(cells_x, cells_y)
    integer(i_def), intent(in) :: cells_x, cells_y

    type(mesh_type), pointer :: coarse, mesh
    type(mesh_map_type), pointer :: between
    type(function_space_type), pointer :: fs
    type(stencil_dofmap_type), pointer :: stencil
    type(stencil_2D_dofmap_type), pointer :: cross
    integer(i_def), pointer, contiguous :: map_2(:, :), map_3(:, :, :), map_4(:, :, :, :)
    integer :: n

    mesh => new_mesh('fine', .true., 2 * cells_x, 2 * cells_y, tile_size=[2_i_def, 1_i_def])
    coarse => new_mesh('coarse', .true., cells_x, cells_y)
    call coarse%add_mesh_map(mesh)
    between => coarse%get_mesh_map(mesh)
    map_2 => mesh%get_colour_map()
    call read_2(map_2, 1)
    map_2 => mesh%get_adjacent_face()
    call read_2(map_2, 1)
    map_3 => mesh%get_coloured_tiling_map()
    call read_3(map_3, 2)
    map_3 => between%get_whole_cell_map()
    call read_3(map_3, 3)
    do n = 1, size(kinds)
      fs => function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, kinds(n), values)
      map_2 => fs%get_whole_dofmap()
      call read_2(map_2, 4)
      map_2 => fs%get_boundary_dofs()
      call read_2(map_2, 4)
      stencil => fs%get_stencil_dofmap(STENCIL_CROSS, 1_i_def)
      map_3 => stencil%get_whole_dofmap()
      call read_3(map_3, 5)
      cross => fs%get_stencil_2D_dofmap(STENCIL_2D_CROSS, 1_i_def)
      map_2 => cross%get_stencil_sizes()
      call read_2(map_2, 6)
      map_4 => cross%get_whole_dofmap()
      call read_4(map_4, 6)
    end do
  end subroutine read_maps

  !> Forget all but each of so many arrays, while the device holds the others.
  subroutine forget_some(among)
    integer, intent(in) :: among

    type(array_type) :: arrays(1000)
    integer :: n

    do n = 1, size(arrays)
      allocate (arrays(n)%here(1 + modulo(n * n, 11)), source=int(n, i_def))
      call acquire_table(arrays(n)%here, space_device, arrays(n)%there)
    end do
    do n = 1, size(arrays)
      if (modulo(n, among) == 0) cycle
      call release_table(arrays(n)%here, space_device)
      call forget_table(arrays(n)%here)
      call forget_table(arrays(n)%here)
      deallocate (arrays(n)%here)
    end do
    do n = among, size(arrays), among
      call check(all(arrays(n)%there == n), 'what the device holds while others are forgotten')
      ! Of an array that nobody holds the program would stop here.
      call release_table(arrays(n)%here, space_device)
      call forget_table(arrays(n)%here)
      deallocate (arrays(n)%here)
    end do
  end subroutine forget_some

  subroutine read_2(map, kind)
    integer(i_def), pointer, contiguous, intent(in) :: map(:, :)
    integer, intent(in) :: kind

    integer(i_def), pointer, contiguous :: there(:, :)

    call note_place(c_loc(map), size(map), kind)
    call acquire_table(map, space_device, there)
    call check(all(there == map), 'what the device has of a map with two dimensions')
    call release_table(map, space_device)
  end subroutine read_2

  subroutine read_3(map, kind)
    integer(i_def), pointer, contiguous, intent(in) :: map(:, :, :)
    integer, intent(in) :: kind

    integer(i_def), pointer, contiguous :: there(:, :, :)

    call note_place(c_loc(map), size(map), kind)
    call acquire_table(map, space_device, there)
    call check(all(there == map), 'what the device has of a map with three dimensions')
    call release_table(map, space_device)
  end subroutine read_3

  subroutine read_4(map, kind)
    integer(i_def), pointer, contiguous, intent(in) :: map(:, :, :, :)
    integer, intent(in) :: kind

    integer(i_def), pointer, contiguous :: there(:, :, :, :)

    call note_place(c_loc(map), size(map), kind)
    call acquire_table(map, space_device, there)
    call check(all(there == map), 'what the device has of a map with four dimensions')
    call release_table(map, space_device)
  end subroutine read_4

  !> Note where a map is, and whether another one of its size was there.
  subroutine note_place(address, numbers, kind)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: numbers, kind

    integer(c_intptr_t) :: place(2)

    place = [transfer(address, place(1)), int(numbers, c_intptr_t)]
    if (any(places(1, :) == place(1) .and. places(2, :) == place(2))) then
      reused(kind) = reused(kind) + 1
    else
      places = reshape([places, place], [2, size(places, 2) + 1])
    end if
  end subroutine note_place

end program anew
