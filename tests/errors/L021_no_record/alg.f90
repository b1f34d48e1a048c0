subroutine other(a)
  real, intent(inout) :: a(8)
  a = 0.5 * a
end subroutine other
