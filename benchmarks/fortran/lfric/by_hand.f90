!> The same as `bench_alg_mod.x90`, written by hand for one thread: what a person makes who knows the
!> mesh and the spaces. A cell has six dofs on W2 and eight neighbours within two cells.
module bench_alg_mod

  use constants_mod, only: i_def, r_def
  use field_mod, only: field_proxy_type, field_type
  use operator_mod, only: operator_proxy_type, operator_type
  use stencil_dofmap_mod, only: STENCIL_CROSS, stencil_dofmap_type

  implicit none
  private

  public :: five_built_ins, matvec, stencils

contains

  !> Set y to the product of a matrix for each cell and x.
  subroutine matvec(y, x, matrix)
    type(field_type), intent(inout) :: y
    type(field_type), intent(in) :: x
    type(operator_type), intent(in) :: matrix
    type(field_proxy_type) :: y_proxy, x_proxy
    type(operator_proxy_type) :: matrix_proxy

    y_proxy = y%get_proxy()
    x_proxy = x%get_proxy()
    matrix_proxy = matrix%get_proxy()
    call invoke_matvec(y_proxy%data, x_proxy%data, matrix_proxy%local_stencil, &
                       size(y_proxy%data), y_proxy%vspace%get_nlayers(), &
                       y_proxy%vspace%get_ncell(), y_proxy%vspace%get_whole_dofmap())
  end subroutine matvec

  !> Set y to the product, a row of the matrices of a column of cells after the other.
  subroutine invoke_matvec(y, x, matrix, undf, nlayers, ncell, map)
    integer(i_def), intent(in) :: undf, nlayers, ncell
    integer(i_def), intent(in) :: map(6, ncell)
    real(r_def), intent(out) :: y(0:undf - 1)
    real(r_def), intent(in) :: x(0:undf - 1), matrix(nlayers, ncell, 6, 6)
    integer(i_def) :: cell, row, k, from(6)

    y = 0.0_r_def
    do cell = 1, ncell
      from = map(:, cell) - 2
      do row = 1, 6
        do k = 1, nlayers
          y(from(row) + k) = y(from(row) + k) &
              + matrix(k, cell, row, 1) * x(from(1) + k) &
              + matrix(k, cell, row, 2) * x(from(2) + k) &
              + matrix(k, cell, row, 3) * x(from(3) + k) &
              + matrix(k, cell, row, 4) * x(from(4) + k) &
              + matrix(k, cell, row, 5) * x(from(5) + k) &
              + matrix(k, cell, row, 6) * x(from(6) + k)
        end do
      end do
    end do
  end subroutine invoke_matvec

  !> Smooth x twice over all neighbours within two cells, with y in between.
  subroutine stencils(x, y)
    type(field_type), intent(inout) :: x, y
    type(field_proxy_type) :: y_proxy, x_proxy
    type(stencil_dofmap_type), pointer :: cross

    y_proxy = y%get_proxy()
    x_proxy = x%get_proxy()
    cross => x_proxy%vspace%get_stencil_dofmap(STENCIL_CROSS, 2_i_def)
    call invoke_stencils(x_proxy%data, y_proxy%data, size(x_proxy%data), &
                         x_proxy%vspace%get_nlayers(), x_proxy%vspace%get_ncell(), &
                         cross%get_whole_dofmap())
  end subroutine stencils

  !> Smooth x twice, with y in between.
  subroutine invoke_stencils(x, y, undf, nlayers, ncell, cross)
    integer(i_def), intent(in) :: undf, nlayers, ncell, cross(1, 9, ncell)
    real(r_def), intent(inout) :: x(0:undf - 1), y(0:undf - 1)

    call blur(y, x, undf, nlayers, ncell, cross)
    call blur(x, y, undf, nlayers, ncell, cross)
  end subroutine invoke_stencils

  !> Set values to the means of nine; the first of the cross is the column itself.
  subroutine blur(mean, field, undf, nlayers, ncell, cross)
    integer(i_def), intent(in) :: undf, nlayers, ncell, cross(9, ncell)
    real(r_def), intent(inout) :: mean(0:undf - 1)
    real(r_def), intent(in) :: field(0:undf - 1)
    real(r_def), parameter :: ninth = 1.0_r_def / 9.0_r_def
    integer(i_def) :: cell, k, from(9)

    do cell = 1, ncell
      from = cross(:, cell) - 2
      do k = 1, nlayers
        mean(from(1) + k) = ninth * ( &
            field(from(1) + k) + field(from(2) + k) + field(from(3) + k) &
            + field(from(4) + k) + field(from(5) + k) + field(from(6) + k) &
            + field(from(7) + k) + field(from(8) + k) + field(from(9) + k))
      end do
    end do
  end subroutine blur

  !> Do what a step of a solver does between its matrices.
  subroutine five_built_ins(x, y, z, w, a, dot, total)
    type(field_type), intent(inout) :: x, z, w
    type(field_type), intent(in) :: y
    real(r_def), intent(in) :: a
    real(r_def), intent(out) :: dot, total
    type(field_proxy_type) :: x_proxy, y_proxy, z_proxy, w_proxy

    x_proxy = x%get_proxy()
    y_proxy = y%get_proxy()
    z_proxy = z%get_proxy()
    w_proxy = w%get_proxy()
    call invoke_five_built_ins(x_proxy%data, y_proxy%data, z_proxy%data, w_proxy%data, &
                               size(x_proxy%data), a, dot, total)
  end subroutine five_built_ins

  !> Do all in one loop, whose sums are vectors.
  subroutine invoke_five_built_ins(x, y, z, w, undf, a, dot, total)
    integer(i_def), intent(in) :: undf
    real(r_def), intent(inout) :: x(undf), z(undf), w(undf)
    real(r_def), intent(in) :: y(undf), a
    real(r_def), intent(out) :: dot, total
    integer(i_def) :: df

    dot = 0.0_r_def
    total = 0.0_r_def
    !$omp simd reduction(+:dot, total)
    do df = 1, undf
      x(df) = x(df) + a * y(df)
      w(df) = a * x(df) + z(df)
      z(df) = a * z(df) + w(df)
      dot = dot + x(df) * z(df)
      total = total + w(df)
    end do
  end subroutine invoke_five_built_ins

end module bench_alg_mod
