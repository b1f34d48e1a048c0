!> Columnwise operators that are known by hand: bands, of sums and products too, and the order of
!> the dofs of a column.
program values_columns

  use checks_mod, only: check, finish_checks, layers, new_mesh, space, start_checks
  use columnwise_operator_mod, only: columnwise_operator_proxy_type, columnwise_operator_type
  use constants_mod, only: i_def, r_solver
  use fs_continuity_mod, only: W2broken, W2V, W3, Wtheta
  use function_space_mod, only: function_space_type
  use mesh_mod, only: mesh_type

  implicit none

  type(mesh_type), pointer :: mesh

  call start_checks()
  mesh => new_mesh('plane', .true., 8, 6)
  call operators_have_bands()
  call columns_are_in_order()
  call sums_have_bands()
  call products_have_bands()
  call finish_checks()

contains

  !> Check the bands of operators that are assembled from those of cells.
  subroutine operators_have_bands()
    call check_band(W3, W3, [1, 1, 0, 0], 1)
    call check_band(Wtheta, W3, [1, 1, 0, 1], 2)
    call check_band(W3, Wtheta, [1, 1, 1, 0], 2)
    call check_band(W2V, Wtheta, [1, 1, 1, 1], 3)
    ! The six rows of a layer have one column.
    call check_band(W2broken, W3, [1, 6, 5, 0], 2)
  end subroutine operators_have_bands

  !> Check the band and the size of the matrices of an operator.
  subroutine check_band(to, from, band, bandwidth)
    integer(i_def), intent(in) :: to, from
    integer, intent(in) :: band(4), bandwidth

    type(columnwise_operator_type) :: operator
    type(columnwise_operator_proxy_type) :: proxy
    type(function_space_type), pointer :: fs_to, fs_from

    fs_to => space(mesh, to)
    fs_from => space(mesh, from)
    call operator%initialise(fs_to, fs_from)
    call check(all(band_of(operator) == band), 'the band of an operator')
    proxy = operator%get_proxy()
    call check(all([proxy%alpha, proxy%beta, proxy%gamma_m, proxy%gamma_p] == band), 'of its proxy')
    call check(proxy%bandwidth == bandwidth, 'the width of a band')
    call check(proxy%nrow == dofs_of_column(to) .and. proxy%ncol == dofs_of_column(from), &
               'rows and columns')
    call check(proxy%ncell_2d == mesh%get_ncells_2d(), 'a matrix for each column of cells')
    call check(all(shape(proxy%columnwise_matrix) == [bandwidth, proxy%nrow, proxy%ncell_2d]), &
               'the size of matrices')
    call check(all(abs(proxy%columnwise_matrix) <= 0.0_r_solver), 'matrices are zero')
  end subroutine check_band

  !> Return alpha, beta, gamma_m and gamma_p.
  function band_of(operator) result(band)
    type(columnwise_operator_type), intent(in) :: operator
    integer(i_def) :: band(4)

    band = [operator%get_alpha(), operator%get_beta(), operator%get_gamma_m(), &
            operator%get_gamma_p()]
  end function band_of

  !> Return the number of dofs of a column.
  pure function dofs_of_column(which) result(number)
    integer(i_def), intent(in) :: which
    integer(i_def) :: number

    number = layers
    if (which == Wtheta .or. which == W2V) number = layers + 1
    if (which == W2broken) number = 6 * layers
  end function dofs_of_column

  !> Check which places dofs have from bottom to top, and where these are in a field.
  subroutine columns_are_in_order()
    type(columnwise_operator_type) :: operator
    type(columnwise_operator_proxy_type) :: proxy
    type(function_space_type), pointer :: fs_to, fs_from
    integer(i_def) :: df, k

    fs_to => space(mesh, Wtheta)
    fs_from => space(mesh, W2broken)
    call operator%initialise(fs_to, fs_from)
    proxy = operator%get_proxy()
    do k = 1, layers
      call check(all(proxy%column_banded_dofmap_to(:, k) == [k, k + 1]), 'levels one by one')
      call check(all(proxy%column_banded_dofmap_from(:, k) == [(6 * (k - 1) + df, df=1, 6)]), &
                 'layer by layer')
      call check(all(proxy%indirection_dofmap_from(6 * k - 5:6 * k) == &
                     [(layers * (df - 1) + k, df=1, 6)]), 'each dof has a column in a field')
    end do
    call check(all(proxy%indirection_dofmap_to == [(k, k=1, layers + 1)]), 'levels in a field')
  end subroutine columns_are_in_order

  !> Check that the band of a sum has both bands, and nothing more.
  subroutine sums_have_bands()
    type(columnwise_operator_type) :: a, b, c
    type(columnwise_operator_proxy_type) :: proxy
    type(function_space_type), pointer :: fs_to, fs_from

    fs_to => space(mesh, Wtheta)
    fs_from => space(mesh, W3)
    call a%initialise(fs_to, fs_from, 2_i_def, 3_i_def, 1_i_def, 4_i_def)
    call b%initialise(fs_to, fs_from, 2_i_def, 3_i_def, 5_i_def, 2_i_def)
    c = a%columnwise_operator_sum(b)
    call check(all(band_of(c) == [2, 3, 5, 4]), 'the band of a sum')
    call check(c%which_fs_to() == Wtheta .and. c%which_fs_from() == W3, 'its spaces')
    proxy = c%get_proxy()
    call check(proxy%bandwidth == 4, 'the width of its band')
    c = b%columnwise_operator_sum(a)
    call check(all(band_of(c) == [2, 3, 5, 4]), 'in any order')
    call check_sum_holds(a, b, c)
  end subroutine sums_have_bands

  !> Check entry by entry what can differ from zero.
  subroutine check_sum_holds(a, b, c)
    type(columnwise_operator_type), intent(in) :: a, b, c

    integer(i_def) :: i, j

    do i = 1, 20
      do j = 1, 20
        call check(may_be(c, i, j) .or. .not. (may_be(a, i, j) .or. may_be(b, i, j)), &
                   'a sum has the entries of both')
      end do
    end do
  end subroutine check_sum_holds

  !> Return whether an entry can differ from zero.
  function may_be(operator, i, j)
    type(columnwise_operator_type), intent(in) :: operator
    integer(i_def), intent(in) :: i, j
    logical :: may_be

    associate (distance => operator%get_alpha() * i - operator%get_beta() * j)
      may_be = -operator%get_gamma_m() <= distance .and. distance <= operator%get_gamma_p()
    end associate
  end function may_be

  !> Check the band of products; what alpha and beta have in common is left out.
  subroutine products_have_bands()
    type(columnwise_operator_type) :: a, b, c
    type(function_space_type), pointer :: fs_to, fs_within, fs_from
    integer(i_def) :: i, j, l

    fs_to => space(mesh, W3)
    fs_within => space(mesh, Wtheta)
    fs_from => space(mesh, W2V)
    call a%initialise(fs_to, fs_within, 1_i_def, 2_i_def, 1_i_def, 3_i_def)
    call b%initialise(fs_within, fs_from, 3_i_def, 1_i_def, 2_i_def, 4_i_def)
    c = a%columnwise_operator_product(b)
    call check(all(band_of(c) == [3, 2, 7, 17]), 'the band of a product')
    call check(c%which_fs_to() == W3 .and. c%which_fs_from() == W2V, 'its spaces')
    do i = 1, 20
      do j = 1, 20
        do l = 1, 20
          call check(may_be(c, i, j) .or. .not. (may_be(a, i, l) .and. may_be(b, l, j)), &
                     'a product has the entries of factors')
        end do
      end do
    end do
    call b%initialise(fs_within, fs_from, 4_i_def, 1_i_def, 2_i_def, 4_i_def)
    c = a%columnwise_operator_product(b)
    call check(all(band_of(c) == [2, 1, 4, 10]), 'the band of a product in lowest terms')
  end subroutine products_have_bands

end program values_columns
