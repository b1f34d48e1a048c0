! expect: No initializer for component
! An argument has at least a type and an access.
module short_metadata_mod
  use argument_mod
  use kernel_mod, only: kernel_type

  implicit none

  type, extends(kernel_type) :: short_type
    type(arg_type) :: meta_args(1) = [arg_type(GH_FIELD)]
  end type short_type
end module short_metadata_mod
