subroutine fill(a, n)
  use values_mod, only: rows
  implicit none
  integer, intent(in) :: n
  real, intent(out) :: a(rows, n)
  integer :: i
  do i = 1, n
    a(1, i) = i
  end do
end subroutine fill
