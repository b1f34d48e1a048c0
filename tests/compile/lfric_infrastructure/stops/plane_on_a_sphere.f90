! stops: ERROR STOP get_cells_covered: the meshes are not nested
program plane_on_a_sphere

  use constants_mod, only: i_def, r_def
  use local_mesh_mod, only: local_mesh_type

  implicit none

  type(local_mesh_type) :: plane, sphere

  plane = local_mesh_type('plane', 4_i_def, 4_i_def, 1.0_r_def, 1.0_r_def)
  sphere = local_mesh_type('sphere', 4_i_def)
  print *, size(sphere%get_cells_covered(plane))

end program plane_on_a_sphere
