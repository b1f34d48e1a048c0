!> The scalars of kind r_solver.
module r_solver_scalar_mod

  use precision_scalars_mod, only: r_solver_scalar_type

  implicit none
  private

  public :: r_solver_scalar_type

end module r_solver_scalar_mod
