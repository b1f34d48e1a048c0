!> Values of fields and scalars that are known by hand: a field that is assigned to itself, data
!> that a field refers to, extremes that one rank has.
program values_fields

  use, intrinsic :: iso_fortran_env, only: real32, real64
  use checks_mod, only: check, deepest, finish_checks, new_mesh, space, start_checks
  use constants_mod, only: i_def, r_def
  use field_real32_mod, only: field_real32_proxy_type, field_real32_type
  use field_real64_mod, only: field_real64_proxy_type, field_real64_type
  use fs_continuity_mod, only: W0, W2, W3
  use function_space_mod, only: function_space_type
  use integer_field_mod, only: integer_field_proxy_type, integer_field_type
  use integer_scalar_mod, only: integer_scalar_type
  use lfric_mpi_mod, only: global_mpi
  use operator_real32_mod, only: operator_real32_proxy_type, operator_real32_type
  use operator_real64_mod, only: operator_real64_proxy_type, operator_real64_type
  use scalar_real32_mod, only: scalar_real32_type
  use scalar_real64_mod, only: scalar_real64_type

  implicit none

  !> How far from 0 a value is at one dof of a rank: of most ranks, of one.
  integer(i_def), parameter :: moderate = 7, extreme = 1000
  type(function_space_type), pointer :: fs
  integer(i_def) :: rank, ranks, this_rank

  call start_checks()
  fs => space(new_mesh('plane', .true., 8, 6), W0)
  this_rank = int(global_mpi%get_comm_rank(), i_def)
  ranks = int(global_mpi%get_comm_size(), i_def)
  call fields_are_assigned_to_themselves()
  call operators_are_assigned_to_themselves()
  call fields_refer_to_data()
  do rank = 0, ranks - 1
    call extremes_of_one_rank(rank, from_below=.true.)
    call extremes_of_one_rank(rank, from_below=.false.)
  end do
  call finish_checks()

contains

  !> Check that nothing is lost.
  subroutine fields_are_assigned_to_themselves()
    type(field_real64_type) :: real64_field, real64_copy
    type(field_real64_proxy_type) :: real64_proxy
    type(field_real32_type) :: real32_field
    type(field_real32_proxy_type) :: real32_proxy
    type(integer_field_type) :: integer_field
    type(integer_field_proxy_type) :: integer_proxy

    call real64_field%initialise(fs, 'field', halo_depth=deepest)
    real64_proxy = real64_field%get_proxy()
    real64_proxy%data = 5.0_real64
    call real64_proxy%set_clean(2)
    real64_field = real64_field
    real64_proxy = real64_field%get_proxy()
    call check(all(abs(real64_proxy%data - 5.0_real64) <= 0.0_real64), 'f = f keeps the values')
    call check(real64_field%get_name() == 'field', 'and the name')
    call check(.not. real64_proxy%is_dirty(2) .and. real64_proxy%is_dirty(3), 'and the flags')
    call real64_field%copy_field_properties(real64_copy, 'copy')
    call check(real64_copy%is_initialised(), 'and what copies are made of')

    call real32_field%initialise(fs)
    real32_proxy = real32_field%get_proxy()
    real32_proxy%data = 6.0_real32
    real32_field = real32_field
    real32_proxy = real32_field%get_proxy()
    call check(all(abs(real32_proxy%data - 6.0_real32) <= 0.0_real32), 'so with short reals')
    call integer_field%initialise(fs)
    integer_proxy = integer_field%get_proxy()
    integer_proxy%data = 7
    integer_field = integer_field
    integer_proxy = integer_field%get_proxy()
    call check(all(integer_proxy%data == 7), 'and with integers')
  end subroutine fields_are_assigned_to_themselves

  !> Check that the matrices are kept.
  subroutine operators_are_assigned_to_themselves()
    type(operator_real64_type) :: real64_operator
    type(operator_real64_proxy_type) :: real64_proxy
    type(operator_real32_type) :: real32_operator
    type(operator_real32_proxy_type) :: real32_proxy
    type(function_space_type), pointer :: fs_to, fs_from

    fs_to => space(fs%get_mesh(), W3)
    fs_from => space(fs%get_mesh(), W2)
    call real64_operator%initialise(fs_to, fs_from)
    real64_proxy = real64_operator%get_proxy()
    real64_proxy%local_stencil = 5.0_real64
    real64_operator = real64_operator
    call check(real64_operator%is_initialised(), 'an operator that is assigned to itself')
    real64_proxy = real64_operator%get_proxy()
    call check(all(abs(real64_proxy%local_stencil - 5.0_real64) <= 0.0_real64), 'keeps its values')
    call real32_operator%initialise(fs_to, fs_from)
    real32_proxy = real32_operator%get_proxy()
    real32_proxy%local_stencil = 6.0_real32
    real32_operator = real32_operator
    call check(real32_operator%is_initialised(), 'one of short reals')
    real32_proxy = real32_operator%get_proxy()
    call check(all(abs(real32_proxy%local_stencil - 6.0_real32) <= 0.0_real32), 'keeps its values')
  end subroutine operators_are_assigned_to_themselves

  !> Check that a field that refers to data writes and reads these; a copy has its own.
  subroutine fields_refer_to_data()
    type(field_real64_type) :: field, copy
    type(field_real64_proxy_type) :: proxy
    real(real64), allocatable, target :: table(:, :)

    allocate (table(fs%get_undf(), 3))
    table = 1.0_real64
    call field%initialise(fs, override_data=table(:, 2))
    proxy = field%get_proxy()
    proxy%data = 2.0_real64
    call check(all(abs(table(:, 2) - 2.0_real64) <= 0.0_real64), 'what is written is in the table')
    call check(all(abs(table(:, [1, 3]) - 1.0_real64) <= 0.0_real64), 'and nowhere else')
    table(:, 2) = 3.0_real64
    copy = field
    call check(all(abs(proxy%data - 3.0_real64) <= 0.0_real64), 'what is in the table is read')
    proxy = copy%get_proxy()
    call check(all(abs(proxy%data - 3.0_real64) <= 0.0_real64), 'and copied')
    proxy%data = 4.0_real64
    call field%copy_field_serial(copy)
    proxy = copy%get_proxy()
    call check(all(abs(proxy%data - 3.0_real64) <= 0.0_real64), 'by name, too')
    call copy%field_final()
    call field%field_final()
    call check(all(abs(table(:, 2) - 3.0_real64) <= 0.0_real64), 'the table outlives its fields')
  end subroutine fields_refer_to_data

  !> Check the extremes of all kinds if they are at one dof of a rank, the first or the last that it
  !> owns. Other ranks have a moderate value there; the rest is 0, and halos must not count.
  subroutine extremes_of_one_rank(its_rank, from_below)
    integer(i_def), intent(in) :: its_rank
    logical, intent(in) :: from_below

    type(integer_field_type) :: integer_field
    type(integer_field_proxy_type) :: integers
    type(field_real32_type) :: real32_field
    type(field_real32_proxy_type) :: reals32
    type(field_real64_type) :: real64_field
    type(field_real64_proxy_type) :: reals64
    integer(i_def) :: last, place, expected, local

    last = fs%get_last_dof_owned()
    place = merge(1, last, from_below)
    expected = merge(-extreme, extreme, from_below)
    local = merge(expected, sign(moderate, expected), this_rank == its_rank)
    call integer_field%initialise(fs)
    integers = integer_field%get_proxy()
    integers%data = 2 * expected
    integers%data(:last) = 0
    integers%data(place) = local
    call real32_field%initialise(fs)
    reals32 = real32_field%get_proxy()
    reals32%data = real(integers%data, real32)
    call real64_field%initialise(fs)
    reals64 = real64_field%get_proxy()
    reals64%data = real(integers%data, real64)
    if (from_below) then
      call check(integers%get_min() == expected, 'the least integer of a field')
      call check(is(real(reals32%get_min(), r_def), expected), 'the least short real')
      call check(is(reals64%get_min(), expected), 'the least real')
      call check(integers%get_max() == 0 .and. is(real(reals32%get_max(), r_def), 0_i_def) .and. &
                 is(reals64%get_max(), 0_i_def), 'nothing is greater than the others')
    else
      call check(integers%get_max() == expected, 'the greatest integer of a field')
      call check(is(real(reals32%get_max(), r_def), expected), 'the greatest short real')
      call check(is(reals64%get_max(), expected), 'the greatest real')
      call check(integers%get_min() == 0 .and. is(real(reals32%get_min(), r_def), 0_i_def) .and. &
                 is(reals64%get_min(), 0_i_def), 'nothing is less than the others')
    end if
    call extremes_of_scalars(local, expected, from_below)
  end subroutine extremes_of_one_rank

  !> Check the extremes of scalars; all ranks but one have a moderate value.
  subroutine extremes_of_scalars(local, expected, from_below)
    integer(i_def), intent(in) :: local, expected
    logical, intent(in) :: from_below

    type(integer_scalar_type) :: whole
    type(scalar_real32_type) :: short
    type(scalar_real64_type) :: long
    integer(i_def) :: others

    others = merge(expected, sign(moderate, expected), ranks == 1)
    call whole%initialise(local)
    call short%initialise(real(local, real32))
    call long%initialise(real(local, real64))
    call check(whole%get_min() == merge(expected, others, from_below), 'the least integer')
    call check(whole%get_max() == merge(others, expected, from_below), 'the greatest integer')
    call check(is(real(short%get_min(), r_def), merge(expected, others, from_below)), &
               'the least of short scalars')
    call check(is(real(short%get_max(), r_def), merge(others, expected, from_below)), &
               'the greatest of short scalars')
    call check(is(long%get_min(), merge(expected, others, from_below)), 'the least scalar')
    call check(is(long%get_max(), merge(others, expected, from_below)), 'the greatest scalar')
  end subroutine extremes_of_scalars

  !> Return whether a real is an integer.
  elemental function is(value, number)
    real(r_def), intent(in) :: value
    integer(i_def), intent(in) :: number
    logical :: is

    is = abs(value - real(number, r_def)) <= 0.0_r_def
  end function is

end program values_fields
