! expect: has no IMPLICIT type
! GH_WRIET is no access.
module misspelt_metadata_mod
  use argument_mod
  use kernel_mod, only: kernel_type

  implicit none

  type, extends(kernel_type) :: misspelt_type
    type(arg_type) :: meta_args(1) = [arg_type(GH_FIELD, GH_REAL, GH_WRIET, W3)]
  end type misspelt_type
end module misspelt_metadata_mod
