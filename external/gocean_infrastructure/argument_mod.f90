!> Constants that describe the arguments of a kernel in its metadata.
!>
!> Values must differ only where constants could be confused: they are not read at run time.
module argument_mod

  implicit none
  private

  !> Access modes of an argument.
  integer, public, parameter :: go_read = 0, go_write = 1, go_readwrite = 2, go_inc = 3
  integer, public, parameter :: go_min = 4, go_max = 5, go_sum = 6

  !> Real and integer scalars.
  integer, public, parameter :: go_r_scalar = 0, go_i_scalar = 1

  !> Types of grid point on an Arakawa C-grid; a field of `go_every` may be on any of them.
  integer, public, parameter :: go_every = 1
  integer, public, parameter :: go_cu = 2, go_cv = 3, go_ct = 4, go_cf = 5

  !> The length of a time step.
  integer, public, parameter :: go_time_step = 10

  !> Areas of cells around points of each type.
  integer, public, parameter :: go_grid_area_t = 11, go_grid_area_u = 12, go_grid_area_v = 13

  !> Mask at T points: sea (1), land (0), open boundary (-1).
  integer, public, parameter :: go_grid_mask_t = 14

  !> Distances between points of each type.
  integer, public, parameter :: go_grid_dx_t = 15, go_grid_dx_u = 16, go_grid_dx_v = 17
  integer, public, parameter :: go_grid_dy_t = 18, go_grid_dy_u = 19, go_grid_dy_v = 20

  !> Latitudes.
  integer, public, parameter :: go_grid_lat_u = 21, go_grid_lat_v = 22

  !> Distances between points of a grid on which they are all equal.
  integer, public, parameter :: go_grid_dx_const = 23, go_grid_dy_const = 24

  !> First and last index of the internal region of a rank.
  integer, public, parameter :: go_grid_x_min_index = 25, go_grid_x_max_index = 26
  integer, public, parameter :: go_grid_y_min_index = 27, go_grid_y_max_index = 28

  !> Neighbours that are read, in three rows from north to south. Each digit of a row is a number of
  !> points: to the west, in the centre, to the east.
  type, public :: go_stencil
    integer :: first_row
    integer :: second_row
    integer :: third_row
  end type go_stencil

  !> One argument of a kernel: its access, its type and the neighbours that are read.
  type, public :: go_arg
    integer :: arg_intent
    integer :: element
    type(go_stencil) :: stencil_type = go_stencil(0, 0, 0)
  end type go_arg

end module argument_mod
