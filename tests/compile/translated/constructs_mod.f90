!> Kernels that have a form in Python, each with constructs of its own.
module constructs_mod

  use argument_mod
  use grid_mod
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none

  real(go_wp) :: slope = 0.25_go_wp
  integer, parameter :: most = 3
  real(go_wp), parameter :: tenth = 0.1, third = 1.0_go_wp / most

  type, extends(kernel_type) :: neighbours
    type(go_arg) :: meta_args(3) = (/ &
        go_arg(GO_READWRITE, GO_CU, GO_STENCIL(010,111,010)), &
        go_arg(GO_READ, GO_CU, GO_STENCIL(010,111,010)), &
        go_arg(GO_READ, GO_GRID_MASK_T) &
        /)
    integer :: iterates_over = GO_ALL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => neighbours_code
  end type neighbours

  type, extends(kernel_type) :: whole_numbers
    type(go_arg) :: meta_args(3) = (/ &
        go_arg(GO_READWRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_I_SCALAR, GO_POINTWISE), &
        go_arg(GO_READ, GO_GRID_MASK_T) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => whole_numbers_code
  end type whole_numbers

  type, extends(kernel_type) :: reals
    type(go_arg) :: meta_args(4) = (/ &
        go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_STENCIL(111,111,111)), &
        go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE), &
        go_arg(GO_READ, GO_I_SCALAR, GO_POINTWISE) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => reals_code
  end type reals

  type, extends(kernel_type) :: choices
    type(go_arg) :: meta_args(3) = (/ &
        go_arg(GO_READWRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_I_SCALAR, GO_POINTWISE), &
        go_arg(GO_READ, GO_GRID_MASK_T) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => choices_code
  end type choices

  type, extends(kernel_type) :: variables
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_POINTWISE) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => variables_code
  end type variables

  type, extends(kernel_type) :: loops
    type(go_arg) :: meta_args(3) = (/ &
        go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_STENCIL(000,011,000)), &
        go_arg(GO_READ, GO_I_SCALAR, GO_POINTWISE) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => loops_code
  end type loops

contains

  !> Locals that count from the point, on one way and on another.
  subroutine neighbours_code(ji, jj, lambda, field, mask)
    integer, intent(in) :: ji, jj
    real(go_wp), dimension(:,:), intent(inout) :: lambda
    real(go_wp), dimension(:,:), intent(in) :: field
    integer, dimension(:,:), intent(in) :: mask
    integer :: jiu, jjv

    jiu = ji - 1
    if (mask(ji, jj) < 0) then
      jiu = jiu + 2
      jjv = 1 + jj
      lambda(ji, jj) = lambda(jiu, jj) - field(ji, jjv) * field(jiu, jj)
    else if (mask(ji, jj) == 0) then
      jjv = jj - 1
      lambda(ji, jj) = field(ji, jjv) + field(jiu, jj)
    else
      jjv = 7
      lambda(ji, jj) = lambda(ji, jj) / jjv
    end if
  end subroutine neighbours_code

  !> Division, remainders, powers and conversions of integers.
  subroutine whole_numbers_code(i, j, height, step, mask)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: height(:, :)
    integer, intent(in) :: step
    integer, intent(in) :: mask(:, :)
    integer :: first, second, third_one, down

    first = (7 * mask(i, j) - step) / most
    second = mod(5 * mask(i, j) - step, 3) + modulo(-step, 4) * 2**most
    third_one = max(first, second, -1) - min(first, 2) + abs(second) ** 2
    third_one = third_one - (first - (second - step)) / (1 + step * step)
    down = floor(-2.5_go_wp * height(i, j)) + ceiling(height(i, j)) + int(9.7_go_wp * height(i, j))
    down = down + real(third_one) * 1.0d0
    height(i, j) = height(i, j) + first - second * third_one + real(down, go_wp) / 4
  end subroutine whole_numbers_code

  !> Signs, brackets, powers, functions, constants of single precision, a sum of a section.
  subroutine reals_code(i, j, new, old, rate, step)
    integer, intent(in) :: i, j
    real(go_wp), intent(out) :: new(:, :)
    real(go_wp), intent(in) :: old(:, :)
    real(go_wp), intent(in) :: rate
    integer, intent(in) :: step
    real(go_wp) :: a, b, c

    a = -old(i, j) ** 2 + (-rate) * 0.1 - (old(i, j + 1) - (old(i + 1, j) - 0.7))
    b = sign(0.5_go_wp, a) * sqrt(abs(a)) + merge(a, rate, a > rate) ** step + exp(-abs(a))
    c = a / (b * (old(i - 1, j) / 3)) - real(step) * tenth + dble(step) * third
    c = c + mod(a, 0.3_go_wp) - modulo(b, 0.7_go_wp) + atan2(a, b) + 1.5d0 ** 3
    new(i, j) = sum(old(i - 1:i + 1, j - 1:j)) / 6 + min(a, b, c) + (a + (b + c)) + 3
  end subroutine reals_code

  !> Conditions, and a choice by a number.
  subroutine choices_code(i, j, height, step, mask)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: height(:, :)
    integer, intent(in) :: step
    integer, intent(in) :: mask(:, :)
    logical :: is_low, both
    real(go_wp) :: factor

    is_low = height(i, j) <= 0.25_go_wp .and. .not. mask(i, j) == 0
    both = is_low .eqv. (step > 2 .or. mask(i, j) /= 1 .and. height(i, j) < 0.75_go_wp)
    select case (step + mask(i, j))
    case (:0)
      factor = 0.5_go_wp
    case (1, 3)
      factor = -1
    case (4:)
      ! Nothing more is done there.
      return
    case default
      factor = 2.0
    end select
    if (both .neqv. is_low) height(i, j) = factor * height(i, j)
    if (is_low) then
    else
      height(i, j) = height(i, j) + 1
    end if
  end subroutine choices_code

  !> Variables of two modules, and constants of one of them.
  subroutine variables_code(i, j, new, old)
    use settings_mod, only: dt => time_step, level, is_cold, to_radians
    integer, intent(in) :: i, j
    real(go_wp), intent(out) :: new(:, :)
    real(go_wp), intent(in) :: old(:, :)

    new(i, j) = old(i, j) + dt * level * sin(to_radians * old(i, j)) + slope
    if (is_cold) new(i, j) = new(i, j) - slope * dt
  end subroutine variables_code

  !> Loops that are left, that count down, and that have no turn.
  subroutine loops_code(i, j, new, old, step)
    integer, intent(in) :: i, j
    real(go_wp), intent(out) :: new(:, :)
    real(go_wp), intent(in) :: old(:, :)
    integer, intent(in) :: step
    integer :: k, l, next
    real(go_wp) :: total

    total = 0
    outer: do k = step, 1, -1
      next = i + 1
      if (k == 2) cycle outer
      do l = 1, k
        if (l > 2) exit
        total = total * 0.5_go_wp + old(next, j) * l
      end do
    end do outer
    do k = 3, 2
      total = total + 1000
    end do
    new(i, j) = total
  end subroutine loops_code

end module constructs_mod
