!> Adds a multiple of the product of two columnwise operators to a third.
module multiply_columns_kernel_mod

  use argument_mod, only: ANY_SPACE_1, ANY_SPACE_2, ANY_SPACE_3, arg_type, CELL_COLUMN, &
                          GH_COLUMNWISE_OPERATOR, GH_READ, GH_READWRITE, GH_REAL, GH_SCALAR
  use constants_mod, only: i_def, r_def, r_solver
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: multiply_columns_code

  type, public, extends(kernel_type) :: multiply_columns_type
    private
    type(arg_type) :: meta_args(4) = [ &
      arg_type(GH_COLUMNWISE_OPERATOR, GH_REAL, GH_READWRITE, ANY_SPACE_1, ANY_SPACE_2), &
      arg_type(GH_COLUMNWISE_OPERATOR, GH_REAL, GH_READ, ANY_SPACE_1, ANY_SPACE_3), &
      arg_type(GH_COLUMNWISE_OPERATOR, GH_REAL, GH_READ, ANY_SPACE_3, ANY_SPACE_2), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: multiply_columns_code
  end type multiply_columns_type

contains

  !> Set c to c + factor a b; its band must hold that of the product.
  subroutine multiply_columns_code(cell, ncell_2d, &
                                   c, nrow_c, ncol_c, bandwidth_c, alpha_c, beta_c, gamma_m_c, &
                                   gamma_p_c, &
                                   a, nrow_a, ncol_a, bandwidth_a, alpha_a, beta_a, gamma_m_a, &
                                   gamma_p_a, &
                                   b, nrow_b, ncol_b, bandwidth_b, alpha_b, beta_b, gamma_m_b, &
                                   gamma_p_b, factor)
    integer(i_def), intent(in) :: cell, ncell_2d
    integer(i_def), intent(in) :: nrow_c, ncol_c, bandwidth_c, alpha_c, beta_c, gamma_m_c, gamma_p_c
    integer(i_def), intent(in) :: nrow_a, ncol_a, bandwidth_a, alpha_a, beta_a, gamma_m_a, gamma_p_a
    integer(i_def), intent(in) :: nrow_b, ncol_b, bandwidth_b, alpha_b, beta_b, gamma_m_b, gamma_p_b
    real(r_solver), intent(inout) :: c(bandwidth_c, nrow_c, ncell_2d)
    real(r_solver), intent(in) :: a(bandwidth_a, nrow_a, ncell_2d)
    real(r_solver), intent(in) :: b(bandwidth_b, nrow_b, ncell_2d)
    real(r_def), intent(in) :: factor

    integer(i_def) :: band, first_a, first_b, first_c, i, j, l

    do i = 1, nrow_c
      first_c = ceiling(real(alpha_c * i - gamma_p_c, r_def) / real(beta_c, r_def))
      first_a = ceiling(real(alpha_a * i - gamma_p_a, r_def) / real(beta_a, r_def))
      do l = max(1, first_a), &
          min(ncol_a, floor(real(alpha_a * i + gamma_m_a, r_def) / real(beta_a, r_def)))
        first_b = ceiling(real(alpha_b * l - gamma_p_b, r_def) / real(beta_b, r_def))
        do j = max(1, first_b), &
            min(ncol_b, floor(real(alpha_b * l + gamma_m_b, r_def) / real(beta_b, r_def)))
          band = j - first_c + 1
          c(band, i, cell) = c(band, i, cell) + &
            real(factor, r_solver) * a(l - first_a + 1, i, cell) * b(j - first_b + 1, l, cell)
        end do
      end do
    end do
  end subroutine multiply_columns_code

end module multiply_columns_kernel_mod
