!> Rectangles of grid points.
module region_mod

  implicit none
  private

  !> The points from (xstart, ystart) to (xstop, ystop), nx by ny of them.
  type, public :: region_type
    integer :: nx = 0, ny = 0
    integer :: xstart = 0, xstop = 0
    integer :: ystart = 0, ystop = 0
  end type region_type

end module region_mod
