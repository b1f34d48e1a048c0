module work
  use constants, only : wp
  use grid_mod, only : grid_type
  implicit none
contains
  subroutine step(g, n)
    type(grid_type), intent(inout) :: g
    integer, intent(in) :: n
    integer :: i
    do i = 1, n
      g%x(i) = 2.0_wp * g%area(i)
    end do
  end subroutine step
end module work
