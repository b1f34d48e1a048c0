!> The wind through the sides of a cell that belongs to a stream function at its vertices.
module stir_kernel_mod

  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_READ, GH_REAL, GH_WRITE
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W0, W2H
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: stir_code

  type, public, extends(kernel_type) :: stir_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W2H), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W0) &
    /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: stir_code
  end type stir_type

contains

  !> Set what blows through each side, per metre of height: the difference between its ends. It is
  !> positive as W2 has it, into the cell through W and N and out of it through S and E, which is
  !> the same for the cells on both sides, wherever panels meet. What blows in blows out.
  subroutine stir_code(nlayers, wind, stream, ndf_w2h, undf_w2h, map_w2h, ndf_w0, undf_w0, map_w0)
    integer(i_def), intent(in) :: nlayers
    integer(i_def), intent(in) :: ndf_w2h, undf_w2h, map_w2h(ndf_w2h)
    integer(i_def), intent(in) :: ndf_w0, undf_w0, map_w0(ndf_w0)
    real(r_def), intent(inout) :: wind(undf_w2h)
    real(r_def), intent(in) :: stream(undf_w0)

    ! Where the sides W, S, E, N begin and end, along x or y: corners count SW, SE, NE, NW.
    integer(i_def), parameter :: first(4) = [1, 1, 2, 4], last(4) = [4, 2, 3, 3]
    integer(i_def) :: k, side

    do k = 0, nlayers - 1
      do side = 1, 4
        wind(map_w2h(side) + k) = stream(map_w0(first(side)) + k) - stream(map_w0(last(side)) + k)
      end do
    end do
  end subroutine stir_code

end module stir_kernel_mod
