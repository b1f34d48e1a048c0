!-----------------------------------------------------------------------------
! Corpus kernel: integer stencil.
!-----------------------------------------------------------------------------
!> @brief Any flagged neighbour flags the cell.
module integer_stencil_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_INTEGER, GH_READWRITE, &
                           ANY_DISCONTINUOUS_SPACE_1, GH_READ, STENCIL, CROSS
  use constants_mod, only : i_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: integer_stencil_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_INTEGER, GH_READWRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_INTEGER, GH_READ, ANY_DISCONTINUOUS_SPACE_1, STENCIL(CROSS))  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: integer_stencil_code
  end type integer_stencil_kernel_type

  public :: integer_stencil_code

contains

  !> @brief Any flagged neighbour flags the cell.
  !> @param[in,out] flag Integer field on ANY_DISCONTINUOUS_SPACE_1, updated.
  !> @param[in] other Integer field on ANY_DISCONTINUOUS_SPACE_1, read through a stencil (cross).
  subroutine integer_stencil_code(nlayers, &
                                  flag, &
                                  other, other_size, other_stencil, &
                                  ndf_d1, undf_d1, map_d1)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, other_size, ndf_d1, undf_d1
    integer(kind=i_def), intent(inout) :: flag(undf_d1)
    integer(kind=i_def), intent(in) :: other(undf_d1)
    integer(kind=i_def), intent(in) :: other_stencil(ndf_d1, other_size)
    integer(kind=i_def), intent(in) :: map_d1(ndf_d1)

    integer(kind=i_def) :: p

    do p = 1, other_size
      flag(map_d1(1)) = max(flag(map_d1(1)), other(other_stencil(1, p)))
    end do

  end subroutine integer_stencil_code

end module integer_stencil_kernel_mod
