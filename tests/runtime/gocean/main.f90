!> Runs algorithms on a domain with borders, and on a periodic one if ranks are distributed.
!>
!> The words of the command line: how the generated code was made, which is "serial" if it has no
!> exchanges; how the domain is cut, "x", "y" or "best"; and a file with a line for each run: a
!> number, what is done to the place of this number (none, drop, shorten, widen, narrow) and the
!> algorithm to run with it. A fourth word asks for one number from each run, not for all answers:
!> "digests", "told", with which the program tells a registry what it does, or "flags", with which
!> each run is done with halos that are stale, with clean ones, and with clean ones but for the
!> first or the first two fields; what fields say of their halos counts, too.
program main

  use gocean_mod, only: gocean_finalise, gocean_initialise
  use halo_check_mod, only: halo_check_stops, halo_errors
  use halo_statistics_mod, only: get_halo_statistics, halo_statistics_type
  use mutation_mod, only: mutate, was_mutated
  use parallel_mod, only: get_rank
  use suite_mod, only: run_algorithm
  use world_mod, only: begin_with_clean_halos, close_answers, make_grids, open_answers, &
      report_digests, report_mutation
  use wrapped_arrays_mod, only: set_program_tells

  implicit none

  character(16) :: mode, cut, form
  character(256) :: runs

  call gocean_initialise()
  call get_command_argument(1, mode)
  call get_command_argument(2, cut)
  call get_command_argument(3, runs)
  call get_command_argument(4, form)
  call set_program_tells(form == 'told')
  call open_answers()
  call make_grids('bounded', trim(cut), .false.)
  call run_all()
  if (mode /= 'serial') then
    call make_grids('periodic', trim(cut), .true.)
    call run_all()
  end if
  call print_statistics()
  call close_answers()
  call gocean_finalise()

contains

  !> Do all runs of the file.
  subroutine run_all()
    character(64) :: algorithm, change
    integer :: before, end_of_file, number, seed, unit

    open (newunit=unit, file=runs, action='read', status='old')
    halo_check_stops = form == ''
    do
      read (unit, *, iostat=end_of_file) number, change, algorithm
      if (end_of_file /= 0) exit
      call mutate(number, change)
      before = halo_errors
      if (form /= '') call report_digests(form == 'flags')
      call run_algorithm(trim(algorithm))
      if (form == 'flags') then
        do seed = 1, 3
          call begin_with_clean_halos(seed)
          call run_algorithm(trim(algorithm))
        end do
      end if
      if (form /= '') then
        call report_mutation(number, change, algorithm, was_mutated(), halo_errors - before)
      end if
    end do
    close (unit)
  end subroutine run_all

  !> Print what halo exchanges have cost this rank.
  subroutine print_statistics()
    type(halo_statistics_type) :: statistics

    statistics = get_halo_statistics()
    print '(a, 4(1x, i0))', 'statistics', get_rank() - 1, statistics%exchanges, &
        statistics%messages, statistics%bytes
  end subroutine print_statistics

end program main
