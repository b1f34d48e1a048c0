!> Adds one field to another on the halo, and nowhere else.
module add_in_halo_kernel_mod

  use argument_mod, only: ANY_DISCONTINUOUS_SPACE_1, arg_type, GH_FIELD, GH_READ, GH_READWRITE, &
                          GH_REAL, HALO_CELL_COLUMN
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: add_in_halo_code

  type, public, extends(kernel_type) :: add_in_halo_type
    private
    type(arg_type) :: meta_args(2) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_1) &
    ]
    integer :: operates_on = HALO_CELL_COLUMN
  contains
    procedure, nopass :: add_in_halo_code
  end type add_in_halo_type

contains

  !> Add the values of a cell to those of another field.
  subroutine add_in_halo_code(nlayers, y, x, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers
    integer(i_def), intent(in) :: ndf, undf, map(ndf)
    real(r_def), intent(inout) :: y(undf)
    real(r_def), intent(in) :: x(undf)

    integer(i_def) :: df, k

    do k = 0, nlayers - 1
      do df = 1, ndf
        y(map(df) + k) = y(map(df) + k) + x(map(df) + k)
      end do
    end do
  end subroutine add_in_halo_code

end module add_in_halo_kernel_mod
