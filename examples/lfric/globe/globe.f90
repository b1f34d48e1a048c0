!> Carries a spot of tracer over a corner of a cubed sphere, on any number of ranks.
!>
!> Prints what is known of the tracer as it goes; writes the lowest layer to files of each rank,
!> `globe_<step>.<rank>`: the four corners of a cell, as seen from the centre, and the value in it.
program globe

  use constants_mod, only: i_def, PI, r_def
  use cross_product_mod, only: cross_product
  use extrusion_mod, only: PRIME_EXTRUSION, uniform_extrusion_type
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: W0, W2H, W3
  use function_space_collection_mod, only: function_space_collection, &
                                           function_space_collection_type
  use function_space_mod, only: function_space_type
  use globe_alg_mod, only: advect, measure, stir
  use halo_statistics_mod, only: get_halo_statistics, halo_statistics_type
  use lfric_mpi_mod, only: create_comm, destroy_comm, global_mpi, lfric_comm_type
  use local_mesh_mod, only: local_mesh_type
  use mesh_collection_mod, only: mesh_collection, mesh_collection_type
  use mesh_mod, only: mesh_type

  implicit none

  integer(i_def), parameter :: edge_cells = 24, layers = 4
  real(r_def), parameter :: radius = 6371.0e3_r_def
  ! The wind blows once round the globe in twelve days, about an axis at right angles to a corner of
  ! the cube; the spot comes over this corner half way through.
  real(r_def), parameter :: time_step = 3600.0_r_def
  real(r_def), parameter :: spin = 2.0_r_def * PI / (12.0_r_def * 86400.0_r_def)
  real(r_def), parameter :: corner(3) = 1.0_r_def / sqrt(3.0_r_def)
  real(r_def), parameter :: axis(3) = [-2.0_r_def, -1.0_r_def, 3.0_r_def] / sqrt(14.0_r_def)
  integer, parameter :: steps = 96, steps_between = 32

  type(lfric_comm_type) :: comm
  type(mesh_type), pointer :: mesh
  type(field_type) :: tracer, stream, wind, flux, area
  integer :: step

  call create_comm(comm)
  call global_mpi%initialise(comm)
  call make_mesh()
  call tracer%initialise(space_of(W3), 'tracer')
  call area%initialise(space_of(W3), 'area')
  call stream%initialise(space_of(W0), 'stream')
  call wind%initialise(space_of(W2H), 'wind')
  call flux%initialise(space_of(W2H), 'flux')
  call set_cells()
  call set_stream()
  call stir(wind, stream)

  call report(0)
  do step = 1, steps
    call advect(tracer, wind, flux, area, time_step)
    if (modulo(step, steps_between) == 0) call report(step)
  end do
  call print_statistics()
  call destroy_comm()

contains

  !> Make a sphere.
  subroutine make_mesh()
    type(local_mesh_type), pointer :: sphere

    allocate (mesh_collection, source=mesh_collection_type())
    allocate (function_space_collection, source=function_space_collection_type())
    allocate (sphere)
    sphere = local_mesh_type('sphere', edge_cells)
    mesh => mesh_collection%get_mesh(mesh_collection%add_new_mesh(mesh_type(sphere, &
      uniform_extrusion_type(radius, 10.0e3_r_def, layers, PRIME_EXTRUSION))))
  end subroutine make_mesh

  !> Return a space of lowest order.
  function space_of(fs) result(space)
    integer(i_def), intent(in) :: fs
    type(function_space_type), pointer :: space

    space => function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, fs)
  end function space_of

  !> Set the areas of cells, and the tracer: it goes from 1 to nothing over half a radian
  !> around a place that is a sixth of a turn before the corner. Only owned cells are set: what
  !> others own is left to halo exchanges.
  subroutine set_cells()
    type(field_proxy_type) :: areas, values
    integer(i_def), pointer :: map(:)
    integer(i_def) :: cell
    real(r_def) :: c(3, 8), angle, middle(3), place(3)

    areas = area%get_proxy()
    values = tracer%get_proxy()
    middle = cos(PI / 3.0_r_def) * corner - sin(PI / 3.0_r_def) * cross_product(axis, corner)
    do cell = 1, mesh%get_last_edge_cell()
      call mesh%get_cell_coords(cell, c)
      call mesh%get_cell_centre_coords(cell, place)
      map => areas%vspace%get_cell_dofmap(cell)
      areas%data(map(1):map(1) + layers - 1) = area_between(c(:, 1), c(:, 2), c(:, 3)) + &
                                               area_between(c(:, 1), c(:, 3), c(:, 4))
      angle = acos(dot_product(place, middle) / norm2(place))
      values%data(map(1):map(1) + layers - 1) = &
        0.5_r_def * (1.0_r_def + cos(PI * min(1.0_r_def, 2.0_r_def * angle)))
    end do
    call areas%set_dirty()
    call values%set_dirty()
  end subroutine set_cells

  !> Return the area on the ground of the triangle between three points.
  function area_between(a, b, c) result(triangle)
    real(r_def), intent(in) :: a(3), b(3), c(3)
    real(r_def) :: triangle

    real(r_def) :: below

    below = norm2(a)**3 + norm2(a) * (dot_product(a, b) + dot_product(b, c) + dot_product(c, a))
    triangle = radius**2 * 2.0_r_def * atan2(dot_product(a, cross_product(b, c)), below)
  end function area_between

  !> Set the stream function of a globe that turns evenly.
  subroutine set_stream()
    type(field_proxy_type) :: proxy
    integer(i_def), pointer :: map(:)
    integer(i_def) :: cell, vertex
    real(r_def) :: corners(3, 8)

    proxy = stream%get_proxy()
    do cell = 1, mesh%get_last_edge_cell()
      call mesh%get_cell_coords(cell, corners)
      map => proxy%vspace%get_cell_dofmap(cell)
      do vertex = 1, 4
        proxy%data(map(vertex):map(vertex) + layers) = &
          -spin * radius * dot_product(axis, corners(:, vertex))
      end do
    end do
    call proxy%set_dirty()
  end subroutine set_stream

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

    call measure(tracer, area, total, least, greatest)
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
    real(r_def) :: corners(3, 8)

    proxy = tracer%get_proxy()
    call proxy%bring_to_host()
    write (file_name, '(a, i3.3, a, i0)') 'globe_', at_step, '.', global_mpi%get_comm_rank()
    open (newunit=unit, file=file_name, action='write', status='replace')
    do cell = 1, mesh%get_last_edge_cell()
      call mesh%get_cell_coords(cell, corners)
      map => proxy%vspace%get_cell_dofmap(cell)
      write (unit, '(12f9.5, es25.16e3)') corners(:, :4) / radius, proxy%data(map(1))
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

end program globe
