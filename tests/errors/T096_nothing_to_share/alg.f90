subroutine sweep(a, n)
  integer, intent(in) :: n
  real, intent(inout) :: a(n)
  integer :: i
  do i = 2, n
    a(i) = a(i) + a(i - 1)
  end do
end subroutine sweep
