!-----------------------------------------------------------------------------
! Corpus kernel: surface tiles.
!-----------------------------------------------------------------------------
!> @brief Spread a tile index over a bundle of integer fields.
module surface_tiles_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_INTEGER, GH_READWRITE, &
                           ANY_DISCONTINUOUS_SPACE_1, GH_SCALAR, GH_READ, GH_LOGICAL
  use constants_mod, only : i_def, l_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: surface_tiles_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD*2, GH_INTEGER, GH_READWRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_SCALAR, GH_INTEGER, GH_READ), &
      arg_type(GH_SCALAR, GH_LOGICAL, GH_READ)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: surface_tiles_code
  end type surface_tiles_kernel_type

  public :: surface_tiles_code

contains

  !> @brief Spread a tile index over a bundle of integer fields.
  !> @param[in,out] tiles_1 and on Integer field bundle of 2 on ANY_DISCONTINUOUS_SPACE_1, updated.
  !> @param[in] tile Integer scalar.
  !> @param[in] first Logical scalar.
  subroutine surface_tiles_code(nlayers, &
                                tiles_1, tiles_2, &
                                tile, &
                                first, &
                                ndf_d1, undf_d1, map_d1)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, tile, ndf_d1, undf_d1
    integer(kind=i_def), intent(inout) :: tiles_1(undf_d1)
    integer(kind=i_def), intent(inout) :: tiles_2(undf_d1)
    logical(kind=l_def), intent(in) :: first
    integer(kind=i_def), intent(in) :: map_d1(ndf_d1)


    if (first) then
      tiles_1(map_d1(1)) = tile
    else
      tiles_2(map_d1(1)) = tile + tiles_1(map_d1(1))
    end if

  end subroutine surface_tiles_code

end module surface_tiles_kernel_mod
