!> Visits all owned columns in one call.
module columns_kernel_mod

  use argument_mod, only: ANY_DISCONTINUOUS_SPACE_1, arg_type, DOMAIN, GH_FIELD, GH_READ, &
                          GH_REAL, GH_WRITE
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: columns_code

  type, public, extends(kernel_type) :: columns_type
    private
    type(arg_type) :: meta_args(2) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_1) &
    ]
    integer :: operates_on = DOMAIN
  contains
    procedure, nopass :: columns_code
  end type columns_type

contains

  !> Set each column to its sum over the layers below.
  subroutine columns_code(nlayers, ncell_2d_no_halos, y, x, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, ncell_2d_no_halos
    integer(i_def), intent(in) :: ndf, undf, map(ndf, *)
    real(r_def), intent(inout) :: y(undf)
    real(r_def), intent(in) :: x(undf)

    integer(i_def) :: cell, df, k

    do cell = 1, ncell_2d_no_halos
      do df = 1, ndf
        do k = 0, nlayers - 1
          y(map(df, cell) + k) = sum(x(map(df, cell):map(df, cell) + k))
        end do
      end do
    end do
  end subroutine columns_code

end module columns_kernel_mod
