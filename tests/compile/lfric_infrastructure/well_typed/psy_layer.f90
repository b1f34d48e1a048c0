!> What a PSy layer of today asks of the infrastructure, one call of each.
module psy_layer_mod

  use columnwise_operator_mod, only: columnwise_operator_proxy_type, columnwise_operator_type
  use constants_mod, only: i_def, l_def, r_bl, r_def, r_solver, r_tran
  use field_mod, only: field_proxy_type, field_type
  use function_space_mod, only: BASIS, DIFF_BASIS
  use integer_field_mod, only: integer_field_proxy_type, integer_field_type
  use log_mod, only: log_event, LOG_LEVEL_ERROR
  use mesh_map_mod, only: mesh_map_type
  use mesh_mod, only: mesh_type
  use operator_mod, only: operator_proxy_type, operator_type
  use quadrature_edge_mod, only: quadrature_edge_proxy_type, quadrature_edge_type
  use quadrature_face_mod, only: quadrature_face_proxy_type, quadrature_face_type
  use quadrature_xyoz_mod, only: quadrature_xyoz_proxy_type, quadrature_xyoz_type
  use r_bl_field_mod, only: r_bl_field_proxy_type, r_bl_field_type
  use r_solver_field_mod, only: r_solver_field_proxy_type, r_solver_field_type
  use r_tran_field_mod, only: r_tran_field_proxy_type, r_tran_field_type
  use reference_element_mod, only: reference_element_type
  use scalar_mod, only: scalar_type
  use stencil_2D_dofmap_mod, only: STENCIL_2D_CROSS, stencil_2D_dofmap_type
  use stencil_dofmap_mod, only: STENCIL_1DX, STENCIL_CROSS, stencil_dofmap_type

  implicit none

contains

  subroutine invoke_exchange(f, extent)
    type(field_type), intent(in) :: f
    integer(i_def), intent(in) :: extent

    type(field_proxy_type) :: f_proxy
    type(mesh_type), pointer :: mesh
    real(r_def), pointer :: f_data(:)
    integer(i_def), pointer :: map(:, :)
    integer(i_def) :: last

    f_proxy = f%get_proxy()
    f_data => f_proxy%data
    mesh => f_proxy%vspace%get_mesh()
    map => f_proxy%vspace%get_whole_dofmap()
    if (f_proxy%is_readonly()) call log_event('read only', LOG_LEVEL_ERROR)
    if (extent > mesh%get_halo_depth()) call log_event('too deep', LOG_LEVEL_ERROR)
    if (f_proxy%is_dirty(depth=extent)) call f_proxy%halo_exchange(depth=extent)
    if (f_proxy%is_dirty(depth=1)) call f_proxy%halo_exchange_start(depth=1)
    if (f_proxy%is_dirty(depth=1)) call f_proxy%halo_exchange_finish(depth=1)
    last = mesh%get_last_halo_cell(1)
    last = mesh%get_last_halo_cell()
    last = mesh%get_last_edge_cell()
    last = mesh%get_last_inner_cell(1)
    last = f_proxy%vspace%get_last_dof_owned()
    last = f_proxy%vspace%get_last_dof_annexed()
    last = f_proxy%vspace%get_last_dof_halo(1)
    f_data(:last) = real(map(1, 1), r_def)
    call f_proxy%set_dirty()
    call f_proxy%set_clean(extent - 1)
  end subroutine invoke_exchange

  subroutine invoke_coloured(f)
    type(field_type), intent(in) :: f

    type(field_proxy_type) :: f_proxy
    type(mesh_type), pointer :: mesh
    integer(i_def), pointer :: cmap(:, :), tmap(:, :, :)
    integer(i_def), allocatable :: last_halo(:, :), last_edge(:), last_tile(:, :), in_tile(:, :, :)
    integer(i_def) :: colour

    f_proxy = f%get_proxy()
    mesh => f_proxy%vspace%get_mesh()
    cmap => mesh%get_colour_map()
    tmap => mesh%get_coloured_tiling_map()
    allocate (last_halo, source=mesh%get_last_halo_cell_all_colours())
    allocate (last_edge, source=mesh%get_last_edge_cell_all_colours())
    allocate (last_tile, source=mesh%get_last_halo_tile_all_colours())
    allocate (in_tile, source=mesh%get_last_halo_cell_all_colours_all_tiles())
    do colour = 1, mesh%get_ncolours()
      print *, cmap(colour, last_halo(colour, 1)), last_edge(colour), last_tile(colour, 1)
      print *, mesh%get_last_halo_cell_per_colour(colour, 1), mesh%get_last_edge_cell_per_colour(1)
    end do
    print *, mesh%get_ntilecolours(), tmap(1, 1, in_tile(1, 1, 1))
  end subroutine invoke_coloured

  subroutine invoke_shapes(f, qr, qr_face, qr_edge)
    type(field_type), intent(in) :: f
    type(quadrature_xyoz_type), intent(in) :: qr
    type(quadrature_face_type), intent(in) :: qr_face
    type(quadrature_edge_type), intent(in) :: qr_edge

    type(field_proxy_type) :: f_proxy
    type(quadrature_xyoz_proxy_type) :: qr_proxy
    type(quadrature_face_proxy_type) :: face_proxy
    type(quadrature_edge_proxy_type) :: edge_proxy
    real(r_def), allocatable :: basis_qr(:, :, :, :), basis_on(:, :), normals(:, :)
    real(r_def), pointer :: nodes(:, :)
    class(reference_element_type), pointer :: element
    type(mesh_type), pointer :: mesh
    type(stencil_dofmap_type), pointer :: stencil
    type(stencil_2D_dofmap_type), pointer :: stencil_2D
    integer(i_def), pointer :: sizes(:), sizes_2D(:, :), map(:, :, :), map_2D(:, :, :, :)
    integer(i_def), pointer :: boundary(:, :), faces(:, :)

    f_proxy = f%get_proxy()
    qr_proxy = qr%get_quadrature_proxy()
    face_proxy = qr_face%get_quadrature_proxy()
    edge_proxy = qr_edge%get_quadrature_proxy()
    allocate (basis_qr(f_proxy%vspace%get_dim_space(), f_proxy%vspace%get_ndf(), &
                       qr_proxy%np_xy, qr_proxy%np_z))
    call qr%compute_function(BASIS, f_proxy%vspace, f_proxy%vspace%get_dim_space(), &
                             f_proxy%vspace%get_ndf(), basis_qr)
    nodes => f_proxy%vspace%get_nodes()
    allocate (basis_on(f_proxy%vspace%get_dim_space_diff(), f_proxy%vspace%get_ndf()))
    basis_on(:, 1) = f_proxy%vspace%call_function(DIFF_BASIS, 1, nodes(:, 1))
    mesh => f_proxy%vspace%get_mesh()
    element => mesh%get_reference_element()
    call element%get_normals_to_horizontal_faces(normals)
    call element%get_outward_normals_to_faces(normals)
    faces => mesh%get_adjacent_face()
    stencil => f_proxy%vspace%get_stencil_dofmap(STENCIL_CROSS, 2)
    stencil => f_proxy%vspace%get_stencil_dofmap(STENCIL_1DX, 1)
    stencil_2D => f_proxy%vspace%get_stencil_2D_dofmap(STENCIL_2D_CROSS, 1)
    sizes => stencil%get_stencil_sizes()
    sizes_2D => stencil_2D%get_stencil_sizes()
    map => stencil%get_whole_dofmap()
    map_2D => stencil_2D%get_whole_dofmap()
    boundary => f_proxy%vspace%get_boundary_dofs()
    print *, sizes(1), sizes_2D(1, 1), map(1, 1, 1), map_2D(1, 1, 1, 1), boundary(1, 1), faces(1, 1)
    print *, qr_proxy%weights_xy, qr_proxy%weights_z, face_proxy%nfaces, face_proxy%weights_xyz
    print *, edge_proxy%nedges, edge_proxy%np_xyz, element%get_number_horizontal_faces()
  end subroutine invoke_shapes

  subroutine invoke_operators(op, cma, coarse, fine)
    type(operator_type), intent(in) :: op
    type(columnwise_operator_type), intent(in) :: cma
    type(field_type), intent(in) :: coarse, fine

    type(operator_proxy_type) :: op_proxy
    type(columnwise_operator_proxy_type) :: cma_proxy
    type(field_proxy_type) :: coarse_proxy, fine_proxy
    type(mesh_type), pointer :: coarse_mesh, fine_mesh
    type(mesh_map_type), pointer :: mesh_map
    real(r_def), pointer :: local_stencil(:, :, :)
    real(r_solver), pointer :: matrix(:, :, :)
    integer(i_def), pointer :: cell_map(:, :, :), banded(:, :), indirection(:)

    op_proxy = op%get_proxy()
    cma_proxy = cma%get_proxy()
    local_stencil => op_proxy%local_stencil
    matrix => cma_proxy%columnwise_matrix
    banded => cma_proxy%column_banded_dofmap_to
    indirection => cma_proxy%indirection_dofmap_from
    coarse_proxy = coarse%get_proxy()
    fine_proxy = fine%get_proxy()
    coarse_mesh => coarse_proxy%vspace%get_mesh()
    fine_mesh => fine_proxy%vspace%get_mesh()
    mesh_map => coarse_mesh%get_mesh_map(fine_mesh)
    cell_map => mesh_map%get_whole_cell_map()
    print *, op_proxy%ncell_3d, op_proxy%fs_to%get_ndf(), op_proxy%fs_from%get_ndf()
    print *, cma_proxy%nrow, cma_proxy%ncol, cma_proxy%bandwidth, cma_proxy%alpha, cma_proxy%beta
    print *, cma_proxy%gamma_m, cma_proxy%gamma_p, banded(1, 1), indirection(1), matrix(1, 1, 1)
    print *, mesh_map%get_ntarget_cells_per_source_x(), mesh_map%get_ntarget_cells_per_source_y()
    print *, cell_map(1, 1, 1), local_stencil(1, 1, 1)
  end subroutine invoke_operators

  subroutine invoke_kinds(total, n, s, t, b)
    real(r_def), intent(out) :: total
    type(integer_field_type), intent(in) :: n
    type(r_solver_field_type), intent(in) :: s
    type(r_tran_field_type), intent(in) :: t
    type(r_bl_field_type), intent(in) :: b

    type(integer_field_proxy_type) :: n_proxy
    type(r_solver_field_proxy_type) :: s_proxy
    type(r_tran_field_proxy_type) :: t_proxy
    type(r_bl_field_proxy_type) :: b_proxy
    integer(i_def), pointer :: n_data(:)
    real(r_solver), pointer :: s_data(:)
    real(r_tran), pointer :: t_data(:)
    real(r_bl), pointer :: b_data(:)
    type(scalar_type) :: global_sum
    logical(l_def) :: dirty

    n_proxy = n%get_proxy()
    s_proxy = s%get_proxy()
    t_proxy = t%get_proxy()
    n_data => n_proxy%data
    s_data => s_proxy%data
    t_data => t_proxy%data
    b_proxy = b%get_proxy()
    b_data => b_proxy%data
    dirty = n_proxy%is_dirty(depth=1) .or. s_proxy%is_dirty(depth=1) .or. t_proxy%is_dirty(depth=1)
    global_sum%value = real(sum(n_data), r_def) + real(sum(s_data), r_def) + real(t_data(1), r_def)
    if (dirty) global_sum%value = real(b_data(1), r_def)
    total = global_sum%get_sum()
    total = min(total, global_sum%get_min(), global_sum%get_max())
  end subroutine invoke_kinds

end module psy_layer_mod
