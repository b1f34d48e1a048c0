!> Spaces on a cubed sphere, of several orders: how many dofs, and that the cells on the two sides
!> of a face agree on what they share, also where panels meet.
!>
!> As gradients, curls and divergences are computed cell by cell, this shows in numbers: cells agree
!> on them, too, curls of gradients and divergences of curls are 0, and what flows out of one cell
!> flows into another.
program sphere_spaces

  use checks_mod, only: answer, check, deepest, finish_checks, layers, new_sphere, space, &
                        start_checks
  use constants_mod, only: i_def, i_halo_index, r_def
  use exact_sum_mod, only: exact_sum_type
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: name_from_functionspace, W0, W1, W2, W2broken, W2H, W2trace, W2V, &
                               W3, Wchi, Wtheta
  use function_space_mod, only: BASIS, DIFF_BASIS, function_space_type
  use lfric_mpi_mod, only: global_mpi
  use mesh_mod, only: mesh_type
  use reference_element_mod, only: reference_element_type
  use surface_mod, only: sides

  implicit none

  integer(i_def), parameter :: edge_cells = 4
  integer(i_def), parameter :: pairs(2, 4) = reshape([0, 0, 1, 1, 1, 0, 2, 1], [2, 4])
  ! Along a side and upward, without any symmetry.
  real(r_def), parameter :: points(2, 2) = reshape( &
    [0.13_r_def, 0.71_r_def, 0.83_r_def, 0.29_r_def], [2, 2])
  type(mesh_type), pointer :: mesh
  integer :: pair

  call start_checks()
  mesh => new_sphere('globe', edge_cells)
  do pair = 1, size(pairs, 2)
    call numbers_of_dofs(pairs(:, pair))
    call sides_agree(pairs(:, pair), W0)
    call sides_agree(pairs(:, pair), W1)
    call sides_agree(pairs(:, pair), W2)
    call derivatives_of_derivatives_vanish(pairs(:, pair))
    call nothing_is_lost(pairs(:, pair))
  end do
  call finish_checks()

contains

  !> Check the number of dofs of a cell and of all ranks, from the numbers of vertices, edges and
  !> cells.
  subroutine numbers_of_dofs(h_and_v)
    integer(i_def), intent(in) :: h_and_v(2)

    integer(i_def), parameter :: c = 6 * edge_cells**2, e = 2 * c, v = c + 2, k = layers
    integer(i_def) :: n, m, nodes

    n = h_and_v(1) + 1
    m = h_and_v(2) + 1
    nodes = v + e * (n - 1) + c * (n - 1)**2
    call expect(h_and_v, W0, nodes * (m * k + 1))
    call expect(h_and_v, W1, (e * n + 2 * c * n * (n - 1)) * (m * k + 1) + nodes * m * k)
    call expect(h_and_v, W2, (e * n + 2 * c * n * (n - 1)) * m * k + c * n**2 * (m * k + 1))
    call expect(h_and_v, W2H, (e * n + 2 * c * n * (n - 1)) * m * k)
    call expect(h_and_v, W2V, c * n**2 * (m * k + 1))
    call expect(h_and_v, W2broken, c * k * (2 * n * (n + 1) * m + n**2 * (m + 1)))
    call expect(h_and_v, W2trace, e * n * m * k + c * n**2 * (k + 1))
    call expect(h_and_v, W3, c * n**2 * m * k)
    call expect(h_and_v, Wtheta, c * n**2 * (m * k + 1))
    call expect(h_and_v, Wchi, c * n**2 * m * k)
  end subroutine numbers_of_dofs

  !> Check the number of dofs of a space over all ranks.
  subroutine expect(h_and_v, which, ndofs)
    integer(i_def), intent(in) :: h_and_v(2)
    integer(i_def), intent(in) :: which, ndofs

    type(function_space_type), pointer :: fs
    integer(i_def) :: owned

    fs => space(mesh, which, h_and_v)
    call check(fs%get_ndof_glob() == ndofs, 'all dofs of ' // name_from_functionspace(which))
    call global_mpi%global_sum(fs%get_last_dof_owned(), owned)
    call check(owned == ndofs, 'each dof has an owner in ' // name_from_functionspace(which))
  end subroutine expect

  !> Return a field with small integers, the same on any number of ranks.
  function new_field(which, h_and_v) result(proxy)
    integer(i_def), intent(in) :: which
    integer(i_def), intent(in) :: h_and_v(2)
    type(field_proxy_type) :: proxy

    type(field_type), pointer :: field
    integer(i_halo_index), allocatable :: ids(:)

    allocate (field)
    call field%initialise(space(mesh, which, h_and_v), halo_depth=deepest)
    proxy = field%get_proxy()
    call proxy%vspace%get_global_dof_id(ids)
    proxy%data = 1.0e30_r_def
    associate (last => proxy%vspace%get_last_dof_owned())
      proxy%data(:last) = &
        real(modulo(37 * ids(:last) + 11 * (ids(:last) / 5), 17_i_halo_index) - 8, r_def)
    end associate
    call proxy%halo_exchange(deepest)
    call check(maxval(abs(proxy%data)) < 9.0_r_def, 'an exchange fills all halos')
  end function new_field

  !> Check that a field has the same value on both sides of a face, as far as its space is
  !> continuous: all of it on W0, what is along the face on W1, what is across it on W2.
  subroutine sides_agree(h_and_v, which)
    integer(i_def), intent(in) :: h_and_v(2)
    integer(i_def), intent(in) :: which

    type(field_proxy_type) :: proxy
    type(exact_sum_type) :: total
    real(r_def), allocatable :: here(:), there(:)
    integer(i_def), pointer :: faces(:, :)
    character(32) :: name
    integer(i_def) :: cell, k, next, p, side

    proxy = new_field(which, h_and_v)
    faces => mesh%get_adjacent_face()
    do cell = 1, mesh%get_last_halo_cell(deepest)
      do side = 1, sides
        next = mesh%get_cell_next(side, cell)
        if (next == 0) cycle
        do k = 0, layers - 1
          do p = 1, size(points, 2, i_def)
            here = shared(proxy, cell, k, side, points(:, p))
            there = shared(proxy, next, k, faces(side, cell), points(:, p))
            call check(all(close(here, there)), &
                       name_from_functionspace(which) // ' is the same from both sides')
            if (cell <= mesh%get_last_edge_cell()) call total%add_values(here)
          end do
        end do
      end do
    end do
    write (name, '(a, 2i0)') trim(name_from_functionspace(which)), h_and_v
    call answer(trim(name), total%get_sum())
  end subroutine sides_agree

  !> Return what a space shares on a side of a cell, at a point along it and upward.
  function shared(proxy, cell, k, side, point) result(values)
    type(field_proxy_type), intent(in) :: proxy
    integer(i_def), intent(in) :: cell, k, side
    real(r_def), intent(in) :: point(2)
    real(r_def), allocatable :: values(:)

    class(reference_element_type), pointer :: element
    real(r_def) :: at(3), normal(3), tangent(3)
    real(r_def), allocatable :: value(:)
    integer(i_def), pointer :: map(:)
    integer(i_def) :: df

    element => mesh%get_reference_element()
    call element%get_normal_to_face(side, normal)
    call element%get_tangent_to_edge(side, tangent)
    at = [0.0_r_def, 0.0_r_def, point(2)] + tangent * point(1)
    if (side == 3) at(1) = 1.0_r_def
    if (side == 4) at(2) = 1.0_r_def
    map => proxy%vspace%get_cell_dofmap(cell)
    allocate (value(proxy%vspace%get_dim_space()))
    value = 0.0_r_def
    do df = 1, proxy%vspace%get_ndf()
      value = value + proxy%data(map(df) + k) * proxy%vspace%call_function(BASIS, df, at)
    end do
    select case (proxy%vspace%which())
    case (W1)
      values = [dot_product(value, tangent), value(3)]
    case (W2)
      values = [dot_product(value, normal)]
    case default
      values = value
    end select
  end function shared

  !> Check that the curl of a gradient and the divergence of a curl are 0, and that cells agree on
  !> all of them.
  subroutine derivatives_of_derivatives_vanish(h_and_v)
    integer(i_def), intent(in) :: h_and_v(2)

    type(field_proxy_type) :: gradient, curl, none

    gradient = derivative_of(new_field(W0, h_and_v), W1, h_and_v)
    none = derivative_of(gradient, W2, h_and_v)
    call check(all(close(none%data, 0.0_r_def)), 'the curl of a gradient')
    call check(.not. all(close(gradient%data, 0.0_r_def)), 'which is not 0')
    curl = derivative_of(new_field(W1, h_and_v), W2, h_and_v)
    none = derivative_of(curl, W3, h_and_v)
    call check(all(close(none%data, 0.0_r_def)), 'the divergence of a curl')
    call check(.not. all(close(curl%data, 0.0_r_def)), 'which is not 0')
  end subroutine derivatives_of_derivatives_vanish

  !> Return the gradient, curl or divergence of a field, as a field on the space that it is in.
  !> Every cell sets all of its dofs, and must find those that others have set as it would set them.
  function derivative_of(from, which, h_and_v) result(to)
    type(field_proxy_type), intent(in) :: from
    integer(i_def), intent(in) :: which
    integer(i_def), intent(in) :: h_and_v(2)
    type(field_proxy_type) :: to

    real(r_def), parameter :: unset = 1.0e30_r_def
    real(r_def), pointer :: nodes(:, :)
    real(r_def), allocatable :: matrix(:, :)
    integer(i_def), pointer :: map(:), from_map(:)
    real(r_def) :: value
    integer(i_def) :: cell, df, k, node

    to = new_field(which, h_and_v)
    to%data = unset
    nodes => to%vspace%get_nodes()
    allocate (matrix(from%vspace%get_ndf(), to%vspace%get_ndf()))
    do node = 1, to%vspace%get_ndf()
      do df = 1, from%vspace%get_ndf()
        matrix(df, node) = dot_product(to%vspace%call_function(BASIS, node, nodes(:, node)), &
                                       from%vspace%call_function(DIFF_BASIS, df, nodes(:, node)))
      end do
    end do
    do cell = 1, mesh%get_last_halo_cell(deepest)
      map => to%vspace%get_cell_dofmap(cell)
      from_map => from%vspace%get_cell_dofmap(cell)
      do k = 0, layers - 1
        do node = 1, to%vspace%get_ndf()
          value = dot_product(matrix(:, node), from%data(from_map + k))
          associate (dof => to%data(map(node) + k))
            if (dof >= unset) dof = value
            call check(close(dof, value), 'cells agree on a derivative')
          end associate
        end do
      end do
    end do
  end function derivative_of

  !> Check that the divergence of what flows sideways adds up to 0 in each layer, over all cells.
  subroutine nothing_is_lost(h_and_v)
    integer(i_def), intent(in) :: h_and_v(2)

    type(field_proxy_type) :: wind
    real(r_def) :: divergence(1), in_layer, in_all
    integer(i_def), pointer :: map(:)
    integer(i_def) :: cell, df, k

    ! A middle of a cell is enough for the integral where the divergence is linear.
    if (any(h_and_v > 1)) return
    wind = new_field(W2H, h_and_v)
    do k = 0, layers - 1
      in_layer = 0.0_r_def
      do cell = 1, mesh%get_last_edge_cell()
        map => wind%vspace%get_cell_dofmap(cell)
        divergence = 0.0_r_def
        do df = 1, wind%vspace%get_ndf()
          divergence = divergence + wind%data(map(df) + k) * &
            wind%vspace%call_function(DIFF_BASIS, df, [0.5_r_def, 0.5_r_def, 0.5_r_def])
        end do
        in_layer = in_layer + divergence(1)
      end do
      call global_mpi%global_sum(in_layer, in_all)
      call check(close(in_all, 0.0_r_def), 'what flows out of one cell flows into another')
    end do
  end subroutine nothing_is_lost

  elemental function close(a, b)
    real(r_def), intent(in) :: a, b
    logical :: close

    close = abs(a - b) < 1.0e-9_r_def
  end function close

end program sphere_spaces
