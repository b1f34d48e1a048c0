!> Carries a square of tracer once across a biperiodic plane, on any number of ranks.
!>
!> Prints what is known of the tracer as it goes, and what halo exchanges have cost; writes the
!> values of the lowest layer to files of each rank, `tracer_<step>.<rank>`: x, y, value.
program advection

  use advection_alg_mod, only: advect, measure
  use constants_mod, only: i_def, r_def
  use extrusion_mod, only: PRIME_EXTRUSION, uniform_extrusion_type
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: W2H, W3
  use function_space_collection_mod, only: function_space_collection, &
                                           function_space_collection_type
  use function_space_mod, only: function_space_type
  use halo_statistics_mod, only: get_halo_statistics, halo_statistics_type
  use lfric_mpi_mod, only: create_comm, destroy_comm, global_mpi, lfric_comm_type
  use local_mesh_mod, only: local_mesh_type
  use mesh_collection_mod, only: mesh_collection, mesh_collection_type
  use mesh_mod, only: mesh_type

  implicit none

  integer(i_def), parameter :: cells = 32, layers = 4
  real(r_def), parameter :: width = 1000.0_r_def
  real(r_def), parameter :: time_step = 50.0_r_def
  real(r_def), parameter :: wind_east = 10.0_r_def, wind_north = 5.0_r_def
  integer, parameter :: steps = 64, steps_between = 16

  type(lfric_comm_type) :: comm
  type(mesh_type), pointer :: mesh
  type(field_type) :: tracer, wind, flux
  integer :: step

  call create_comm(comm)
  call global_mpi%initialise(comm)
  call make_mesh()
  call tracer%initialise(space_of(W3), 'tracer')
  call wind%initialise(space_of(W2H), 'wind')
  call flux%initialise(space_of(W2H), 'flux')
  call place_tracer()
  call set_wind()

  call report(0)
  do step = 1, steps
    call advect(tracer, wind, flux, time_step / width)
    if (modulo(step, steps_between) == 0) call report(step)
  end do
  call print_statistics()
  call destroy_comm()

contains

  !> Make a plane that has no borders.
  subroutine make_mesh()
    type(local_mesh_type), pointer :: plane

    allocate (mesh_collection, source=mesh_collection_type())
    allocate (function_space_collection, source=function_space_collection_type())
    allocate (plane)
    plane = local_mesh_type('plane', cells, cells, width, width)
    mesh => mesh_collection%get_mesh(mesh_collection%add_new_mesh( &
      mesh_type(plane, uniform_extrusion_type(0.0_r_def, 1000.0_r_def, layers, PRIME_EXTRUSION))))
  end subroutine make_mesh

  !> Return a space of lowest order.
  function space_of(fs) result(space)
    integer(i_def), intent(in) :: fs
    type(function_space_type), pointer :: space

    space => function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, fs)
  end function space_of

  !> Put 1 into the cells of a square off the middle, in owned cells: what others own is left to
  !> halo exchanges.
  subroutine place_tracer()
    type(field_proxy_type) :: proxy
    integer(i_def), pointer :: map(:)
    integer(i_def) :: cell
    real(r_def) :: place(3)

    proxy = tracer%get_proxy()
    do cell = 1, mesh%get_last_edge_cell()
      call mesh%get_cell_centre_coords(cell, place)
      map => proxy%vspace%get_cell_dofmap(cell)
      proxy%data(map(1):map(1) + layers - 1) = &
        merge(1.0_r_def, 0.0_r_def, all(abs(place(:2) / width - 10.0_r_def) < 5.0_r_def))
    end do
    call proxy%set_dirty()
  end subroutine place_tracer

  !> Let the wind blow evenly; the sides of a cell are W, S, E, N.
  subroutine set_wind()
    type(field_proxy_type) :: proxy
    integer(i_def), pointer :: map(:)
    integer(i_def) :: cell, side

    proxy = wind%get_proxy()
    do cell = 1, mesh%get_last_edge_cell()
      map => proxy%vspace%get_cell_dofmap(cell)
      do side = 1, 4
        proxy%data(map(side):map(side) + layers - 1) = &
          merge(wind_east, wind_north, modulo(side, 2) == 1)
      end do
    end do
    call proxy%set_dirty()
  end subroutine set_wind

  !> Print what is known of the tracer, and write where it is.
  subroutine report(at_step)
    integer, intent(in) :: at_step

    call print_state(at_step)
    call write_tracer(at_step)
  end subroutine report

  !> Print what is known of the tracer.
  subroutine print_state(at_step)
    integer, intent(in) :: at_step

    real(r_def) :: total, least, greatest

    call measure(tracer, total, least, greatest)
    if (global_mpi%get_comm_rank() == 0) &
      print '(a, i4, 3(a, es23.16))', 'step', at_step, '  total', total, '  least', least, &
        '  greatest', greatest
  end subroutine print_state

  !> Write the lowest layer.
  subroutine write_tracer(at_step)
    integer, intent(in) :: at_step

    type(field_proxy_type) :: proxy
    integer(i_def), pointer :: map(:)
    character(32) :: file_name
    integer(i_def) :: cell
    integer :: unit
    real(r_def) :: place(3)

    proxy = tracer%get_proxy()
    call proxy%bring_to_host()
    write (file_name, '(a, i3.3, a, i0)') 'tracer_', at_step, '.', global_mpi%get_comm_rank()
    open (newunit=unit, file=file_name, action='write', status='replace')
    do cell = 1, mesh%get_last_edge_cell()
      call mesh%get_cell_centre_coords(cell, place)
      map => proxy%vspace%get_cell_dofmap(cell)
      write (unit, '(2f9.1, es25.16e3)') place(:2), proxy%data(map(1))
    end do
    close (unit)
  end subroutine write_tracer

  !> Print what halo exchanges have cost rank 0.
  subroutine print_statistics()
    type(halo_statistics_type) :: statistics

    statistics = get_halo_statistics()
    if (global_mpi%get_comm_rank() == 0) &
      print '(3(i0, a))', statistics%exchanges, ' halo exchanges, ', statistics%messages, &
        ' messages and ', statistics%bytes, ' bytes sent by this rank'
  end subroutine print_statistics

end program advection
