!> Runs joint exchanges from all states of their fields, on a periodic plane and on one with borders.
!> The first word of the command line is that of the suite in `lfric`.
program main

  use constants_mod, only: i_def
  use halo_statistics_mod, only: halo_statistics_type
  use joint_states_alg_mod, only: run_states
  use lfric_mpi_mod, only: create_comm, destroy_comm, global_mpi, lfric_comm_type
  use world_mod, only: close_answers, make_planes, open_answers, statistics_of_layers
  use wrapped_arrays_mod, only: set_program_tells

  implicit none

  type(lfric_comm_type) :: comm
  type(halo_statistics_type) :: statistics
  character(18) :: annexed
  logical :: computes_annexed

  call create_comm(comm)
  call global_mpi%initialise(comm)
  call get_command_argument(1, annexed)
  computes_annexed = index(annexed, 'annexed') == 1
  call set_program_tells(index(annexed, 'told') > 0)
  call open_answers(int(global_mpi%get_comm_rank(), i_def), computes_annexed)
  call make_planes('periodic', .true., 4_i_def, 6_i_def)
  call run_states(computes_annexed)
  call make_planes('bounded', .false., 5_i_def, 3_i_def)
  call run_states(computes_annexed)
  statistics = statistics_of_layers()
  print '(a, 4(1x, i0))', 'statistics', global_mpi%get_comm_rank(), statistics%exchanges, &
    statistics%messages, statistics%bytes
  call close_answers()
  call destroy_comm()

end program main
