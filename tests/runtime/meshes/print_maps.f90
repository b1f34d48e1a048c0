!> Write what meshes and spaces are on each rank, to a file of its own: a line for each array, with
!> its name. Reals are written as the integers that have their bits.
program print_maps

  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use checks_mod, only: finish_checks, new_mesh, new_sphere, start_checks
  use constants_mod, only: i_def, i_halo_index, r_def
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: W0, W1, W2, W2broken, W2Htrace, W3, Wtheta
  use function_space_collection_mod, only: function_space_collection
  use function_space_mod, only: BASIS, DIFF_BASIS, function_space_type
  use global_sums_mod, only: sum_of_products, sum_of_values, use_exact_sums
  use lfric_mpi_mod, only: global_mpi
  use mesh_map_mod, only: mesh_map_type
  use mesh_mod, only: mesh_type
  use quadrature_face_mod, only: quadrature_face_type
  use quadrature_rule_gaussian_mod, only: quadrature_rule_gaussian_type
  use quadrature_xyoz_mod, only: quadrature_xyoz_proxy_type, quadrature_xyoz_type
  use stencil_2D_dofmap_mod, only: STENCIL_2D_CROSS, stencil_2D_dofmap_type
  use stencil_dofmap_mod, only: STENCIL_1DX, STENCIL_CROSS, stencil_dofmap_type, STENCIL_REGION

  implicit none

  integer(i_def), parameter :: spaces(7) = [W0, W1, W2, W2broken, W2Htrace, W3, Wtheta]
  type(mesh_type), pointer :: coarse, fine
  character(16) :: file
  integer :: unit

  call start_checks()
  write (file, '(a, i0)') 'maps.', global_mpi%get_comm_rank()
  open (newunit=unit, file=file, action='write')
  call show_mesh('plane', new_mesh('plane', .true., 9, 8, tile_size=[2, 3]))
  call show_mesh('bounded', new_mesh('bounded', .false., 7, 12))
  coarse => new_sphere('coarse', 4)
  fine => new_sphere('fine', 8, cells_together=2)
  call show_mesh('sphere', coarse)
  call show_map('down', coarse, fine)
  call show_map('up', fine, coarse)
  close (unit)
  call finish_checks()

contains

  !> Write a line of integers.
  subroutine show(name, values)
    character(*), intent(in) :: name
    integer(i_def), intent(in) :: values(:)

    write (unit, '(a, *(1x, i0))') name, values
  end subroutine show

  !> Write a line of reals.
  subroutine show_reals(name, values)
    character(*), intent(in) :: name
    real(r_def), intent(in) :: values(:)

    write (unit, '(a, *(1x, i0))') name, transfer(values, [0_int64])
  end subroutine show_reals

  !> Write what a mesh is, and the spaces over it.
  subroutine show_mesh(name, mesh)
    character(*), intent(in) :: name
    type(mesh_type), pointer, intent(in) :: mesh

    integer(i_def) :: cell, depth, n
    real(r_def), allocatable :: eta(:)

    call show(name // '/counts', [mesh%get_ncells_2d(), mesh%get_ncells_2d_with_ghost(), &
                                  mesh%get_last_edge_cell(), mesh%get_ncolours(), &
                                  mesh%get_ntilecolours()])
    call show(name // '/halo', [(mesh%get_last_halo_cell(depth), depth=1, 3)])
    call show(name // '/inner', [(mesh%get_last_inner_cell(depth), depth=1, 3)])
    associate (colours => mesh%get_colour_map(), tiles => mesh%get_coloured_tiling_map())
      call show(name // '/colours', reshape(colours, [size(colours)]))
      call show(name // '/tiles', reshape(tiles, [size(tiles)]))
    end associate
    call show(name // '/edge_of_colours', mesh%get_last_edge_cell_all_colours())
    associate (last => mesh%get_last_halo_cell_all_colours())
      call show(name // '/halo_of_colours', reshape(last, [size(last)]))
    end associate
    associate (last => mesh%get_last_halo_cell_all_colours_all_tiles())
      call show(name // '/halo_of_tiles', reshape(last, [size(last)]))
    end associate
    call show(name // '/ids', [(mesh%get_gid_from_lid(cell), cell=1, mesh%get_ncells_2d())])
    allocate (eta(mesh%get_nlayers() + 1))
    call mesh%get_eta(eta)
    call show_reals(name // '/eta', eta)
    do n = 1, size(spaces, kind=i_def)
      call show_space(name, mesh, spaces(n), 0)
    end do
    call show_space(name, mesh, W2, 1)
    call show_space(name, mesh, W0, 1)
  end subroutine show_mesh

  !> Write what a space over a mesh is.
  subroutine show_space(mesh_name, mesh, which, order)
    character(*), intent(in) :: mesh_name
    type(mesh_type), pointer, intent(in) :: mesh
    integer(i_def), intent(in) :: which
    integer(i_def), intent(in) :: order

    character(:), allocatable :: name
    character(64) :: words
    type(function_space_type), pointer :: space
    integer(i_def) :: depth
    integer(i_halo_index), allocatable :: ids(:)

    write (words, '(2a, 2(i0, a))') mesh_name, '/space', which, '_', order, '/'
    name = trim(words)
    space => function_space_collection%get_fs(mesh, order, order, which)
    call show(name // 'counts', [space%get_ndf(), space%get_undf(), space%get_ndof_glob(), &
                                 space%get_last_dof_owned(), space%get_last_dof_annexed()])
    call show(name // 'halo', [(space%get_last_dof_halo(depth), depth=1, 3)])
    associate (dofmap => space%get_whole_dofmap(), boundary => space%get_boundary_dofs())
      call show(name // 'dofmap', reshape(dofmap, [size(dofmap)]))
      call show(name // 'boundary', reshape(boundary, [size(boundary)]))
    end associate
    call space%get_global_dof_id(ids)
    call show(name // 'ids', int(ids, i_def))
    call show_stencils(name, space)
    call show_basis(name, space)
    call show_fields(name, space, ids)
  end subroutine show_space

  !> Write stencils of a space.
  subroutine show_stencils(name, space)
    character(*), intent(in) :: name
    type(function_space_type), pointer, intent(in) :: space

    type(stencil_dofmap_type), pointer :: map
    type(stencil_2D_dofmap_type), pointer :: map_2D
    integer(i_def), pointer :: dofmap(:, :, :), dofmap_2D(:, :, :, :), sizes_2D(:, :)
    integer(i_def), parameter :: forms(3) = [STENCIL_1DX, STENCIL_CROSS, STENCIL_REGION]
    character(16) :: words
    integer :: n

    do n = 1, 3
      write (words, '(a, i0)') 'stencil', n
      map => space%get_stencil_dofmap(forms(n), 1)
      dofmap => map%get_whole_dofmap()
      call show(name // trim(words), reshape(dofmap, [size(dofmap)]))
      call show(name // trim(words) // 'sizes', map%get_stencil_sizes())
    end do
    map_2D => space%get_stencil_2D_dofmap(STENCIL_2D_CROSS, 2)
    dofmap_2D => map_2D%get_whole_dofmap()
    sizes_2D => map_2D%get_stencil_sizes()
    call show(name // 'stencil4', reshape(dofmap_2D, [size(dofmap_2D)]))
    call show(name // 'stencil4sizes', reshape(sizes_2D, [size(sizes_2D)]))
  end subroutine show_stencils

  !> Write basis functions of a space at the points of quadratures.
  subroutine show_basis(name, space)
    character(*), intent(in) :: name
    type(function_space_type), pointer, intent(in) :: space

    type(mesh_type), pointer :: mesh
    type(quadrature_face_type) :: faces
    type(quadrature_rule_gaussian_type) :: rule
    type(quadrature_xyoz_type), target :: volume
    type(quadrature_xyoz_proxy_type) :: proxy
    real(r_def), allocatable :: values(:, :, :, :)

    mesh => space%get_mesh()
    volume = quadrature_xyoz_type(3, 2, 2, rule)
    proxy = volume%get_quadrature_proxy()
    call show_reals(name // 'weights', [proxy%weights_xy, proxy%weights_z])
    allocate (values(space%get_dim_space(), space%get_ndf(), 6, 2))
    call volume%compute_function(BASIS, space, space%get_dim_space(), space%get_ndf(), values)
    call show_reals(name // 'basis', reshape(values, [size(values)]))
    deallocate (values)
    allocate (values(space%get_dim_space_diff(), space%get_ndf(), 6, 2))
    call volume%compute_function(DIFF_BASIS, space, space%get_dim_space_diff(), &
                                 space%get_ndf(), values)
    call show_reals(name // 'diff_basis', reshape(values, [size(values)]))
    faces = quadrature_face_type(2, .true., .true., mesh%get_reference_element(), rule)
    deallocate (values)
    allocate (values(space%get_dim_space(), space%get_ndf(), 4, 6))
    call faces%compute_function(BASIS, space, space%get_dim_space(), space%get_ndf(), values)
    call show_reals(name // 'face_basis', reshape(values, [size(values)]))
  end subroutine show_basis

  !> Write the values of a field before and after an exchange, and sums.
  subroutine show_fields(name, space, ids)
    character(*), intent(in) :: name
    type(function_space_type), pointer, intent(in) :: space
    integer(i_halo_index), intent(in) :: ids(:)

    type(field_type) :: field
    type(field_proxy_type) :: proxy
    integer(i_def) :: owned

    call field%initialise(space, halo_depth=3)
    proxy = field%get_proxy()
    owned = space%get_last_dof_owned()
    proxy%data = ieee_value(1.0_real64, ieee_quiet_nan)
    proxy%data(:owned) = real(ids(:owned), r_def) / 7.0_r_def - 3.0_r_def
    call proxy%set_dirty()
    call proxy%halo_exchange(2)
    call show_reals(name // 'exchanged', proxy%data(:space%get_last_dof_halo(2)))
    call show(name // 'flags', [merge(1_i_def, 0_i_def, [proxy%is_dirty(1), proxy%is_dirty(2), &
                                                         proxy%is_dirty(3)])])
    call use_exact_sums(.true.)
    call show_reals(name // 'sums', [sum_of_values(proxy%data(:owned)), &
                                     sum_of_products(proxy%data(:owned), proxy%data(:owned))])
    call use_exact_sums(.false.)
    call show_reals(name // 'total', [sum_of_values(proxy%data(:min(owned, 1_i_def)))])
  end subroutine show_fields

  !> Write which cells of a mesh another one's cover.
  subroutine show_map(name, mesh, other)
    character(*), intent(in) :: name
    type(mesh_type), pointer, intent(in) :: mesh, other

    type(mesh_map_type), pointer :: map

    call mesh%add_mesh_map(other)
    map => mesh%get_mesh_map(other)
    associate (cells => map%get_whole_cell_map())
      call show(name, reshape(cells, [size(cells)]))
    end associate
  end subroutine show_map

end program print_maps
