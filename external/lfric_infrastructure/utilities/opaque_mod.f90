!> Owns a type that says nothing of what it holds.
!>
!> A type that has a component of another brings that with it, its procedures and what these take,
!> into the module file of whoever uses the first. Behind a component of this type it does not: who
!> looks inside uses, in that procedure, the module that knows what is there.
module opaque_mod

  implicit none
  private

  !> Anything.
  type, abstract, public :: opaque_type
  end type opaque_type

end module opaque_mod
