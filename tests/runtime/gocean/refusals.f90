!> Does one thing that the infrastructure refuses: the first word of the command line says which.
!>
!> A second word is there if there are ranks; without it, MPI is not started.
program refusals

  use field_mod, only: exchange_several, field_reference_type, go_all_points, go_t_points, &
      go_u_points, r2d_field
  use gocean_mod, only: gocean_initialise
  use grid_mod, only: go_arakawa_c, go_bc_none, go_bc_periodic, go_offset_ne, grid_init, grid_type
  use kind_params_mod, only: go_wp
  use storage_constants_mod, only: access_read, space_host

  implicit none

  integer, parameter :: ends(3) = [go_bc_periodic, go_bc_none, go_bc_none]
  type(grid_type), target :: grid
  type(r2d_field), target :: field
  character(32) :: what

  call get_command_argument(1, what)
  if (command_argument_count() > 1) call gocean_initialise()
  grid = grid_type(go_arakawa_c, ends, go_offset_ne)
  select case (what)
  case ('no offset')
    grid = grid_type(go_arakawa_c, ends)
  case ('unknown grid')
    grid = grid_type(7, ends, go_offset_ne)
  case ('not decomposed')
    call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
  case ('subdomains for other ranks')
    call grid%decompose(8, 8, ndomains=3)
  case ('more subdomains than ranks')
    call grid%decompose(8, 8, ndomainx=2, ndomainy=2)
  case ('subdomains in x only')
    call grid%decompose(8, 8, ndomainx=2)
  case ('subdomains in y only')
    call grid%decompose(8, 8, ndomainy=2)
  case ('fewer points than ranks')
    call grid%decompose(1, 1)
  case ('fewer points than subdomains')
    call grid%decompose(8, 1, ndomainx=1, ndomainy=2)
  case ('negative subdomains')
    call grid%decompose(8, 8, ndomainx=-1, ndomainy=-1)
  case ('no halo')
    call grid%decompose(8, 8, halo_width=0)
  case ('halo around the domain')
    call grid%decompose(2, 8, halo_width=3)
    call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
  case default
    call grid%decompose(8, 8, halo_width=2)
    call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
    field = r2d_field(grid, go_t_points)
    call misuse_field()
  end select
  print '(2a)', 'nobody refuses: ', what

contains

  !> Do what a field refuses.
  subroutine misuse_field()
    real(go_wp), pointer, contiguous :: values(:, :)

    select case (what)
    case ('points below all types')
      field = r2d_field(grid, go_u_points - 1)
    case ('points above all types')
      field = r2d_field(grid, go_all_points + 1)
    case ('start before the end')
      call field%halo_exchange_start(1)
      call field%halo_exchange_start(1)
    case ('together before the end')
      call field%halo_exchange_start(1)
      call exchange_several([field_reference_type(field)], 1)
    case ('end before the start')
      call field%halo_exchange_finish(1)
    case ('end of another depth')
      call field%halo_exchange_start(1)
      call field%halo_exchange_finish(2)
    case ('end of depth 0')
      call field%halo_exchange_finish(0)
    case ('depth 0')
      call field%halo_exchange(0)
    case ('depth beyond the halo')
      call field%halo_exchange(3)
    case ('depth beyond the halo together')
      call exchange_several([field_reference_type(field)], 3)
    case ('read from nowhere')
      field%data_on_device = .true.
      call field%read_from_device()
    case ('a storage beside directives')
      field%data_on_device = .true.
      call field%acquire(space_host, access_read, values)
    case ('directives beside a storage')
      call field%acquire(space_host, access_read, values)
      call field%release(space_host)
      field%data_on_device = .true.
      call field%halo_exchange(1)
    case ('write to nowhere')
      field%data_on_device = .true.
      call field%write_to_device()
    end select
  end subroutine misuse_field

end program refusals
