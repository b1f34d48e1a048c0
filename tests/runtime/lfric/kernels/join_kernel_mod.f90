!> Adds what fields with other numbers of layers and of values have, around a cell, to shared dofs.
module join_kernel_mod

  use argument_mod, only: arg_type, CELL_COLUMN, CROSS, GH_FIELD, GH_INC, GH_READ, GH_REAL, &
                          STENCIL, W0, W3
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: join_code

  type, public, extends(kernel_type) :: join_type
    private
    type(arg_type) :: meta_args(5) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W0), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(CROSS), NDATA='kinds'), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, NDATA='kinds', NLEVELS='thin'), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, NLEVELS='thin') &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: join_code
  end type join_type

contains

  !> Add to every dof of `y` in a cell what the other fields have in it, `many` around it, too.
  subroutine join_code(nlayers, y, x, many, stencil_size, stencil_map, ndata, thin, thin_layers, &
                       one, ndf_y, undf_y, map_y, ndf_x, undf_x, map_x, ndf_many, undf_many, &
                       map_many, ndf_thin, undf_thin, map_thin, ndf_one, undf_one, map_one)
    integer(i_def), intent(in) :: nlayers, ndata, thin_layers, stencil_size
    integer(i_def), intent(in) :: ndf_y, undf_y, map_y(ndf_y)
    integer(i_def), intent(in) :: ndf_x, undf_x, map_x(ndf_x)
    integer(i_def), intent(in) :: ndf_many, undf_many, map_many(ndf_many)
    integer(i_def), intent(in) :: ndf_thin, undf_thin, map_thin(ndf_thin)
    integer(i_def), intent(in) :: ndf_one, undf_one, map_one(ndf_one)
    integer(i_def), intent(in) :: stencil_map(ndf_x, stencil_size)
    real(r_def), intent(inout) :: y(undf_y)
    real(r_def), intent(in) :: x(undf_x), many(undf_many), thin(undf_thin), one(undf_one)

    integer(i_def) :: df, k, n, cell
    real(r_def) :: found

    do k = 0, nlayers - 1
      found = x(map_x(1) + k)
      do n = 0, ndata - 1
        do cell = 1, stencil_size
          found = found + many(stencil_map(1, cell) + n * nlayers + k)
        end do
        found = found + thin(map_thin(1) + n * thin_layers + min(k, thin_layers - 1))
      end do
      found = found + 2.0_r_def * one(map_one(1) + min(k, thin_layers - 1))
      do df = 1, ndf_y
        y(map_y(df) + k) = y(map_y(df) + k) + found
      end do
    end do
    if (map_many(1) < 1 .or. undf_many /= ndata * undf_x) then
      y(map_y(1)) = -1000003.0_r_def
      return
    end if
  end subroutine join_code

end module join_kernel_mod
