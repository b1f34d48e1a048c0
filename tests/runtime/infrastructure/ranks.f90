!> What ranks tell each other: broadcasts of every kind and shape, and numbers of all ranks.
program ranks

  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use checks_mod, only: check, finish_checks, new_mesh, space, start_checks
  use constants_mod, only: l_def
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: W3
  use lfric_mpi_mod, only: global_mpi, lfric_mpi_type
  use mesh_mod, only: mesh_type

  implicit none

  integer :: last, rank

  call start_checks()
  rank = global_mpi%get_comm_rank()
  last = global_mpi%get_comm_size() - 1
  call broadcast_scalars()
  call broadcast_lines()
  call broadcast_arrays()
  call gather_all()
  call ask_field()
  call finish_checks()

contains

  !> Broadcast single values of the last rank.
  subroutine broadcast_scalars()
    logical(l_def) :: is_last
    integer(int32) :: number
    real(real32) :: short
    real(real64) :: long

    is_last = rank == last
    number = 10 + rank
    short = real(20 + rank, real32)
    long = real(30 + rank, real64)
    call global_mpi%broadcast(is_last, last)
    call global_mpi%broadcast(number, last)
    call global_mpi%broadcast(short, last)
    call global_mpi%broadcast(long, last)
    call check(is_last .and. number == 10 + last, 'a logical and an integer of the last rank')
    call check(nint(short) == 20 + last .and. nint(long) == 30 + last, 'reals of the last rank')
  end subroutine broadcast_scalars

  !> Broadcast the beginning of lines of values, and strings, of the first rank.
  subroutine broadcast_lines()
    logical(l_def) :: flags(3)
    integer(int32) :: numbers(6)
    real(real32) :: short(3)
    real(real64) :: long(3)
    character(5) :: words(2)

    flags = rank == 0
    numbers = rank
    short = real(rank, real32)
    long = real(rank, real64)
    words = merge(['one  ', 'three'], ['two  ', 'four '], rank == 0)
    call global_mpi%broadcast(flags, 2, 0)
    ! Every second number, which do not lie together.
    call global_mpi%broadcast(numbers(::2), 2, 0)
    call global_mpi%broadcast(short, 2, 0)
    call global_mpi%broadcast(long, 0, 0)
    call global_mpi%broadcast(long, 2, 0)
    call global_mpi%broadcast(words, size(words) * len(words), 0)
    call check(all(flags(:2)) .and. (flags(3) .eqv. rank == 0), 'two logicals')
    call check(all(numbers == [0, rank, 0, rank, rank, rank]), 'two numbers of three')
    call check(all(nint(short) == [0, 0, rank]), 'two short reals')
    call check(all(nint(long) == [0, 0, rank]), 'two reals')
    call check(words(1) == 'one' .and. words(2) == 'three', 'words')
  end subroutine broadcast_lines

  !> Broadcast arrays of two and three dimensions of the last rank.
  subroutine broadcast_arrays()
    logical(l_def) :: flags(2, 2), more_flags(2, 1, 2)
    integer(int32) :: numbers(2, 2), more_numbers(2, 1, 2)
    real(real32) :: short(2, 2), more_short(2, 1, 2)
    real(real64) :: long(2, 2), more_long(2, 1, 2)

    flags = rank == last
    more_flags = rank == last
    numbers = rank
    more_numbers = rank
    short = real(rank, real32)
    more_short = real(rank, real32)
    long = real(rank, real64)
    more_long = real(rank, real64)
    call global_mpi%broadcast(flags, 4, last)
    call global_mpi%broadcast(more_flags, 4, last)
    call global_mpi%broadcast(numbers, 4, last)
    call global_mpi%broadcast(more_numbers, 4, last)
    call global_mpi%broadcast(short, 4, last)
    call global_mpi%broadcast(more_short, 4, last)
    call global_mpi%broadcast(long, 4, last)
    call global_mpi%broadcast(more_long, 4, last)
    call check(all(flags) .and. all(more_flags), 'arrays of logicals')
    call check(all(numbers == last) .and. all(more_numbers == last), 'arrays of integers')
    call check(all(nint(short) == last) .and. all(nint(more_short) == last), 'arrays of short reals')
    call check(all(nint(long) == last) .and. all(nint(more_long) == last), 'arrays of reals')
  end subroutine broadcast_arrays

  !> Gather two numbers of each rank.
  subroutine gather_all()
    integer(int32) :: gathered(2 * (last + 1)), n

    call global_mpi%all_gather([rank, -rank, 99], gathered, 2)
    call check(all(gathered == [(n, -n, n=0, last)]), 'numbers of all ranks')
  end subroutine gather_all

  !> Ask a field for its ranks.
  subroutine ask_field()
    type(field_type) :: field
    type(field_proxy_type) :: proxy
    type(lfric_mpi_type) :: ranks_of_field
    type(mesh_type), pointer :: mesh

    mesh => new_mesh('plane', .true., 8, 6)
    call field%initialise(space(mesh, W3))
    proxy = field%get_proxy()
    ranks_of_field = proxy%get_mpi()
    call check(ranks_of_field%get_comm_size() == last + 1, 'the ranks of a field')
  end subroutine ask_field

end program ranks
