!> What a PSy layer of 2019 asks of the infrastructure, where it differs from today's.
subroutine invoke_2019(f, coarse)
  use constants_mod, only: i_def
  use field_mod, only: field_proxy_type, field_type
  use mesh_map_mod, only: mesh_map_type
  use mesh_mod, only: mesh_type
  use stencil_dofmap_mod, only: STENCIL_CROSS, stencil_dofmap_type

  implicit none
  type(field_type), intent(inout) :: f, coarse

  type(field_proxy_type) :: f_proxy, coarse_proxy
  type(mesh_type), pointer :: mesh, coarse_mesh
  type(mesh_map_type), pointer :: mesh_map
  type(stencil_dofmap_type), pointer :: stencil
  integer(i_def), pointer :: orientation(:), map(:), cell_map(:, :, :)
  integer(i_def) :: colour

  f_proxy = f%get_proxy()
  coarse_proxy = coarse%get_proxy()
  mesh => f_proxy%vspace%get_mesh()
  coarse_mesh => coarse_proxy%vspace%get_mesh()
  stencil => f_proxy%vspace%get_stencil_dofmap(STENCIL_CROSS, 1)
  orientation => f_proxy%vspace%get_cell_orientation(1)
  map => f_proxy%vspace%get_cell_dofmap(1)
  mesh_map => coarse_mesh%get_mesh_map(mesh)
  cell_map => mesh_map%get_whole_cell_map()
  do colour = 1, mesh%get_ncolours()
    print *, mesh%get_last_halo_cell_per_colour(colour, 1), mesh%get_last_edge_cell_per_colour(1)
  end do
  print *, stencil%get_size(), orientation(1), map(1), cell_map(1, 1, 1)
  print *, mesh_map%get_ntarget_cells_per_source_cell()
end subroutine invoke_2019
