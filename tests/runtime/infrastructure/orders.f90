!> Spaces of higher orders: how many dofs, bases, the chain W0, W1, W2, W3, and what cells share.
program orders

  use checks_mod, only: answer, check, deepest, finish_checks, layers, new_mesh, space, start_checks
  use constants_mod, only: i_def, i_halo_index, r_def
  use exact_sum_mod, only: exact_sum_type
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: name_from_functionspace, W0, W1, W2, W2broken, W2H, W2trace, W2V, &
                               W3, Wchi, Wtheta
  use function_space_mod, only: BASIS, DIFF_BASIS, function_space_type
  use lfric_mpi_mod, only: global_mpi
  use mesh_mod, only: mesh_type

  implicit none

  integer(i_def), parameter :: cells_x = 6, cells_y = 5
  integer(i_def), parameter :: pairs(2, 5) = reshape([0, 0, 1, 1, 1, 0, 0, 1, 2, 2], [2, 5])
  ! Points in a cell without any symmetry.
  real(r_def), parameter :: points(3, 3) = reshape( &
    [0.13_r_def, 0.71_r_def, 0.42_r_def, 0.83_r_def, 0.29_r_def, 0.95_r_def, &
     0.37_r_def, 0.57_r_def, 0.08_r_def], [3, 3])
  type(mesh_type), pointer :: mesh, bounded
  integer :: pair

  call start_checks()
  mesh => new_mesh('plane', .true., cells_x, cells_y)
  bounded => new_mesh('bounded', .false., cells_x, cells_y)
  do pair = 1, size(pairs, 2)
    call numbers_of_dofs(pairs(:, pair))
    call bases(pairs(:, pair))
    call derivatives_are_in_the_next_space(pairs(:, pair))
    if (pair == size(pairs, 2)) exit
    call neighbours_agree(mesh, pairs(:, pair))
    call neighbours_agree(bounded, pairs(:, pair))
  end do
  call finish_checks()

contains

  !> Check the dofs of a cell and of all ranks; a row of a direction has n or n + 1 points in the
  !> horizontal, m or m + 1 in the vertical.
  subroutine numbers_of_dofs(h_and_v)
    integer(i_def), intent(in) :: h_and_v(2)

    integer(i_def), parameter :: c = cells_x * cells_y, k = layers
    integer(i_def) :: n, m

    n = h_and_v(1) + 1
    m = h_and_v(2) + 1
    call expect(h_and_v, W0, (n + 1)**2 * (m + 1), c * n**2 * (m * k + 1))
    call expect(h_and_v, W1, 2 * n * (n + 1) * (m + 1) + (n + 1)**2 * m, &
                2 * c * n**2 * (m * k + 1) + c * n**2 * m * k)
    call expect(h_and_v, W2, 2 * n * (n + 1) * m + n**2 * (m + 1), &
                2 * c * n**2 * m * k + c * n**2 * (m * k + 1))
    call expect(h_and_v, W2H, 2 * n * (n + 1) * m, 2 * c * n**2 * m * k)
    call expect(h_and_v, W2V, n**2 * (m + 1), c * n**2 * (m * k + 1))
    call expect(h_and_v, W2broken, 2 * n * (n + 1) * m + n**2 * (m + 1), &
                c * k * (2 * n * (n + 1) * m + n**2 * (m + 1)))
    call expect(h_and_v, W2trace, 4 * n * m + 2 * n**2, 2 * c * n * m * k + c * n**2 * (k + 1))
    call expect(h_and_v, W3, n**2 * m, c * n**2 * m * k)
    call expect(h_and_v, Wtheta, n**2 * (m + 1), c * n**2 * (m * k + 1))
    call expect(h_and_v, Wchi, n**2 * m, c * n**2 * m * k)
  end subroutine numbers_of_dofs

  !> Check the number of dofs of a space in a cell and over all ranks.
  subroutine expect(h_and_v, which, ndf, ndofs)
    integer(i_def), intent(in) :: h_and_v(2)
    integer(i_def), intent(in) :: which, ndf, ndofs

    type(function_space_type), pointer :: fs
    integer(i_def) :: owned

    fs => space(mesh, which, h_and_v)
    call check(fs%get_ndf() == ndf, 'dofs of a cell of ' // name_from_functionspace(which))
    call check(fs%get_ndof_glob() == ndofs, 'all dofs of ' // name_from_functionspace(which))
    call global_mpi%global_sum(fs%get_last_dof_owned(), owned)
    call check(owned == ndofs, 'each dof has an owner in ' // name_from_functionspace(which))
    call check(fs%get_ndof_interior() + 2 * shared_on_level(fs) == ndf, 'dofs within and between')
  end subroutine expect

  !> Return the number of dofs of a cell that it shares with the one below it.
  function shared_on_level(fs) result(number)
    type(function_space_type), pointer, intent(in) :: fs
    integer(i_def) :: number

    integer(i_def), pointer :: map(:)
    integer(i_def) :: df

    map => fs%get_cell_dofmap(1_i_def)
    number = 0
    do df = 1, fs%get_ndf()
      number = number + count(map + 1 == map(df), kind=i_def)
    end do
  end function shared_on_level

  !> Check that bases are 1 at their nodes and 0 at the others, and that scalar ones add up to 1.
  subroutine bases(h_and_v)
    integer(i_def), intent(in) :: h_and_v(2)

    integer(i_def), parameter :: scalars(4) = [W0, W3, Wtheta, Wchi]
    integer(i_def), parameter :: all_spaces(8) = [W0, W1, W2, W2H, W2V, W3, Wtheta, Wchi]
    type(function_space_type), pointer :: fs
    real(r_def), pointer :: nodes(:, :)
    real(r_def) :: expected, total(1), slope(3)
    integer(i_def) :: df, node
    integer :: n, p

    do n = 1, size(all_spaces)
      fs => space(mesh, all_spaces(n), h_and_v)
      nodes => fs%get_nodes()
      do node = 1, fs%get_ndf()
        do df = 1, fs%get_ndf()
          expected = merge(1.0_r_def, 0.0_r_def, df == node)
          call check(close(dot_product(fs%call_function(BASIS, node, nodes(:, node)), &
                                       fs%call_function(BASIS, df, nodes(:, node))), expected), &
                     'nodal basis of ' // name_from_functionspace(all_spaces(n)))
        end do
      end do
    end do
    do n = 1, size(scalars)
      fs => space(mesh, scalars(n), h_and_v)
      do p = 1, size(points, 2)
        total = 0.0_r_def
        slope = 0.0_r_def
        do df = 1, fs%get_ndf()
          total = total + fs%call_function(BASIS, df, points(:, p))
          slope = slope + fs%call_function(DIFF_BASIS, df, points(:, p))
        end do
        call check(close(total(1), 1.0_r_def), 'a basis adds up to 1')
        call check(close(maxval(abs(slope)), 0.0_r_def), 'and its gradients to 0')
      end do
    end do
  end subroutine bases

  !> Check that gradients of W0 are in W1, curls of W1 in W2 and divergences of W2 in W3.
  subroutine derivatives_are_in_the_next_space(h_and_v)
    integer(i_def), intent(in) :: h_and_v(2)

    integer(i_def), parameter :: chain(4) = [W0, W1, W2, W3]
    type(function_space_type), pointer :: from, to
    real(r_def), pointer :: nodes(:, :)
    real(r_def), allocatable :: difference(:)
    real(r_def) :: coefficient
    integer(i_def) :: df, node
    integer :: n, p

    do n = 1, 3
      from => space(mesh, chain(n), h_and_v)
      to => space(mesh, chain(n + 1), h_and_v)
      nodes => to%get_nodes()
      do df = 1, from%get_ndf()
        do p = 1, size(points, 2)
          difference = from%call_function(DIFF_BASIS, df, points(:, p))
          do node = 1, to%get_ndf()
            coefficient = dot_product(to%call_function(BASIS, node, nodes(:, node)), &
                                      from%call_function(DIFF_BASIS, df, nodes(:, node)))
            difference = difference - coefficient * to%call_function(BASIS, node, points(:, p))
          end do
          call check(close(maxval(abs(difference)), 0.0_r_def), &
                     'derivatives of ' // name_from_functionspace(chain(n)) // ' are in ' // &
                     name_from_functionspace(chain(n + 1)))
        end do
      end do
    end do
  end subroutine derivatives_are_in_the_next_space

  !> Check that what a space has in common on the faces between cells is the same from both sides,
  !> to the deepest halo, after an exchange; answer with values at points in the cells.
  subroutine neighbours_agree(some_mesh, h_and_v)
    type(mesh_type), pointer, intent(in) :: some_mesh
    integer(i_def), intent(in) :: h_and_v(2)

    ! Across a side in x, in y and between layers: which components of the value are shared.
    logical, parameter :: all_of_it(3, 3) = .true.
    logical, parameter :: none(3, 3) = .false.
    logical, parameter :: normal(3, 3) = reshape( &
      [.true., .false., .false., .false., .true., .false., .false., .false., .true.], [3, 3])
    logical, parameter :: vertical(3, 3) = reshape( &
      [.false., .false., .false., .false., .false., .false., .true., .true., .true.], [3, 3])

    call agree(some_mesh, h_and_v, W0, all_of_it)
    call agree(some_mesh, h_and_v, W1, .not. normal)
    call agree(some_mesh, h_and_v, W2, normal)
    call agree(some_mesh, h_and_v, Wtheta, vertical)
    call agree(some_mesh, h_and_v, W3, none)
  end subroutine neighbours_agree

  !> Check one space.
  subroutine agree(some_mesh, h_and_v, which, shared)
    type(mesh_type), pointer, intent(in) :: some_mesh
    integer(i_def), intent(in) :: h_and_v(2)
    integer(i_def), intent(in) :: which
    logical, intent(in) :: shared(3, 3)

    type(field_type) :: field
    type(field_proxy_type) :: proxy
    type(exact_sum_type) :: total
    integer(i_halo_index), allocatable :: ids(:)
    character(32) :: name
    integer(i_def) :: cell, k, p

    call field%initialise(space(some_mesh, which, h_and_v), halo_depth=deepest)
    proxy = field%get_proxy()
    call proxy%vspace%get_global_dof_id(ids)
    proxy%data = 1.0e30_r_def
    associate (last => proxy%vspace%get_last_dof_owned())
      proxy%data(:last) = cos(real(ids(:last), r_def))
    end associate
    call proxy%halo_exchange(deepest)
    call check(maxval(abs(proxy%data)) <= 1.0_r_def, 'an exchange fills all halos')
    do cell = 1, some_mesh%get_last_halo_cell(deepest)
      do k = 0, layers - 1
        call compare(proxy, [cell, k], [some_mesh%get_cell_next(3_i_def, cell), k], 1, shared)
        call compare(proxy, [cell, k], [some_mesh%get_cell_next(4_i_def, cell), k], 2, shared)
        if (k < layers - 1) call compare(proxy, [cell, k], [cell, k + 1], 3, shared)
        if (cell > some_mesh%get_last_edge_cell()) cycle
        do p = 1, size(points, 2)
          call total%add_values(value_in(proxy, [cell, k], points(:, p)))
        end do
      end do
    end do
    write (name, '(2a, 2i0)') trim(merge('plane  ', 'bounded', associated(some_mesh, mesh))), &
      trim(name_from_functionspace(which)), h_and_v
    call answer(trim(name), total%get_sum())
  end subroutine agree

  !> Check the values of a field on the face between a cell and the next one along an axis; cells
  !> have a column and a layer. There is nothing to check at the end of what a rank holds.
  subroutine compare(proxy, cell, next, axis, shared)
    type(field_proxy_type), intent(in) :: proxy
    integer(i_def), intent(in) :: cell(2), next(2)
    integer, intent(in) :: axis
    logical, intent(in) :: shared(3, 3)

    real(r_def), allocatable :: jump(:)
    real(r_def) :: here(3), there(3)
    type(mesh_type), pointer :: some_mesh
    integer :: p

    some_mesh => proxy%vspace%get_mesh()
    if (next(1) < 1 .or. next(1) > some_mesh%get_ncells_2d()) return
    do p = 1, size(points, 2)
      here = points(:, p)
      there = here
      here(axis) = 1.0_r_def
      there(axis) = 0.0_r_def
      jump = value_in(proxy, cell, here) - value_in(proxy, next, there)
      call check(all(abs(jump) < 1.0e-11_r_def .or. .not. shared(:size(jump), axis)), &
                 name_from_functionspace(proxy%vspace%which()) // ' is the same from both sides')
    end do
  end subroutine compare

  !> Return the value of a field at a point of a cell, which has a column and a layer.
  function value_in(proxy, cell, point) result(value)
    type(field_proxy_type), intent(in) :: proxy
    integer(i_def), intent(in) :: cell(2)
    real(r_def), intent(in) :: point(3)
    real(r_def), allocatable :: value(:)

    integer(i_def), pointer :: map(:)
    integer(i_def) :: df

    map => proxy%vspace%get_cell_dofmap(cell(1))
    allocate (value(proxy%vspace%get_dim_space()))
    value = 0.0_r_def
    do df = 1, proxy%vspace%get_ndf()
      value = value + proxy%data(map(df) + cell(2)) * proxy%vspace%call_function(BASIS, df, point)
    end do
  end function value_in

  pure function close(a, b)
    real(r_def), intent(in) :: a, b
    logical :: close

    close = abs(a - b) < 1.0e-11_r_def
  end function close

end program orders
