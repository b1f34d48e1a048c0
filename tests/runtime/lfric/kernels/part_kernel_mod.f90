!> Writes several values at each dof, and one in a thinner layer.
module part_kernel_mod

  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_READ, GH_REAL, GH_WRITE, W3
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: part_code

  type, public, extends(kernel_type) :: part_type
    private
    type(arg_type) :: meta_args(3) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3, NDATA='3'), &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3, NDATA='3', NLAYERS='2') &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: part_code
  end type part_type

contains

  !> Give each value at a dof a multiple of that of `x`, and the thin layers what lies above them.
  subroutine part_code(nlayers, x, many, thin, ndf_x, undf_x, map_x, ndf_many, undf_many, &
                       map_many, ndf_thin, undf_thin, map_thin)
    integer(i_def), intent(in) :: nlayers
    integer(i_def), intent(in) :: ndf_x, undf_x, map_x(ndf_x)
    integer(i_def), intent(in) :: ndf_many, undf_many, map_many(ndf_many)
    integer(i_def), intent(in) :: ndf_thin, undf_thin, map_thin(ndf_thin)
    real(r_def), intent(in) :: x(undf_x)
    real(r_def), intent(inout) :: many(undf_many)
    real(r_def), intent(inout) :: thin(undf_thin)

    integer(i_def) :: df, k, n

    do df = 1, ndf_x
      do n = 0, 2
        do k = 0, nlayers - 1
          many(map_many(df) + n * nlayers + k) = real(n + 1, r_def) * x(map_x(df) + k)
        end do
        do k = 0, 1
          thin(map_thin(df) + n * 2 + k) = x(map_x(df) + k + 1) + real(n, r_def)
        end do
      end do
    end do
  end subroutine part_code

end module part_kernel_mod
