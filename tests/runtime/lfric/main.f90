!> Runs every algorithm of this folder on a biperiodic plane, on one with borders and on a sphere;
!> mutations are not run on the sphere.
!>
!> The first word of the command line says whether the generated code keeps annexed dofs valid:
!> "annexed" or not; with "signalling" after it poison is signalling NaN, with "told" the program tells
!> a registry what it does, with "unaware" it knows of no storages;
!> with "renewed" all halos are clean before each invoke; with "innerless" meshes are made without inner halos. A second word names a file of
!> mutations, a line for each: a number, what is done to the place of this number (none, drop,
!> shorten, widen, narrow) and the algorithm to run with it; it may be empty. What changes the answers
!> on one plane is not run on the next, and an algorithm may end at the first stage that shows it. A
!> third word has two digits: the orders of elements in the horizontal and in the vertical, which are
!> 0 without it; with it, answers are brief.
program main

  use constants_mod, only: i_def, r_def
  use halo_check_mod, only: halo_check_stops, halo_errors
  use halo_statistics_mod, only: halo_statistics_type
  use lfric_mpi_mod, only: create_comm, destroy_comm, global_mpi, lfric_comm_type
  use mutation_mod, only: mutate, was_mutated
  use stages_mod, only: begin_stages
  use suite_mod, only: algorithms, run_algorithm
  use world_mod, only: close_answers, has_inner_halos, is_unaware, make_planes, make_spheres, &
                       halos_are_renewed, open_answers, orders, poison_signals, report_briefly, &
                       report_digests, report_mutation, statistics_of_layers
  use wrapped_arrays_mod, only: set_program_tells

  implicit none

  integer, parameter :: most_mutations = 9999

  type(lfric_comm_type) :: comm
  character(18) :: annexed
  character(256) :: mutations
  character(2) :: digits
  integer :: surface
  logical :: is_noticed(most_mutations)

  is_noticed = .false.
  call create_comm(comm)
  call global_mpi%initialise(comm)
  call get_command_argument(1, annexed)
  call get_command_argument(2, mutations)
  call get_command_argument(3, digits)
  if (digits /= '') then
    read (digits, '(2i1)') orders
    call report_briefly()
  end if
  poison_signals = index(annexed, 'signalling') > 0
  is_unaware = index(annexed, 'unaware') > 0
  halos_are_renewed = index(annexed, 'renewed') > 0
  has_inner_halos = index(annexed, 'innerless') == 0
  call set_program_tells(index(annexed, 'told') > 0)
  call open_answers(int(global_mpi%get_comm_rank(), i_def), index(annexed, 'annexed') == 1)
  do surface = 1, 3
    select case (surface)
    case (1)
      call make_planes('periodic', .true., 4_i_def, 6_i_def)
    case (2)
      call make_planes('bounded', .false., 5_i_def, 3_i_def)
    case default
      if (mutations /= '') exit
      call make_spheres('sphere', 2_i_def)
    end select
    if (mutations == '') then
      call run_all()
    else
      call run_mutations()
    end if
  end do
  call print_statistics()
  call close_answers()
  call destroy_comm()

contains

  !> Run all algorithms.
  subroutine run_all()
    integer :: n

    do n = 1, size(algorithms)
      call run_algorithm(trim(algorithms(n)))
    end do
  end subroutine run_all

  !> Run the mutations of the file; each algorithm comes without one before it comes with some.
  subroutine run_mutations()
    character(64) :: algorithm, change
    integer(i_def) :: number
    integer :: end_of_file, line, unit
    integer(i_def) :: before, errors
    real(r_def) :: answer, right(size(algorithms))

    open (newunit=unit, file=mutations, action='read', status='old')
    line = 0
    halo_check_stops = .false.
    do
      read (unit, *, iostat=end_of_file) number, change, algorithm
      if (end_of_file /= 0) exit
      line = line + 1
      if (is_noticed(line)) cycle
      call mutate(number, change)
      call begin_stages(findloc(algorithms == algorithm, .true., 1), change == 'none')
      call report_digests()
      before = halo_errors
      call run_algorithm(trim(algorithm))
      call global_mpi%global_sum(halo_errors - before, errors)
      call report_mutation(number, change, algorithm, was_mutated(), errors, answer)
      if (change == 'none') then
        where (algorithms == algorithm) right = answer
      else
        is_noticed(line) = all(algorithms /= algorithm .or. right /= answer)
      end if
    end do
    close (unit)
  end subroutine run_mutations

  !> Print what halo exchanges have cost this rank.
  subroutine print_statistics()
    type(halo_statistics_type) :: statistics

    statistics = statistics_of_layers()
    print '(a, 4(1x, i0))', 'statistics', global_mpi%get_comm_rank(), statistics%exchanges, &
      statistics%messages, statistics%bytes
  end subroutine print_statistics

end program main
