!> Fields, operators, vectors and collections: values, dirty flags, copies and look-ups.
program fields

  use constants_mod, only: i_def, r_def, r_solver
  use field_collection_iterator_mod, only: field_collection_iterator_type
  use field_collection_mod, only: field_collection_type
  use field_mod, only: field_proxy_type, field_type
  use field_vector_mod, only: field_vector_type
  use fs_continuity_mod, only: W2, W3
  use function_space_mod, only: function_space_type
  use integer_field_mod, only: integer_field_proxy_type, integer_field_type
  use mesh_mod, only: mesh_type
  use operator_mod, only: operator_proxy_type, operator_type
  use r_solver_field_mod, only: r_solver_field_proxy_type, r_solver_field_type
  use scalar_mod, only: scalar_type
  use small_plane_mod, only: check, new_mesh, space

  implicit none

  type(mesh_type), pointer :: mesh
  type(function_space_type), pointer :: fs

  mesh => new_mesh('plane', 6, 4)
  fs => space(mesh, W2)
  call flags()
  call copies()
  call kinds()
  call operators()
  call vectors()
  call collections()

contains

  subroutine flags()
    type(field_type) :: f
    type(field_proxy_type) :: proxy, other

    call f%initialise(fs, 'f', halo_depth=2_i_def)
    proxy = f%get_proxy()
    other = f%get_proxy()
    call check(proxy%is_dirty(depth=1) .and. proxy%is_dirty(depth=2), 'a new field is dirty')
    call proxy%halo_exchange(depth=1)
    call check(.not. other%is_dirty(depth=1), 'an exchange cleans, for every proxy')
    call check(other%is_dirty(depth=2), 'an exchange cleans to its depth only')
    call proxy%halo_exchange_start(depth=2)
    call proxy%halo_exchange_finish(depth=2)
    call check(.not. proxy%is_dirty(depth=2), 'an exchange in two steps cleans')
    call proxy%set_dirty()
    call proxy%set_clean(1)
    call check(proxy%is_dirty(depth=2) .and. .not. proxy%is_dirty(depth=1), 'set_clean has a depth')
  end subroutine flags

  subroutine copies()
    type(field_type) :: f, g, h
    type(field_proxy_type) :: f_proxy, g_proxy, h_proxy
    type(scalar_type) :: total
    real(r_def), allocatable, target :: elsewhere(:)

    allocate (elsewhere(fs%get_undf()))
    call f%initialise(fs, 'f')
    f_proxy = f%get_proxy()
    f_proxy%data = 2.0_r_def
    call f_proxy%set_clean(1)
    g = f
    g_proxy = g%get_proxy()
    f_proxy%data = 3.0_r_def
    call check(all(g_proxy%data == 2.0_r_def), 'a copy has data of its own')
    call check(.not. g_proxy%is_dirty(depth=1), 'a copy is as clean')
    call check(g%get_name() == 'f', 'a copy has the name')
    call f%copy_field_properties(h, 'h')
    h_proxy = h%get_proxy()
    call check(h%get_name() == 'h' .and. h%which_function_space() == W2, 'properties are copied')
    call check(size(h_proxy%data) == fs%get_undf(), 'there is a value for each dof')
    call check(f_proxy%get_sum() == 3.0_r_def * fs%get_undf(), 'the sum')
    f_proxy%data(1) = -1.0_r_def
    call check(f_proxy%get_min() == -1.0_r_def .and. f_proxy%get_max() == 3.0_r_def, 'the range')
    call h%initialise(fs, override_data=elsewhere)
    h_proxy = h%get_proxy()
    h_proxy%data = 4.0_r_def
    call check(all(elsewhere == 4.0_r_def), 'a field can refer to data elsewhere')
    total%value = 5.0_r_def
    call check(total%get_sum() == 5.0_r_def, 'one rank has the sum')
  end subroutine copies

  subroutine kinds()
    type(integer_field_type) :: n
    type(integer_field_proxy_type) :: n_proxy
    type(r_solver_field_type) :: s
    type(r_solver_field_proxy_type) :: s_proxy

    call n%initialise(fs)
    n_proxy = n%get_proxy()
    n_proxy%data = 7
    call check(n_proxy%get_max() == 7, 'integer data')
    call s%initialise(fs)
    s_proxy = s%get_proxy()
    s_proxy%data = 0.5_r_solver
    call check(kind(s_proxy%data) == r_solver .and. s_proxy%get_min() == 0.5_r_solver, 'r_solver')
  end subroutine kinds

  subroutine operators()
    type(operator_type) :: op, copy
    type(operator_proxy_type) :: proxy, copy_proxy

    call op%initialise(fs, space(mesh, W3))
    proxy = op%get_proxy()
    call check(proxy%ncell_3d == 24 * 5, 'a matrix for every cell')
    call check(all(shape(proxy%local_stencil) == [120, 6, 1]), 'cells first, then to, then from')
    copy = op
    proxy%local_stencil = 1.0_r_def
    copy_proxy = copy%get_proxy()
    call check(all(copy_proxy%local_stencil == 0.0_r_def), 'a copy has matrices of its own')
    call check(copy%which_fs_to() == W2 .and. copy%which_fs_from() == W3, 'spaces of a copy')
  end subroutine operators

  subroutine vectors()
    type(field_vector_type) :: x, y
    type(field_type) :: f

    call f%initialise(fs, 'f')
    x = field_vector_type(2)
    call x%import_field(f, 1)
    call x%import_field(f, 2)
    call x%set_scalar(3.0_r_def)
    call y%copy(x)
    call y%axpy(-1.0_r_def, x)
    call check(y%norm() == 0.0_r_def, 'x - x')
    call y%aypx(5.0_r_def, x)
    call check(abs(y%dot(x) - 9.0_r_def * 2 * fs%get_undf()) < 1.0e-9_r_def, 'the inner product')
  end subroutine vectors

  subroutine collections()
    type(field_collection_type) :: all_fields
    type(field_collection_iterator_type) :: iterator
    type(field_type) :: f
    type(r_solver_field_type) :: s
    type(integer_field_type) :: n
    type(field_type), pointer :: f_found
    type(r_solver_field_type), pointer :: s_found
    type(integer_field_type), pointer :: n_found
    integer :: visited

    call f%initialise(fs, 'f')
    call s%initialise(fs, 's')
    call n%initialise(fs, 'n')
    call all_fields%initialise(name='all', table_len=10)
    call all_fields%add_field(f)
    call all_fields%add_field(s)
    call all_fields%add_field(n)
    call all_fields%get_field('s', s_found)
    call all_fields%get_field('n', n_found)
    call all_fields%get_field('f', f_found)
    call check(f_found%get_name() == 'f', 'a field is found')
    call check(s_found%get_name() == 's', 'a field of another kind is found')
    call check(n_found%get_name() == 'n', 'a field of integers is found')
    call check(.not. all_fields%field_exists('t'), 'a field that is not there is not found')
    call iterator%initialise(all_fields)
    visited = 0
    do while (iterator%has_next())
      associate (field => iterator%next())
        visited = visited + merge(1, 0, field%is_initialised())
      end associate
    end do
    call check(visited == 3, 'the iterator visits every field')
    call all_fields%remove_field('f')
    call check(all_fields%get_length() == 2, 'a field is removed')
  end subroutine collections

end program fields
