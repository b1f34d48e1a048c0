!> The scalars of kind r_def.
module scalar_mod

  use precision_scalars_mod, only: scalar_type

  implicit none
  private

  public :: scalar_type

end module scalar_mod
