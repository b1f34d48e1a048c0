!> Sets one field to three times another on owned cells, and nowhere else.
module triple_in_owned_kernel_mod

  use argument_mod, only: ANY_DISCONTINUOUS_SPACE_1, arg_type, GH_FIELD, GH_READ, GH_REAL, &
                          GH_WRITE, OWNED_CELL_COLUMN
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: triple_in_owned_code

  type, public, extends(kernel_type) :: triple_in_owned_type
    private
    type(arg_type) :: meta_args(2) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_1) &
    ]
    integer :: operates_on = OWNED_CELL_COLUMN
  contains
    procedure, nopass :: triple_in_owned_code
  end type triple_in_owned_type

contains

  !> Set the values of a cell to three times those of another field.
  subroutine triple_in_owned_code(nlayers, y, x, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers
    integer(i_def), intent(in) :: ndf, undf, map(ndf)
    real(r_def), intent(inout) :: y(undf)
    real(r_def), intent(in) :: x(undf)

    integer(i_def) :: df, k

    do k = 0, nlayers - 1
      do df = 1, ndf
        y(map(df) + k) = 3.0_r_def * x(map(df) + k)
      end do
    end do
  end subroutine triple_in_owned_code

end module triple_in_owned_kernel_mod
