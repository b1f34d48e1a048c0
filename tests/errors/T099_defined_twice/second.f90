subroutine other(a)
  real, intent(inout) :: a(8)
  a = 0.25 * a
end subroutine other
