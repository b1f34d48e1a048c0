module drag_kernel_mod

  use argument_mod, only : CELL_COLUMN
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: drag_kernel_type
    private
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: drag_kernel_code
  end type drag_kernel_type

contains

  subroutine drag_kernel_code()
  end subroutine drag_kernel_code

end module drag_kernel_mod
