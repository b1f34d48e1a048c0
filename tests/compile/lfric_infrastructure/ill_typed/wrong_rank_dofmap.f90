! expect: Different ranks in pointer assignment
! The stencil dofmap of all cells has three dimensions.
subroutine wrong_rank(f)
  use constants_mod, only: i_def
  use field_mod, only: field_type, field_proxy_type
  use stencil_dofmap_mod, only: STENCIL_CROSS, stencil_dofmap_type

  implicit none
  type(field_type), intent(in) :: f
  type(field_proxy_type) :: f_proxy
  type(stencil_dofmap_type), pointer :: stencil
  integer(i_def), pointer :: map(:, :)

  f_proxy = f%get_proxy()
  stencil => f_proxy%vspace%get_stencil_dofmap(STENCIL_CROSS, 1)
  map => stencil%get_whole_dofmap()
end subroutine wrong_rank
