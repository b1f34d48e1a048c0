! Proxies of a library whose fields are on the host.
module field_parent_mod
  implicit none
  type, abstract :: field_parent_proxy_type
    logical, pointer :: halo_dirty(:) => null()
  contains
    procedure :: set_dirty
  end type field_parent_proxy_type
contains
  subroutine set_dirty(self)
    class(field_parent_proxy_type), intent(inout) :: self
    self%halo_dirty = .true.
  end subroutine set_dirty
end module field_parent_mod
