!> Owns the list of the algorithms of this folder.
module suite_mod

  use columns_alg_mod, only: run_columns
  use continuous_alg_mod, only: run_continuous
  use dofs_alg_mod, only: run_dofs
  use iterations_alg_mod, only: run_iterations
  use layers_alg_mod, only: run_layers
  use meshes_alg_mod, only: run_meshes
  use operators_alg_mod, only: run_operators
  use precisions_alg_mod, only: run_precisions
  use stencils_alg_mod, only: run_stencils
  use subset_alg_mod, only: run_subset

  implicit none
  private

  public :: run_algorithm

  character(10), parameter, public :: algorithms(10) = [ &
    'columns   ', 'continuous', 'dofs      ', 'iterations', 'layers    ', 'meshes    ', &
    'operators ', 'precisions', 'stencils  ', 'subset    ']

contains

  !> Run the algorithm of this name.
  subroutine run_algorithm(name)
    character(*), intent(in) :: name

    select case (name)
    case ('columns')
      call run_columns()
    case ('continuous')
      call run_continuous()
    case ('dofs')
      call run_dofs()
    case ('iterations')
      call run_iterations()
    case ('layers')
      call run_layers()
    case ('meshes')
      call run_meshes()
    case ('operators')
      call run_operators()
    case ('precisions')
      call run_precisions()
    case ('stencils')
      call run_stencils()
    case ('subset')
      call run_subset()
    case default
      error stop 'run_algorithm: unknown name'
    end select
  end subroutine run_algorithm

end module suite_mod
