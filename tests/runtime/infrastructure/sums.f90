!> Exact sums: rounded once, and the same on any number of ranks and threads.
program sums

  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_is_nan, ieee_positive_inf, &
                                           ieee_quiet_nan, ieee_value
  use, intrinsic :: iso_fortran_env, only: real64
  use checks_mod, only: answer, check, finish_checks, new_mesh, space, start_checks
  use constants_mod, only: i_def, i_halo_index, r_def
  use exact_sum_mod, only: exact_sum_type
  use field_mod, only: field_proxy_type, field_type
  use field_vector_mod, only: field_vector_type
  use fs_continuity_mod, only: W0, W2
  use function_space_mod, only: function_space_type
  use global_sums_mod, only: use_exact_sums
  use lfric_mpi_mod, only: global_mpi
  use scalar_mod, only: scalar_type

  implicit none

  !$omp declare reduction(+ : exact_sum_type : omp_out = omp_out + omp_in) &
  !$omp   initializer(omp_priv = exact_sum_type())

  real(real64), parameter :: big = huge(1.0_real64), small = 2.0_real64**(-1074)
  real(real64), parameter :: whole = 2.0_real64**53

  call start_checks()
  call sums_are_rounded_once()
  call long_sums_are_exact()
  call what_is_not_finite_shows()
  call use_exact_sums(.true.)
  call fields_have_one_sum()
  call use_exact_sums(.false.)
  call loops_have_one_sum()
  call finish_checks()

contains

  !> Return the sum of values that only the first rank has.
  function sum_of(values)
    real(real64), intent(in) :: values(:)
    real(real64) :: sum_of

    type(exact_sum_type) :: exact

    if (global_mpi%get_comm_rank() == 0) call exact%add_values(values)
    sum_of = exact%get_sum()
    if (global_mpi%get_comm_rank() == 0) then
      call check(transfer(exact%get_sum_of_rank(), 1_i_halo_index) == &
                 transfer(sum_of, 1_i_halo_index), 'one rank has the same sum on its own')
    else
      call check(abs(exact%get_sum_of_rank()) <= 0.0_real64, 'a rank adds what it has')
    end if
  end function sum_of

  !> Check that a sum of values is what it should be, and so is that of the negated ones.
  subroutine expect(values, expected, what)
    real(real64), intent(in) :: values(:)
    real(real64), intent(in) :: expected
    character(*), intent(in) :: what

    call check(transfer(sum_of(values), 1_i_halo_index) == transfer(expected, 1_i_halo_index), what)
    call check(abs(sum_of(-values) + expected) <= 0.0_real64, what // ', negated')
  end subroutine expect

  !> Check sums of a few values, whose rounding is known.
  subroutine sums_are_rounded_once()
    real(real64), parameter :: none(0) = [real(real64) ::]

    call expect(none, 0.0_real64, 'nothing is 0')
    call expect([0.1_real64], 0.1_real64, 'one value')
    call expect([small], small, 'the least value')
    call expect([tiny(big), -small], tiny(big) - small, 'the greatest value below the normal ones')
    call expect([big], big, 'the greatest value')
    call expect([big, 1.0_real64, -big], 1.0_real64, 'what is lost in between comes back')
    call expect([big, big, -big], big, 'more than the greatest value in between')
    call expect([1.0_real64, small, -1.0_real64], small, 'from one end to the other')
    call expect([whole, 1.0_real64], whole, 'a tie goes to the even one below')
    call expect([whole + 2.0_real64, 1.0_real64], whole + 4.0_real64, 'and to that above')
    call expect([whole, 1.0_real64, small], whole + 2.0_real64, 'the least bit decides a tie')
    call expect([whole, 1.0_real64, -small], whole, 'and decides it downwards')
    call expect([2.0_real64 * whole, 3.0_real64], 2.0_real64 * whole + 4.0_real64, 'above a half')
    call expect([whole, 0.5_real64], whole, 'below a half')
    call expect([4.0_real64 * small, -3.0_real64 * small], small, 'below the normal values')
    call check(.not. ieee_is_finite(sum_of([big, big])), 'too great for a real')
  end subroutine sums_are_rounded_once

  !> Check sums that need carries: many equal values, of either sign.
  subroutine long_sums_are_exact()
    integer, parameter :: number = 2**17
    integer :: n

    call expect([(0.1_real64, n=1, number)], 0.1_real64 * number, 'many values')
    call expect([(1.0_real64 - epsilon(1.0_real64), n=1, number)], &
                (1.0_real64 - epsilon(1.0_real64)) * number, 'many values full of bits')
    call expect([1.0_real64, (-epsilon(1.0_real64), n=1, number)], &
                1.0_real64 - number * epsilon(1.0_real64), 'many small values')
  end subroutine long_sums_are_exact

  !> Check that infinities and what is not a number come through on all ranks.
  subroutine what_is_not_finite_shows()
    type(exact_sum_type) :: finite, infinite, whole_sum
    real(real64) :: infinity

    infinity = ieee_value(1.0_real64, ieee_positive_inf)
    call check(sum_of([1.0_real64, infinity]) > big, 'infinity')
    call check(ieee_is_nan(sum_of([infinity, -infinity])), 'infinities of both signs')
    call check(ieee_is_nan(sum_of([ieee_value(1.0_real64, ieee_quiet_nan), 1.0_real64])), 'NaN')
    call finite%add(1.0_real64)
    call infinite%add(infinity)
    whole_sum = finite + infinite
    call check(whole_sum%get_sum() > big, 'infinity in the second of two parts')
    whole_sum = infinite + finite
    call check(whole_sum%get_sum() > big, 'infinity in the first')
  end subroutine what_is_not_finite_shows

  !> Make a field of values of all magnitudes that do not depend on the ranks.
  subroutine set_field(field, which, seed)
    type(field_type), intent(inout) :: field
    integer(i_def), intent(in) :: which
    real(r_def), intent(in) :: seed

    type(function_space_type), pointer :: fs
    type(field_proxy_type) :: proxy
    integer(i_halo_index), allocatable :: ids(:)

    fs => space(new_mesh('plane', .true., 12, 8), which)
    call fs%get_global_dof_id(ids)
    call field%initialise(fs)
    proxy = field%get_proxy()
    ids = ids(:size(proxy%data))
    proxy%data = sin(seed * real(ids, r_def)) * 10.0_r_def**(modulo(ids, 23_i_halo_index) - 11)
  end subroutine set_field

  !> Answer with the sums and inner products of fields, with exact sums.
  subroutine fields_have_one_sum()
    type(field_type) :: x, y
    type(field_proxy_type) :: proxy
    type(field_vector_type) :: vector
    type(scalar_type) :: scalar

    call set_field(x, W0, 1.3_r_def)
    proxy = x%get_proxy()
    call answer('sum', proxy%get_sum())
    call set_field(y, W2, 0.7_r_def)
    vector = field_vector_type(2_i_def)
    call vector%import_field(x, 1_i_def)
    call vector%import_field(y, 2_i_def)
    call answer('norm', vector%norm())
    ! What the scalars of the ranks add up to does not depend on their order.
    scalar%value = merge(whole, 1.0_real64, global_mpi%get_comm_rank() == 0)
    if (global_mpi%get_comm_rank() > 2) scalar%value = 0.0_real64
    call check(abs(scalar%get_sum() - whole - &
                   merge(2.0_real64, 0.0_real64, global_mpi%get_comm_size() > 2)) <= 0.0_real64, &
               'scalars are added exactly')
  end subroutine fields_have_one_sum

  !> Answer with the inner product of fields as generated code may compute it, on two threads.
  subroutine loops_have_one_sum()
    type(field_type) :: x, y
    type(field_proxy_type) :: x_proxy, y_proxy
    type(exact_sum_type) :: exact
    integer(i_def) :: df

    call set_field(x, W0, 1.3_r_def)
    call set_field(y, W0, 0.4_r_def)
    x_proxy = x%get_proxy()
    y_proxy = y%get_proxy()
    !$omp parallel do default(shared), private(df), schedule(static), reduction(+:exact), &
    !$omp   num_threads(2)
    do df = 1, x_proxy%vspace%get_last_dof_owned()
      call exact%add(x_proxy%data(df) * y_proxy%data(df))
    end do
    !$omp end parallel do
    call answer('inner_product', exact%get_sum())
  end subroutine loops_have_one_sum

end program sums
