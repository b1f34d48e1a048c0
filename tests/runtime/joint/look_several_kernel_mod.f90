!> Reads two fields and a field vector around each cell.
module look_several_kernel_mod

  use argument_mod, only: ANY_DISCONTINUOUS_SPACE_1, ANY_SPACE_1, ANY_SPACE_2, arg_type, &
                          CELL_COLUMN, GH_FIELD, GH_READ, GH_REAL, GH_WRITE, REGION, STENCIL
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: look_several_code

  type, public, extends(kernel_type) :: look_several_type
    private
    type(arg_type) :: meta_args(4) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_1, STENCIL(REGION)), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_1, STENCIL(REGION)), &
      arg_type(GH_FIELD * 3, GH_REAL, GH_READ, ANY_SPACE_2) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: look_several_code
  end type look_several_type

contains

  !> Sum the values around a cell.
  subroutine look_several_code(nlayers, y, x, size_x, around_x, z, size_z, around_z, v1, v2, v3, &
                               ndf_y, undf_y, map_y, ndf_x, undf_x, map_x, ndf_v, undf_v, map_v)
    integer(i_def), intent(in) :: nlayers, size_x, size_z
    integer(i_def), intent(in) :: ndf_y, undf_y, map_y(ndf_y), ndf_x, undf_x, map_x(ndf_x)
    integer(i_def), intent(in) :: ndf_v, undf_v, map_v(ndf_v)
    integer(i_def), intent(in) :: around_x(ndf_x, size_x), around_z(ndf_x, size_z)
    real(r_def), intent(inout) :: y(undf_y)
    real(r_def), intent(in) :: x(undf_x), z(undf_x), v1(undf_v), v2(undf_v), v3(undf_v)

    integer(i_def) :: df, k, place
    real(r_def) :: total

    do k = 0, nlayers - 1
      total = 0.0_r_def
      do df = 1, ndf_x
        do place = 1, size_x
          total = total + x(around_x(df, place) + k)
        end do
        do place = 1, size_z
          total = total - 2.0_r_def * z(around_z(df, place) + k)
        end do
      end do
      do df = 1, ndf_v
        total = total + v1(map_v(df) + k) + 3.0_r_def * v2(map_v(df) + k) - v3(map_v(df) + k)
      end do
      y(map_y(1) + k) = total
    end do
  end subroutine look_several_code

end module look_several_kernel_mod
