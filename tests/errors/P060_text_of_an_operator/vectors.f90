subroutine turn(a, b)
  use vectors_mod, only: vector, operator(.cross.)
  type(vector), intent(inout) :: a
  type(vector), intent(in) :: b
  a = a .cross. b
end subroutine turn
