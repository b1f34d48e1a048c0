!> A type that hides the type of its contents.
!>
!> A type with a component of another type makes each module that uses it depend on the module of
!> that type and its dependencies. A component of this type does not; procedures that need the
!> contents use the module that knows their type.
module opaque_mod

  implicit none
  private

  !> Anything.
  type, abstract, public :: opaque_type
  end type opaque_type

end module opaque_mod
