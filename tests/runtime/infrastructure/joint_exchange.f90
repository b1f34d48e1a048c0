!> Exchanges of several fields together: what they fill, and one message for each neighbour.
program joint_exchange

  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use checks_mod, only: check, deepest, finish_checks, new_mesh, space, start_checks
  use constants_mod, only: i_def, i_halo_index
  use field_parent_mod, only: field_parent_proxy_type
  use field_real32_mod, only: field_real32_proxy_type, field_real32_type
  use field_real64_mod, only: field_real64_proxy_type, field_real64_type
  use fs_continuity_mod, only: W0, W2, W3
  use function_space_mod, only: function_space_type
  use halo_statistics_mod, only: get_halo_statistics, halo_statistics_type, &
                                 reset_halo_statistics
  use integer_field_mod, only: integer_field_proxy_type, integer_field_type
  use joint_exchange_mod, only: exchange_fields, joint_exchange_type
  use mesh_mod, only: mesh_type

  implicit none

  real(real64), parameter :: unset = -1.0_real64
  type(mesh_type), pointer :: mesh

  call start_checks()
  mesh => new_mesh('periodic', .true., 8, 6)
  call exchange_on(mesh)
  mesh => new_mesh('bounded', .false., 7, 5)
  call exchange_on(mesh)
  call finish_checks()

contains

  !> Exchange fields on three spaces to three depths, and vectors of other kinds to one.
  subroutine exchange_on(mesh)
    type(mesh_type), pointer, intent(in) :: mesh

    type(field_real64_type), target :: u, rho, theta
    type(field_real64_proxy_type) :: u_proxy, rho_proxy, theta_proxy
    type(field_real32_type) :: winds(3)
    type(field_real32_proxy_type) :: wind_proxies(3)
    type(integer_field_type) :: counts(2)
    type(integer_field_proxy_type) :: count_proxies(2)
    type(joint_exchange_type) :: exchange
    type(halo_statistics_type) :: apart, together
    type(function_space_type), pointer :: fs
    integer(i_def) :: n

    call new_field(u, mesh, W2)
    call new_field(rho, mesh, W3)
    call new_field(theta, mesh, W0)
    u_proxy = u%get_proxy()
    rho_proxy = rho%get_proxy()
    theta_proxy = theta%get_proxy()

    call reset_halo_statistics()
    call exchange_fields([u_proxy, rho_proxy, theta_proxy], [2, 3, 1])
    together = get_halo_statistics()
    call check(is_filled(u_proxy, 2), 'the field on W2 is filled to depth 2')
    call check(is_filled(rho_proxy, 3), 'the field on W3 is filled to depth 3')
    call check(is_filled(theta_proxy, 1), 'the field on W0 is filled to depth 1')

    call reset_halo_statistics()
    call exchange_fields([u_proxy, rho_proxy, theta_proxy], [2, 3, 1])
    apart = get_halo_statistics()
    call check(apart%exchanges == 0 .and. apart%messages == 0, 'clean fields send nothing')

    call u_proxy%halo_exchange(2)
    call rho_proxy%halo_exchange(3)
    call theta_proxy%halo_exchange(1)
    apart = get_halo_statistics()
    call check(together%exchanges == apart%exchanges, 'as many exchanges as apart')
    call check(together%bytes == apart%bytes, 'as many bytes as apart')
    ! The exchange of rho, the deepest, has messages to all neighbours that any has.
    call rho_proxy%set_dirty()
    call reset_halo_statistics()
    call rho_proxy%halo_exchange(3)
    apart = get_halo_statistics()
    call check(together%messages == apart%messages, 'one message for each neighbour')

    call rho_proxy%set_dirty()
    call reset_halo_statistics()
    call exchange%start([u_proxy, rho_proxy], [2, 3])
    call exchange%finish()
    together = get_halo_statistics()
    call check(together%exchanges == 1 .and. together%bytes == apart%bytes, &
               'only what is dirty is sent')

    call u_proxy%set_dirty()
    u_proxy%data = values_of(u_proxy, W2)
    call reset_halo_statistics()
    call exchange_fields([u_proxy, u_proxy, u_proxy], [1, 3, 2])
    together = get_halo_statistics()
    call check(together%exchanges == 1, 'a field that is there three times is sent once')
    call check(is_filled(u_proxy, 3), 'a field that is there three times is filled to the deepest')
    call exchange_again(u_proxy, rho_proxy, theta_proxy)

    fs => space(mesh, W2)
    do n = 1, 3
      call winds(n)%initialise(fs, halo_depth=deepest)
      wind_proxies(n) = winds(n)%get_proxy()
      wind_proxies(n)%data = real(values_of(wind_proxies(n), n), real32)
    end do
    do n = 1, 2
      call counts(n)%initialise(fs, halo_depth=deepest)
      count_proxies(n) = counts(n)%get_proxy()
      count_proxies(n)%data = int(values_of(count_proxies(n), n), i_def)
    end do
    call exchange_fields(wind_proxies, 2)
    call exchange%start(wind_proxies, [(2_i_def, n=1, 3)])
    call exchange%finish()
    call exchange%start(count_proxies, [(1_i_def, n=1, 2)])
    call exchange%finish()
    call exchange_fields(count_proxies, 1)
    do n = 1, 3
      call check(all(abs(real(wind_proxies(n)%data, real64) - &
                         expected_of(wind_proxies(n), n, 2)) <= 0.0_real64), 'vectors of reals')
    end do
    do n = 1, 2
      call check(all(count_proxies(n)%data == &
                     int(expected_of(count_proxies(n), n, 1), i_def)), 'vectors of integers')
    end do
  end subroutine exchange_on

  !> Exchange other fields after each other, and alone in between, with what is kept for them.
  subroutine exchange_again(u, rho, theta)
    type(field_real64_proxy_type), intent(inout) :: u, rho, theta

    integer(i_def) :: n

    do n = 1, 2
      call make_stale(u)
      call make_stale(rho)
      call make_stale(theta)
      call exchange_fields([u, rho], [1, 2])
      call check(is_filled(u, 1) .and. is_filled(rho, 2), 'two fields are filled')
      call make_stale(u)
      call make_stale(rho)
      call exchange_fields([u, theta, rho], [2, 2, 1])
      call check(is_filled(u, 2) .and. is_filled(theta, 2) .and. is_filled(rho, 1), &
                 'three fields are filled')
      call make_stale(u)
      call u%halo_exchange(1)
      call check(is_filled(u, 1), 'a field is filled alone')
    end do
  end subroutine exchange_again

  !> Give a field the values that it has where the rank owns them, and a halo of none.
  subroutine make_stale(proxy)
    type(field_real64_proxy_type), intent(inout) :: proxy

    proxy%data = values_of(proxy, proxy%vspace%which())
    call proxy%set_dirty()
  end subroutine make_stale

  !> Make a field with values that are known where the rank owns them.
  subroutine new_field(field, mesh, which)
    type(field_real64_type), intent(inout) :: field
    type(mesh_type), pointer, intent(in) :: mesh
    integer(i_def), intent(in) :: which

    type(function_space_type), pointer :: fs
    type(field_real64_proxy_type) :: proxy

    fs => space(mesh, which)
    call field%initialise(fs, halo_depth=deepest)
    proxy = field%get_proxy()
    proxy%data = values_of(proxy, which)
  end subroutine new_field

  !> Return values that follow from the ids of dofs, unset for those of other ranks.
  function values_of(proxy, seed) result(values)
    class(field_parent_proxy_type), intent(in) :: proxy
    integer(i_def), intent(in) :: seed
    real(real64), allocatable :: values(:)

    values = expected_of(proxy, seed, 0)
  end function values_of

  !> Return the values of a field after an exchange to a depth, 0 for none.
  function expected_of(proxy, seed, depth) result(values)
    class(field_parent_proxy_type), intent(in) :: proxy
    integer(i_def), intent(in) :: seed
    integer(i_def), intent(in) :: depth
    real(real64), allocatable :: values(:)

    integer(i_halo_index), allocatable :: ids(:)
    integer(i_def) :: last

    call proxy%vspace%get_global_dof_id(ids)
    values = real(7 * ids + seed, real64)
    last = proxy%vspace%get_last_dof_owned()
    if (depth > 0) last = proxy%vspace%get_last_dof_halo(depth)
    values(last + 1:) = unset
  end function expected_of

  !> Return whether a field is filled to a depth, no further, and says so.
  function is_filled(proxy, depth)
    type(field_real64_proxy_type), intent(in) :: proxy
    integer(i_def), intent(in) :: depth
    logical :: is_filled

    is_filled = all(abs(proxy%data - expected_of(proxy, proxy%vspace%which(), depth)) <= &
                    0.0_real64)
    is_filled = is_filled .and. .not. proxy%is_dirty(depth)
    if (depth < deepest) is_filled = is_filled .and. proxy%is_dirty(depth + 1)
  end function is_filled

end program joint_exchange
