!> A weak gradient in metadata of 2019: an operator, a field vector, a stencil, an orientation.
module weak_gradient_kernel_mod

  use argument_mod,  only: arg_type, cells, cross, func_type, gh_basis, gh_diff_basis, gh_field, &
                           gh_inc, gh_operator, gh_orientation, gh_quadrature_xyoz, gh_read,    &
                           gh_real, stencil
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: w1, w2, w3
  use kernel_mod,    only: kernel_type

  implicit none

  private
  public :: weak_gradient_code

  type, public, extends(kernel_type) :: weak_gradient_type
    private
    type(arg_type) :: meta_args(5) = (/                     &
         arg_type(gh_field,    gh_inc,  w1),                &
         arg_type(gh_field*3,  gh_read, w3),                &
         arg_type(gh_operator, gh_read, w1, w3),            &
         arg_type(gh_real,     gh_read),                    &
         arg_type(gh_field,    gh_read, w2, stencil(cross)) &
         /)
    type(func_type) :: meta_funcs(2) = (/                       &
         func_type(w1, gh_basis),                               &
         func_type(w2, gh_basis, gh_diff_basis, gh_orientation) &
         /)
    integer :: iterates_over = cells
    integer :: gh_shape = gh_quadrature_xyoz
  contains
    procedure, nopass :: weak_gradient_code
  end type weak_gradient_type

contains

  !> Add a sum over everything that is passed to the gradient of a column.
  subroutine weak_gradient_code( cell, nlayers, gradient, chi_1, chi_2, chi_3, ncell_3d,    &
                                 operator, factor, wind, wind_size, wind_map,               &
                                 ndf_w1, undf_w1, map_w1, basis_w1, ndf_w3, undf_w3, map_w3, &
                                 ndf_w2, undf_w2, map_w2, basis_w2, diff_basis_w2,           &
                                 orientation_w2, np_xy, np_z, weights_xy, weights_z )
    integer(i_def), intent(in)    :: cell, nlayers, ncell_3d, wind_size, np_xy, np_z
    integer(i_def), intent(in)    :: ndf_w1, undf_w1, ndf_w3, undf_w3, ndf_w2, undf_w2
    integer(i_def), intent(in)    :: map_w1(ndf_w1), map_w3(ndf_w3), map_w2(ndf_w2)
    integer(i_def), intent(in)    :: wind_map(ndf_w2, wind_size), orientation_w2(ndf_w2)
    real(r_def),    intent(inout) :: gradient(undf_w1)
    real(r_def),    intent(in)    :: chi_1(undf_w3), chi_2(undf_w3), chi_3(undf_w3)
    real(r_def),    intent(in)    :: wind(undf_w2), factor
    real(r_def),    intent(in)    :: operator(ndf_w1, ndf_w3, ncell_3d)
    real(r_def),    intent(in)    :: basis_w1(3, ndf_w1, np_xy, np_z)
    real(r_def),    intent(in)    :: basis_w2(3, ndf_w2, np_xy, np_z)
    real(r_def),    intent(in)    :: diff_basis_w2(1, ndf_w2, np_xy, np_z)
    real(r_def),    intent(in)    :: weights_xy(np_xy), weights_z(np_z)
    real(r_def)    :: mean
    integer(i_def) :: k, df, neighbour

    do k = 0, nlayers - 1
      mean = chi_1(map_w3(1) + k) + chi_2(map_w3(1) + k) + chi_3(map_w3(1) + k)
      do neighbour = 1, wind_size
        mean = mean + wind(wind_map(1, neighbour) + k) * basis_w2(1, 1, 1, 1)
      end do
      mean = mean + diff_basis_w2(1, 1, 1, 1) * real(orientation_w2(1), r_def) &
                    * wind(map_w2(1) + k)
      do df = 1, ndf_w1
        gradient(map_w1(df) + k) = gradient(map_w1(df) + k)                       &
                                   + factor * mean * basis_w1(1, df, 1, 1)        &
                                     * weights_xy(1) * weights_z(1)               &
                                     * operator(df, 1, (cell - 1) * nlayers + k + 1)
      end do
    end do
  end subroutine weak_gradient_code

end module weak_gradient_kernel_mod
