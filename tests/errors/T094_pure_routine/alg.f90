pure subroutine scale(a, n)
  integer, intent(in) :: n
  real, intent(inout) :: a(n)
  integer :: i
  do i = 1, n
    a(i) = 2.0 * a(i)
  end do
end subroutine scale
