!> The kernels of a model of tides: thirteen fields, and all arrays of the grid.
module tides_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: rise
    type(go_arg) :: meta_args(9) = (/ &
        go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &                  ! next height
        go_arg(GO_READ, GO_CT, GO_POINTWISE), &                   ! height
        go_arg(GO_READ, GO_CT, GO_POINTWISE), &                   ! depth
        go_arg(GO_READ, GO_CU, GO_STENCIL(000,110,000)), &        ! u
        go_arg(GO_READ, GO_CU, GO_STENCIL(000,110,000)), &        ! depth at u
        go_arg(GO_READ, GO_CV, GO_STENCIL(000,010,010)), &        ! v
        go_arg(GO_READ, GO_CV, GO_STENCIL(000,010,010)), &        ! depth at v
        go_arg(GO_READ, GO_GRID_AREA_T), &
        go_arg(GO_READ, GO_GRID_MASK_T) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => rise_code
  end type rise

  type, public, extends(kernel_type) :: push_u
    type(go_arg) :: meta_args(11) = (/ &
        go_arg(GO_WRITE, GO_CU, GO_POINTWISE), &                  ! next u
        go_arg(GO_READ, GO_CU, GO_POINTWISE), &                   ! u
        go_arg(GO_READ, GO_CT, GO_STENCIL(000,011,000)), &        ! next height
        go_arg(GO_READ, GO_CU, GO_POINTWISE), &                   ! height at u
        go_arg(GO_READ, GO_CU, GO_POINTWISE), &                   ! depth at u
        go_arg(GO_READ, GO_GRID_AREA_U), &
        go_arg(GO_READ, GO_GRID_DX_U), &
        go_arg(GO_READ, GO_GRID_DX_T), &
        go_arg(GO_READ, GO_GRID_DY_U), &
        go_arg(GO_READ, GO_GRID_LAT_U), &
        go_arg(GO_READ, GO_GRID_MASK_T) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => push_code
  end type push_u

  type, public, extends(kernel_type) :: push_v
    type(go_arg) :: meta_args(11) = (/ &
        go_arg(GO_WRITE, GO_CV, GO_POINTWISE), &                  ! next v
        go_arg(GO_READ, GO_CV, GO_POINTWISE), &                   ! v
        go_arg(GO_READ, GO_CT, GO_STENCIL(000,011,000)), &        ! next height
        go_arg(GO_READ, GO_CV, GO_POINTWISE), &                   ! height at v
        go_arg(GO_READ, GO_CV, GO_POINTWISE), &                   ! depth at v
        go_arg(GO_READ, GO_GRID_AREA_V), &
        go_arg(GO_READ, GO_GRID_DX_V), &
        go_arg(GO_READ, GO_GRID_DY_T), &
        go_arg(GO_READ, GO_GRID_DY_V), &
        go_arg(GO_READ, GO_GRID_LAT_V), &
        go_arg(GO_READ, GO_GRID_MASK_T) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => push_code
  end type push_v

  type, public, extends(kernel_type) :: average_u
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_WRITE, GO_CU, GO_POINTWISE), &                  ! next height at u
        go_arg(GO_READ, GO_CT, GO_STENCIL(000,011,000)) &         ! next height
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => average_code
  end type average_u

  type, public, extends(kernel_type) :: average_v
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_WRITE, GO_CV, GO_POINTWISE), &                  ! next height at v
        go_arg(GO_READ, GO_CT, GO_STENCIL(000,011,000)) &         ! next height
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => average_code
  end type average_v

  type, public, extends(kernel_type) :: take_t
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_POINTWISE) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => take_code
  end type take_t

  type, public, extends(kernel_type) :: take_u
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_WRITE, GO_CU, GO_POINTWISE), &
        go_arg(GO_READ, GO_CU, GO_POINTWISE) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => take_code
  end type take_u

  type, public, extends(kernel_type) :: take_v
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_WRITE, GO_CV, GO_POINTWISE), &
        go_arg(GO_READ, GO_CV, GO_POINTWISE) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => take_code
  end type take_v

  public :: rise_code, push_code, average_code, take_code

contains

  !> Let water flow into a cell.
  subroutine rise_code(i, j, next, height, depth, u, depth_u, v, depth_v, area, mask)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: next(:, :)
    real(go_wp), intent(in) :: height(:, :), depth(:, :), u(:, :), depth_u(:, :)
    real(go_wp), intent(in) :: v(:, :), depth_v(:, :), area(:, :)
    integer, intent(in) :: mask(:, :)

    next(i, j) = height(i, j) * depth(i, j) / (depth(i, j) + mask(i, j)) &
                 + (u(i - 1, j) * depth_u(i - 1, j) - u(i, j) * depth_u(i, j) &
                    + v(i, j - 1) * depth_v(i, j - 1) - v(i, j) * depth_v(i, j)) / area(i, j)
  end subroutine rise_code

  !> Push water down the slope of the surface, and let the earth turn it.
  subroutine push_code(i, j, next, speed, height, height_here, depth, area, along, across, wide, &
                       latitude, mask)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: next(:, :)
    real(go_wp), intent(in) :: speed(:, :), height(:, :), height_here(:, :), depth(:, :)
    real(go_wp), intent(in) :: area(:, :), along(:, :), across(:, :), wide(:, :), latitude(:, :)
    integer, intent(in) :: mask(:, :)

    next(i, j) = speed(i, j) + (height(i + 1, j) - height(i, j)) / (along(i, j) + across(i, j)) &
                 - height_here(i, j) * depth(i, j) * wide(i, j) / area(i, j) &
                 + 0.001_go_wp * latitude(i, j) * mask(i, j)
  end subroutine push_code

  !> Take the mean of neighbours.
  subroutine average_code(i, j, next, height)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: next(:, :)
    real(go_wp), intent(in) :: height(:, :)

    next(i, j) = 0.5_go_wp * (height(i, j) + height(i + 1, j))
  end subroutine average_code

  !> Take the next state.
  subroutine take_code(i, j, now, next)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: now(:, :)
    real(go_wp), intent(in) :: next(:, :)

    now(i, j) = next(i, j)
  end subroutine take_code

end module tides_mod
