! Subroutines with one construct each, or a few, that are printed as C and run beside gfortran.
module constructs_mod
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  implicit none
  private
  integer, parameter :: wp = real64, sp = real32, long = int64
  real(wp), parameter :: third = 1.0_wp / 3.0_wp, pi = 4.0_wp * atan(1.0_wp)
  integer, parameter :: weights(3) = (/ 1, -2, 4 /)
  real(sp), parameter :: table(2, 2) = reshape((/ 1.5_sp, 2.5_sp, 3.5_sp, 4.5_sp /), (/ 2, 2 /))
  integer, parameter :: few = 3, many = 2 * few
  real(wp), parameter :: half = 1.0_wp / (few - 1), quarter = half / 2
  real(wp) :: rate = 0.25_wp
  integer :: counts(3) = 2

  interface scaled
    module procedure scaled_single, scaled_double
  end interface scaled
contains

  subroutine loop_bounds(n, a)
    integer, intent(in) :: n
    real(wp), intent(inout) :: a(60)
    integer :: i, j, last
    do i = 10, 1, -3
      a(i) = a(i) + i
    end do
    do i = 5, 4
      a(i) = 0.0_wp
    end do
    a(20) = i
    do i = n, 1, -1
      a(i) = a(i) * 2.0_wp
    end do
    a(21) = i
    last = n + 2
    do j = 1, last, n - 1
      last = 1
      a(30 + j) = a(30 + j) + j
    end do
    a(22) = j
    do j = 10, 1, -(n - 1)
      a(30 + j) = a(30 + j) - j
    end do
    a(23) = j
    do j = 3, 1
      last = 77
    end do
    a(24) = last
  end subroutine loop_bounds

  subroutine jumps(n, a)
    integer, intent(in) :: n
    real(wp), intent(inout) :: a(60)
    integer :: i, j, k
    outer: do i = 1, 6
      inner: do j = 1, 6
        if (j == 2) cycle
        if (j == 4) cycle outer
        if (i == 5) exit outer
        a(i + j) = a(i + j) + i * j
        do k = 1, 3
          if (k == 2) cycle inner
          a(20 + k) = a(20 + k) - i
        end do
      end do inner
      a(40) = a(40) + 1.0_wp
    end do outer
    choice: if (n > 0) then
      do i = 1, 10
        if (i > n) exit choice
        a(41) = a(41) + i
      end do
      a(42) = -1.0_wp
    end if choice
    i = 0
    do while (i < 7)
      i = i + 2
      if (i == 4) cycle
      if (sum(a(1:i)) > 100.0_wp) exit
      a(50) = a(50) + i
    end do
    do
      i = i - 1
      if (i < 0) exit
    end do
    a(51) = i
    if (a(1) > 1.0e9_wp) return
    a(52) = 3.0_wp
  end subroutine jumps

  subroutine whole_numbers(n, m, k)
    integer, intent(in) :: n
    integer, intent(inout) :: m(60)
    integer(long), intent(inout) :: k(60)
    integer :: i, minus
    do i = -5, 5
      minus = i * n
      m(i + 10) = minus / 3
      m(i + 21) = mod(minus, 3) + 10 * mod(minus, -3)
      m(i + 32) = modulo(minus, 3) + 10 * modulo(minus, -3)
      m(i + 43) = sign(i, -n) + abs(minus) + dim(i, 2) + max(i, 1, n) - min(i, n)
    end do
    m(1) = (-7) / 2 * 2 + 7 / (-2)
    m(2) = n**3 + (-2)**n + 2**(-n) + 1**(-n) + (-1)**(-n) + (-1)**(n - 7)
    m(3) = iand(n, 3) + ior(n, 8) + ieor(n, 5) + not(n)
    if (btest(n, 1)) m(4) = 17
    m(55) = huge(n) - n
    k(1) = huge(k) - n
    k(2) = int(n, long) * 3000000000_long / 7
    k(3) = mod(k(2), 11_long) - n**2_long
    k(4) = 2147483648_long + n
    m(56) = size(m) + size(k, 1) + kind(n) + lbound(m, 1) + ubound(k, 1)
    m(57) = weights(n) * weights(1)
  end subroutine whole_numbers

  subroutine conversions(n, a, s, m)
    integer, intent(in) :: n
    real(wp), intent(inout) :: a(60)
    real(sp), intent(inout) :: s(60)
    integer, intent(inout) :: m(60)
    integer :: i
    do i = 1, 20
      m(i) = nint((a(i) - 0.75_wp) * 10.0_wp) + int((a(i) - 0.75_wp) * 10.0_wp)
      m(i + 20) = floor((s(i) - 0.5_sp) * 7.0_sp) + ceiling((a(i) - 0.7_wp) * 7.0_wp)
      a(i + 20) = anint((a(i) - 0.7_wp) * 9.0_wp) + aint((a(i) - 0.7_wp) * 9.0_wp)
      s(i + 20) = real(a(i), sp) + real(n) + real(m(i), sp) / 3 + a(i)
      a(i + 40) = s(i) * a(i) + dble(s(i)) + real(n, wp) / 3 + n / 2 + s(i) / 3 + 1 / 3
      s(i + 40) = s(i) * n + 0.1 + 0.1d0
    end do
    m(50) = nint(0.5_wp) + 10 * nint(-0.5_wp) + 100 * nint(2.5_sp) + 1000 * nint(-2.5_sp)
    m(51) = a(3) * 100.0_wp
    m(52) = 3.99_sp
    a(60) = 16777217
    s(60) = 16777217
    m(53) = int(anint(2.5_wp) + anint(-0.5_wp))
  end subroutine conversions

  subroutine reals(n, a, s)
    integer, intent(in) :: n
    real(wp), intent(inout) :: a(60)
    real(sp), intent(inout) :: s(60)
    integer(long) :: far
    integer :: i
    far = n + 4
    do i = 1, 15
      a(i + 20) = a(i)**2 + a(i)**3 + a(i)**(-1) + a(i)**(-2) + a(i)**n + a(i)**(n - 5) + a(i)**7
      a(i + 40) = abs(a(i))**third + abs(a(i))**0.5_wp + a(i)**far + a(i)**(-far) + 2**a(i)
      s(i + 20) = s(i)**2 - s(i)**5 + s(i)**n + abs(s(i))**1.5 + s(i)**(-far) + abs(s(i))**a(i)
      s(i + 40) = mod(s(i) * 7, 0.3_sp) + modulo(-s(i) * 7, 0.3_sp) + sign(s(i), -1.0_sp)
    end do
    a(16) = mod(-a(1) * 9, 0.7_wp) + modulo(-a(1) * 9, 0.7_wp) + modulo(a(2) * 9, -0.7_wp)
    a(17) = sign(a(3), -0.0_wp) + dim(a(1), a(2)) + max(a(1), a(2), a(3)) * min(a(4), a(5))
    a(18) = exp(a(1)) + log(abs(a(2)) + 1) + sqrt(abs(a(3))) + sin(a(4)) * cos(a(5)) + tan(a(6))
    a(19) = atan2(a(1), a(2)) + tanh(a(3)) + erf(a(4)) + hypot(a(5), a(6)) + asin(a(1) / 2)
    a(20) = epsilon(a) + tiny(1.0_sp) * huge(1.0_sp) + merge(a(1), a(2), n > 2) + pi - third
    s(16) = exp(s(1)) + log10(abs(s(2)) + 1) + cosh(s(3)) + acos(s(4) / 2) + atan(s(5))
    a(56) = a(1) - (a(2) - (a(3) - a(4))) - a(5) / (a(1) / a(2)) * a(3) / a(4)
    a(57) = -a(1)**2 + (-a(1))**2 - (-a(2)) * (-a(3)) + (a(1) + a(2)) + a(3)
    a(58) = (a(1) * a(2)) * (a(3) * a(4)) / a(5) + .5e0_wp + 1.d-1 + 1e-1
  end subroutine reals

  subroutine sections(n, a, b)
    integer, intent(in) :: n
    real(wp), intent(inout) :: a(60), b(6, 5)
    integer :: list(3)
    a(2:20) = a(1:19)
    a(1:18) = a(3:20) + a(1:18)
    a(21:40) = a(40:21:-1)
    a(41:59:2) = a(42:60:2) * n
    a(1:5) = a(5)
    a(7:n) = 99.0_wp
    b(2:, 1:n) = b(:5, 2:n + 1)
    b(:, 5) = b(:, 4) + a(1:6) * b(3, 3)
    b(n:1:-1, 4) = b(1:n, 4)
    list = (/ 3, 1, 2 /)
    a(list) = a(list + 1) - a((/ 4, 5, 6 /))
    b = b + 1.0_wp
    b(1, :) = -b(2, :)
    a = a * 0.5_wp
    a(50:) = [1.0_wp, a(1), a(2), 4.0_wp, 5.0_wp, 6.0_wp, 7.0_wp, 8.0_wp, 9.0_wp, 1.0_wp, 2.0_wp]
  end subroutine sections

  subroutine bounds(n, a, b, c, d)
    integer, intent(in) :: n
    real(wp), intent(inout) :: a(0:n + 20), b(-2:n, 0:4), c(:), d(-1:, 0:)
    real(wp) :: own(-n:n), other(n, 0:n), fixed(-1:1, 2)
    integer :: i
    own = 0.0_wp
    do i = -n, n
      own(i) = own(i) + i * a(0)
    end do
    other(:, :) = spread(own(1:n), 2, n + 1)
    fixed = 1.5_wp
    fixed(0, :) = fixed(0, :) + own(n)
    a(0) = sum(own) + sum(other) + fixed(0, 2)
    a(n) = a(lbound(a, 1)) + size(other) + ubound(b, 2) + lbound(fixed, 1)
    b(-2, 0) = b(n, 4) + b(-1, 2)
    b(:, 1) = b(:, 2) * 2
    c(size(c)) = c(1) + n
    d(-1, 0) = d(0, 1) + size(d, 1) * size(d, 2) + ubound(d, 1)
    d(:, 1) = d(:, 2)
  end subroutine bounds

  subroutine reductions(n, a, b, l)
    integer, intent(in) :: n
    real(wp), intent(inout) :: a(60), b(4, 5)
    logical, intent(inout) :: l(60)
    real(sp) :: small(4)
    small = real(a(1:4), sp)
    a(1) = sum(a(1:20)) + product(b(:, 2)) + sum(small) + sum(b(2:3, 1:n))
    a(2) = maxval(a(3:9)) - minval(b) + maxval(a(3:2)) * 0 + maxval((/ n, 3, 1 /))
    a(3) = dot_product(b(:, 1), b(:, 3)) + dot_product(small, a(5:8))
    b(:, 5) = matmul(b(:, 1:4), a(11:14))
    a(5:8) = matmul(a(11:14), b(1:4, 1:4))
    b(1:2, 1:2) = matmul(b(1:2, 2:4), b(2:4, 2:3))
    a(21:25) = sum(b, 1)
    a(26:29) = sum(b, dim=2) + maxval(b, 2)
    b(1:2, 1:2) = transpose(b(1:2, 1:2))
    l(1) = any(a(1:5) > 0.7_wp)
    l(2) = all(a(1:5) > 0.6_wp)
    a(30) = count(a(1:20) > 0.7_wp) + sum(a(1:20), mask=a(1:20) > 0.7_wp) + count(l)
    a(31) = minval(a(32:40), mask=l(1:9)) + maxval(a(3:2)) + minval(small(3:2)) * 0
    a(34) = log(-abs(a(35)))
    a(36) = maxval(a(33:36)) + minval(a(34:40)) + minval(a(33:40), a(33:40) > 2)
    a(37) = maxval(a(34:34))
    a(32) = sum(abs(a(1:10)) * max(b(1, 1), a(11:20)))
    if (n > 0 .and. sum(a(33:35)) > 0) a(33) = 7.0_wp
  end subroutine reductions

  subroutine masks(n, a, b, l)
    integer, intent(in) :: n
    real(wp), intent(inout) :: a(60), b(4, 5)
    logical, intent(inout) :: l(60)
    where (a(1:20) > 0.7_wp)
      a(1:20) = a(2:21)
      a(21:40) = 1.0_wp / a(1:20)
    elsewhere (a(1:20) > 0.6_wp)
      a(1:20) = -a(1:20)
    elsewhere
      a(1:20) = 0.0_wp
      where (l(1:20))
        a(21:40) = n
      elsewhere
        a(41:60) = a(21:40)
      end where
    end where
    where (b > 0.8_wp) b = sqrt(b)
    where (.not. l(1:10) .and. a(1:10) > 0) l(1:10) = .true.
  end subroutine masks

  subroutine choices(n, a, l, flag)
    integer, intent(in) :: n
    real(wp), intent(inout) :: a(60)
    logical, intent(inout) :: l(60)
    logical, intent(in) :: flag
    integer :: i
    do i = -3, 9
      select case (i * n)
      case (:-2)
        a(1) = a(1) + 1
      case (-1, 1, 5:7)
        a(2) = a(2) + i
      case (0)
        cycle
      case (20:)
        exit
      case default
        a(3) = a(3) + i
      end select
    end do
    select case (flag)
    case (.true.)
      a(4) = 1
    case (.false.)
      a(4) = 2
    end select
    if (flag .eqv. l(1)) then
      a(5) = 1
    else if (l(2) .neqv. l(3) .or. a(1) < 0 .and. .not. l(4)) then
      a(5) = 2
    else if (any(l(5:6))) then
      a(5) = 3
    else
      a(5) = 4
    end if
    l(7) = (a(1) > a(2)) .eqv. (a(3) >= a(4))
    l(8) = n == 2 .or. n /= 3
  end subroutine choices

  subroutine procedures(n, a, b, s)
    integer, intent(in) :: n
    real(wp), intent(inout) :: a(60), b(4, 5)
    real(sp), intent(inout) :: s(60)
    real(wp) :: point
    a(1) = squared(a(2)) + twice(n) + mean(a(1:10)) + mean(b(2, :))
    call add(a, n, b(:, 2))
    call add(b(2, :), 2, a(11:14))
    call add(b(:, 1:2), 2, a(21:24))
    call add(a(30:50:2), 2, a(5:8) + 1.0_wp)
    call scaled(a(60), 3)
    call scaled(s(1), n)
    call scaled(factor=2, value=a(59))
    call change(point)
    a(3:6) = column(b, 2) + column(b, n)
    a(7) = point + optional_sum(a(1)) + optional_sum(a(1), a(2)) + rate
    a(20:30) = squared(a(20:30))
    rate = rate + a(1)
    counts(n) = counts(1) + n
    a(8) = table(2, 1) * a(8) + counts(2)
  end subroutine procedures

  elemental function squared(x)
    real(wp), intent(in) :: x
    real(wp) :: squared
    squared = x * x
  end function squared

  integer function twice(i) result(made)
    integer, intent(in) :: i
    made = 2 * i
    if (i > 100) return
    made = made + 1
  end function twice

  pure real(wp) function mean(x)
    real(wp), intent(in) :: x(:)
    integer :: i
    mean = 0.0_wp
    do i = 1, size(x)
      mean = mean + x(i)
    end do
    mean = mean / size(x)
  end function mean

  function column(b, place) result(found)
    real(wp), intent(in) :: b(4, 5)
    integer, intent(in) :: place
    real(wp) :: found(4)
    found = b(:, place)
  end function column

  subroutine add(x, count, y)
    integer, intent(in) :: count
    real(wp), intent(inout) :: x(*)
    real(wp), intent(in) :: y(4)
    integer :: i
    do i = 1, count
      x(i) = x(i) + y(i)
    end do
  end subroutine add

  real(wp) function optional_sum(x, y)
    real(wp), intent(in) :: x
    real(wp), intent(in), optional :: y
    optional_sum = x
    if (present(y)) optional_sum = optional_sum + y
  end function optional_sum

  subroutine change(x)
    real(wp), intent(out) :: x
    x = rate * 2
  end subroutine change

  subroutine scaled_single(value, factor)
    real(sp), intent(inout) :: value
    integer, intent(in) :: factor
    value = value * factor
  end subroutine scaled_single

  subroutine scaled_double(value, factor)
    real(wp), intent(inout) :: value
    integer, intent(in) :: factor
    value = value * factor
  end subroutine scaled_double

  subroutine hidden_names(few, a)
    integer, intent(in) :: few
    real(wp), intent(inout) :: a(60)
    real(wp) :: half
    half = a(1)
    a(1) = quarter + half + many + few
    call round(few, a(2))
  end subroutine hidden_names

  subroutine round(n, x)
    integer, value :: n
    real(wp), intent(inout) :: x
    integer :: i
    do i = 1, n
      n = 0
      x = x + i
    end do
    x = x + n
  end subroutine round

  subroutine names(double, int, exp_, gamma, y0, at, n)
    integer, intent(in) :: n
    real(wp), intent(inout) :: double, int(60), exp_, gamma, y0, at
    integer :: register, i
    register = n
    do i = 1, register
      int(I) = Double + GAMMA * y0
    end do
    int(1:5) = at
    exp_ = exp(double)
  end subroutine names

end module constructs_mod
