module note_mod
  use argument_mod, only: go_arg, GO_READ, GO_WRITE, GO_CT, GO_POINTWISE, GO_ALL_PTS, GO_OFFSET_ANY
  use kernel_mod, only: kernel_type
  use kind_params_mod, only: go_wp
  implicit none
  type, extends(kernel_type) :: note
    type(go_arg), dimension(2) :: meta_args = (/ &
         go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
         go_arg(GO_READ, GO_CT, GO_POINTWISE) /)
    integer :: ITERATES_OVER = GO_ALL_PTS
    integer :: index_offset = GO_OFFSET_ANY
  contains
    procedure, nopass :: code => note_code
  end type note
contains
  subroutine note_code(i, j, height, depth)
    integer, intent(in) :: i, j
    real(go_wp), dimension(:,:), intent(out) :: height
    real(go_wp), dimension(:,:), intent(in) :: depth
    character(len=8) :: word
    height(i, j) = bessel_j0(depth(i, j))
    write (*, *) height(i, j)
    height(i, j) = height(i, j) + draft(i, j)
    word = 'high'
  end subroutine note_code
end module note_mod
