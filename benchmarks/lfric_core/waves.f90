!> Waves on a biperiodic plane with LFRic's own types: every rank writes what it owns in the end.
program real_waves

  use constants_mod, only: i_def, r_def
  use field_mod, only: field_type
  use fs_continuity_mod, only: W2, W3
  use function_space_collection_mod, only: function_space_collection
  use function_space_mod, only: function_space_type
  use mesh_mod, only: mesh_type
  use plane_mod, only: finish, make_mesh, new_field, rank, start, steps, width, write_values
  use quadrature_rule_gaussian_mod, only: quadrature_rule_gaussian_type
  use quadrature_xyoz_mod, only: quadrature_xyoz_type
  use waves_alg_mod, only: basin_type, measure, prepare, step_on, workspace_type

  implicit none

  type(mesh_type), pointer :: mesh
  type(function_space_type), pointer :: velocities, heights
  type(basin_type) :: basin
  type(workspace_type) :: work
  type(field_type), target :: velocity, height
  integer(i_def) :: iterations
  integer :: step
  real(r_def) :: volume, energy

  call start('waves')
  call make_mesh(1_i_def, 1.0_r_def, mesh)
  velocities => function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, W2)
  heights => function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, W3)
  call make_fields()
  call prepare(basin, width, 1.0_r_def, &
               quadrature_xyoz_type(3_i_def, quadrature_rule_gaussian_type()))
  do step = 1, steps
    call step_on(basin, velocity, height, work, iterations)
    if (rank == 0 .and. step == steps) print '(a, i0)', 'iterations ', iterations
  end do
  call measure(basin, velocity, height, work, volume, energy)
  if (rank == 0) print '(a, 2(1x, es23.16))', 'measured', volume, energy
  call write_values('velocity', velocity)
  call write_values('height', height)
  call finish()

contains

  !> Make all fields, the water at rest but for a hill.
  subroutine make_fields()
    basin%depth = 100.0_r_def
    basin%gravity = 9.81_r_def
    basin%volume = width**2
    basin%time_step = 2.0_r_def * width / sqrt(basin%gravity * basin%depth)
    call basin%mass%initialise(velocities, velocities)
    call basin%divergence%initialise(heights, velocities)
    call new_field(velocity, velocities)
    call new_field(work%change, velocities)
    call new_field(work%residual, velocities)
    call new_field(work%direction, velocities)
    call new_field(work%image, velocities)
    call new_field(work%thrust, velocities)
    call new_field(work%outflow, heights)
    call new_field(height, heights, 1.0_r_def)
  end subroutine make_fields

end program real_waves
