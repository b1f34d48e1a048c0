!> The type that every kernel type extends.
module kernel_mod

  implicit none
  private

  !> A kernel: its extensions hold the metadata that a code generator reads.
  type, abstract, public :: kernel_type
  end type kernel_type

end module kernel_mod
