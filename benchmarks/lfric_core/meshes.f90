!> What a model does besides its dynamics, by algorithms of GungHo and of its gravity waves: fields
!> go to a mesh of half as many cells each way and back, columns are solved for by banded matrices,
!> and a tracer is reconstructed at faces from cells around. Every rank writes what it owns.
program meshes

  use constants_mod, only: i_def, l_def, r_def, r_tran, str_def
  use derived_config_mod, only: set_derived_config
  use driver_fem_mod, only: init_fem
  use field_mod, only: field_type
  use fs_continuity_mod, only: W0, W2, W3, Wtheta
  use function_space_collection_mod, only: function_space_collection
  use function_space_mod, only: function_space_type
  use gw_pressure_precon_alg_mod, only: gw_pressure_preconditioner_type
  use intermesh_mappings_alg_mod, only: map_rho_intermesh, map_scalar_field, map_w0_intermesh, &
                                        map_w2_intermesh
  use mesh_collection_mod, only: mesh_collection
  use mesh_mod, only: mesh_type
  use plane_mod, only: finish, make_mesh, new_field, start, steps, write_values
  use r_solver_field_mod, only: r_solver_field_type
  use reconstruct_w3_field_alg_mod, only: hori_w3_reconstruct_alg, vert_w3_reconstruct_alg
  use runtime_tools_mod, only: init_hierarchical_mesh_id_list
  use sci_geometric_constants_mod, only: get_chi_inventory, get_panel_id_inventory
  use sci_r_solver_field_vector_mod, only: r_solver_field_vector_type
  use transport_enumerated_types_mod, only: equation_form_conservative, ffsl_splitting_swift, &
                                            monotone_koren, monotone_none, scheme_mol_3d, &
                                            special_edges_monotone_none, split_method_mol, &
                                            splitting_none, vertical_monotone_order_high
  use transport_metadata_mod, only: transport_metadata_type

  implicit none

  integer(i_def), parameter :: faces_around = 4, faces_above = 2
  type(mesh_type), pointer :: mesh, coarse
  type(field_type) :: tracer, density, wind, corners, back(4), there(4)
  type(r_solver_field_type) :: pressure, solved
  type(field_type) :: around(2), above(2)
  integer(i_def) :: n

  call start('meshes')
  call set_derived_config(.false.)
  call make_mesh(5_i_def, 2000.0_r_def, mesh, coarse)
  call init_fem(mesh_collection, get_chi_inventory(), get_panel_id_inventory())
  call init_hierarchical_mesh_id_list([mesh%get_id(), coarse%get_id()])
  call new_field(tracer, space_of(mesh, Wtheta), 300.0_r_def)
  call new_field(density, space_of(mesh, W3), 1.0_r_def)
  call new_field(wind, space_of(mesh, W2), 5.0_r_def)
  call new_field(corners, space_of(mesh, W0), 2.0_r_def)
  call go_there_and_back()
  call solve_columns()
  call reconstruct()
  call finish()

contains

  !> Return a function space of lowest order, with some values at each dof, one behind the other.
  function space_of(mesh, number, values) result(space)
    type(mesh_type), pointer, intent(in) :: mesh
    integer(i_def), intent(in) :: number
    integer(i_def), optional, intent(in) :: values
    type(function_space_type), pointer :: space

    if (present(values)) then
      space => function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, number, values, &
                                                ndata_first=.false._l_def)
    else
      space => function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, number)
    end if
  end function space_of

  !> Take fields to the coarse mesh, and from there to others on the fine one.
  subroutine go_there_and_back()
    integer(i_def), parameter :: spaces(4) = [Wtheta, W3, W2, W0]
    character(8), parameter :: names(4) = ['tracer  ', 'density ', 'wind    ', 'corners ']

    do n = 1, 4
      call new_field(there(n), space_of(coarse, spaces(n)))
      call new_field(back(n), space_of(mesh, spaces(n)))
    end do
    call map_scalar_field(there(1), tracer)
    call map_scalar_field(back(1), there(1))
    call map_rho_intermesh(there(2), density)
    call map_rho_intermesh(back(2), there(2))
    call map_w2_intermesh(there(3), wind)
    call map_w2_intermesh(back(3), there(3))
    call map_w0_intermesh(there(4), corners)
    call map_w0_intermesh(back(4), there(4))
    do n = 1, 4
      call write_values(trim(names(n))//'_there', there(n))
      call write_values(trim(names(n))//'_back', back(n))
    end do
  end subroutine go_there_and_back

  !> Solve for the columns of what is solved for, again and again.
  subroutine solve_columns()
    type(gw_pressure_preconditioner_type) :: columns
    type(r_solver_field_vector_type) :: from, to

    columns = gw_pressure_preconditioner_type(1_i_def)
    call new_field(pressure, space_of(mesh, W3), 1000.0_r_def)
    call new_field(solved, space_of(mesh, W3))
    from = r_solver_field_vector_type(1_i_def)
    to = r_solver_field_vector_type(1_i_def)
    call from%import_field(pressure, 1_i_def)
    call to%import_field(solved, 1_i_def)
    do n = 1, steps
      call columns%apply(from, to)
      call columns%apply(to, from)
    end do
    call from%export_field(pressure, 1_i_def)
    call to%export_field(solved, 1_i_def)
    call write_values('pressure', pressure)
    call write_values('solved', solved)
  end subroutine solve_columns

  !> Reconstruct the density at the faces of cells, from a cross of cells and from all around.
  subroutine reconstruct()
    do n = 1, 2
      call new_field(around(n), space_of(mesh, W3, faces_around))
      call new_field(above(n), space_of(mesh, W3, faces_above))
      call hori_w3_reconstruct_alg(around(n), density, &
                                   scheme(merge(monotone_koren, monotone_none, n == 1)))
      call vert_w3_reconstruct_alg(above(n), density, &
                                   scheme(merge(monotone_koren, monotone_none, n == 1)), &
                                   .false._l_def)
    end do
    call write_values('around_limited', around(1))
    call write_values('above_limited', above(1))
    call write_values('around', around(2))
    call write_values('above', above(2))
  end subroutine reconstruct

  !> Return what LFRic's transport is told of a field, with a limiter or without.
  function scheme(limiter) result(told)
    integer(i_def), intent(in) :: limiter
    type(transport_metadata_type) :: told

    character(str_def) :: name

    name = 'density'
    told = transport_metadata_type(name, equation_form_conservative, splitting_none, &
                                   scheme_mol_3d, split_method_mol, split_method_mol, limiter, &
                                   limiter, vertical_monotone_order_high, &
                                   special_edges_monotone_none, .false._l_def, 0.0_r_tran, &
                                   .false._l_def, .false._l_def, ffsl_splitting_swift, 2_i_def)
  end function scheme

end program meshes
