subroutine sweep(a, n)
  integer, intent(in) :: n
  real, intent(inout) :: a(n, n)
  integer :: i, j
  do j = 1, n
    do i = 2, n
      a(i, j) = a(i, j) + a(i - 1, j)
    end do
  end do
end subroutine sweep
