!> What a dynamical core computes from one state, by algorithms of LFRic's science library, of
!> GungHo and of two applications: every rank writes what it owns of each result.
program dynamics

  use compute_pv_alg_mod, only: compute_pv_alg
  use compute_total_mass_alg_mod, only: compute_total_mass_alg
  use compute_vorticity_alg_mod, only: compute_vorticity_alg
  use constants_mod, only: i_def, r_def
  use derived_config_mod, only: set_derived_config
  use divergence_alg_mod, only: divergence_alg
  use driver_fem_mod, only: init_fem
  use field_indices_mod, only: isw_b, isw_g, isw_u
  use field_mod, only: field_type
  use fs_continuity_mod, only: W1, W2, W2H, W2V, W3, Wtheta
  use function_space_collection_mod, only: function_space_collection
  use function_space_mod, only: function_space_type
  use mesh_collection_mod, only: mesh_collection
  use mesh_mod, only: mesh_type
  use plane_mod, only: finish, make_mesh, new_field, rank, start, steps, write_values
  use sci_checksum_alg_mod, only: checksum_alg
  use sci_fem_constants_mod, only: get_qr_fe
  use sci_field_vector_mod, only: field_vector_type
  use sci_galerkin_projection_alg_mod, only: galerkin_projection_algorithm
  use sci_geometric_constants_mod, only: get_chi_inventory, get_coordinates, get_height_fv, &
                                         get_panel_id, get_panel_id_inventory
  use sci_mass_matrix_solver_alg_mod, only: mass_matrix_solver_alg
  use sci_split_combine_w2_alg_mod, only: combine_w2_field_alg, split_w2_field_alg
  use swe_rhs_alg_mod, only: swe_rhs_alg

  implicit none

  real(r_def), parameter :: time_step = 10.0_r_def
  type(mesh_type), pointer :: mesh
  type(field_type), target :: wind, density, temperature, vorticity, curl, potential, divergence
  type(field_type), target :: level, vertical, joined, parts(3), between(1), geopotential, surface
  type(field_type), pointer :: height
  type(field_vector_type) :: state, change
  real(r_def) :: mass
  integer(i_def) :: id
  integer :: step

  call start('dynamics')
  call set_derived_config(.false.)
  call make_mesh(4_i_def, 2000.0_r_def, mesh)
  call init_fem(mesh_collection, get_chi_inventory(), get_panel_id_inventory())
  id = mesh%get_id()
  call new_field(wind, space_of(W2), 5.0_r_def)
  call new_field(density, space_of(W3), 1.0_r_def)
  call new_field(temperature, space_of(Wtheta), 300.0_r_def)
  call new_field(geopotential, space_of(W3), 1000.0_r_def)
  call new_field(surface, space_of(W3), 10.0_r_def)
  call new_field(vorticity, space_of(W1))
  call new_field(curl, space_of(W2))
  call new_field(potential, space_of(W3))
  call new_field(divergence, space_of(W3))
  call new_field(parts(1), space_of(W3))
  call new_field(parts(2), space_of(W3))
  call new_field(parts(3), space_of(W3))
  call new_field(between(1), space_of(Wtheta))

  call compute_vorticity_alg(vorticity, wind, .false., .true.)
  call compute_vorticity_alg(curl, wind, .true., .false.)
  call compute_pv_alg(potential, wind, temperature, density)
  call divergence_alg(divergence, wind)
  call galerkin_projection_algorithm(parts, wind, get_coordinates(id), get_panel_id(id), &
                                     get_qr_fe())
  call galerkin_projection_algorithm(between, density, get_coordinates(id), get_panel_id(id), &
                                     get_qr_fe())
  call level%initialise(space_of(W2H))
  call vertical%initialise(space_of(W2V))
  call joined%initialise(space_of(W2))
  call split_w2_field_alg(level, vertical, wind)
  call combine_w2_field_alg(joined, level, vertical)
  height => get_height_fv(W2, id)
  call compute_total_mass_alg(mass, density, mesh)
  call advance()
  call checksum_alg('dynamics_model', wind, 'wind', potential, 'potential', curl, 'curl')
  if (rank == 0) print '(a, es23.16)', 'mass ', mass
  call write_values('vorticity', vorticity)
  call write_values('curl', curl)
  call write_values('potential', potential)
  call write_values('divergence', divergence)
  call write_values('east', parts(1))
  call write_values('north', parts(2))
  call write_values('up', parts(3))
  call write_values('between', between(1))
  call write_values('level', level)
  call write_values('vertical', vertical)
  call write_values('joined', joined)
  call write_values('height', height)
  call write_values('wind', wind)
  call finish()

contains

  !> Return a function space of lowest order on the mesh.
  function space_of(number) result(space)
    integer(i_def), intent(in) :: number
    type(function_space_type), pointer :: space

    space => function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, number)
  end function space_of

  !> Let the wind go on by what presses it, as the shallow water application has it.
  subroutine advance()
    state = field_vector_type(3)
    change = field_vector_type(3)
    do step = 1, steps
      call state%import_field(wind, isw_u)
      call state%import_field(geopotential, isw_g)
      call state%import_field(density, isw_b)
      call change%import_field(wind, isw_u)
      call change%import_field(geopotential, isw_g)
      call change%import_field(density, isw_b)
      call swe_rhs_alg(change, time_step, state, surface)
      call mass_matrix_solver_alg(wind, change%vector(isw_u))
    end do
  end subroutine advance

end program dynamics
