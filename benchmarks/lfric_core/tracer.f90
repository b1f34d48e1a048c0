!> LFRic's own small applications: a tracer that diffuses (`simple_diffusion`), and the divergence
!> of a uniform wind (`skeleton`).
program tracer

  use constants_mod, only: i_def, r_def
  use driver_fem_mod, only: init_fem
  use field_mod, only: field_type
  use fs_continuity_mod, only: W3, Wtheta
  use function_space_collection_mod, only: function_space_collection
  use inventory_by_mesh_mod, only: inventory_by_mesh_type
  use mesh_collection_mod, only: mesh_collection
  use mesh_mod, only: mesh_type
  use plane_mod, only: finish, make_mesh, new_field, start, steps, write_values
  use simple_diffusion_alg_mod, only: simple_diffusion_alg
  use simple_diffusion_constants_mod, only: create_simple_diffusion_constants
  use skeleton_alg_mod, only: skeleton_alg
  use skeleton_constants_mod, only: create_skeleton_constants

  implicit none

  type(mesh_type), pointer :: mesh
  type(inventory_by_mesh_type), target :: all_coordinates, all_panels
  type(field_type), pointer :: coordinates(:), panels
  type(field_type), target :: temperature, divergence
  integer :: step

  call start('tracer')
  call make_mesh(5_i_def, 2000.0_r_def, mesh)
  call init_fem(mesh_collection, all_coordinates, all_panels)
  call all_coordinates%get_field_array(mesh, coordinates)
  call all_panels%get_field(mesh, panels)
  call create_simple_diffusion_constants(mesh, coordinates, panels)
  call create_skeleton_constants(mesh, coordinates, panels)
  call new_field(temperature, function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, Wtheta), &
                 10.0_r_def)
  call new_field(divergence, function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, W3))
  do step = 1, steps
    call simple_diffusion_alg(temperature)
  end do
  call skeleton_alg(divergence)
  call write_values('temperature', temperature)
  call write_values('divergence', divergence)
  call finish()

end program tracer
