module count_mod
  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod, only: kernel_type
  use kind_params_mod, only: go_wp
  implicit none
  real(go_wp) :: total = 0.0_go_wp
  type, extends(kernel_type) :: count
    type(go_arg), dimension(2) :: meta_args = (/ &
         go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
         go_arg(GO_READ, GO_CT, GO_STENCIL(000,011,000)) /)
    integer :: ITERATES_OVER = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => count_code
  end type count
contains
  subroutine count_code(i, j, height, depth)
    integer, intent(in) :: i, j
    real(go_wp), dimension(:,:), intent(out) :: height
    real(go_wp), dimension(:,:), intent(in) :: depth
    real :: half
    real(go_wp) :: work(3), x
    integer :: next, k
    height(i, j) = i * 0.5_go_wp
    height(i + 1, j) = 0.0_go_wp
    half = 0.5 * 3.0
    work(1) = depth(i, j)
    x = 1.0 / 3.0 * depth(i, j)
    total = total + x
    if (x > 0) then
      next = i + 1
    else
      next = i
    end if
    do k = 1, 2
      x = x + depth(i + k, j)
    end do
    do while (x > 1.0_go_wp)
      x = x - 1
    end do
    height(i, j) = depth(next, j) + bessel_j0(x) + nint(x)
    write (*, *) x
    call note(x)
  end subroutine count_code
end module count_mod
