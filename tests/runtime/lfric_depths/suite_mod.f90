!> The algorithm of this folder.
module suite_mod

  use depths_alg_mod, only: run_depths

  implicit none
  private

  public :: run_algorithm

  character(6), public, parameter :: algorithms(1) = ['depths']

contains

  !> Run the algorithm.
  subroutine run_algorithm(name)
    character(*), intent(in) :: name

    if (name == 'depths') call run_depths()
  end subroutine run_algorithm

end module suite_mod
