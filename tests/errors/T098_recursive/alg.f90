recursive subroutine smooth(a, n)
  integer, intent(in) :: n
  real, intent(inout) :: a(8)
  integer :: i
  !$acc parallel loop
  do i = 1, 8
    a(i) = 0.5 * a(i)
  end do
  if (n > 0) call smooth(a, n - 1)
end subroutine smooth
