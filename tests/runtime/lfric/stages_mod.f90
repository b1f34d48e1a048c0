!> Owns what the answers of an algorithm come to at each of its stages, and whether a mutation has
!> changed them: at the first stage where it has, on any rank, the algorithm need not go on.
module stages_mod

  use constants_mod, only: r_def
  use lfric_mpi_mod, only: global_mpi

  implicit none
  private

  public :: begin_stages, note_stage, is_different

  integer, parameter :: most_stages = 64
  integer, parameter :: most_algorithms = 64

  !> What the answers of this rank come to where nothing is changed.
  real(r_def), save :: right(most_stages, most_algorithms)
  integer, save :: algorithm = 0
  integer, save :: stage = 0
  logical, save :: keeps = .false.
  logical, save :: differs = .false.

contains

  !> Begin an algorithm, by its number; `unchanged` says whether what it comes to is right.
  subroutine begin_stages(number, unchanged)
    integer, intent(in) :: number
    logical, intent(in) :: unchanged

    algorithm = number
    keeps = unchanged
    stage = 0
    differs = .false.
  end subroutine begin_stages

  !> Note what all answers up to this stage come to on this rank. All ranks call this together.
  subroutine note_stage(answer)
    real(r_def), intent(in) :: answer

    real(r_def) :: different, different_of_all

    stage = stage + 1
    if (stage > most_stages) error stop 'note_stage: there are more stages than have room'
    if (algorithm < 1 .or. algorithm > most_algorithms) error stop 'note_stage: no such algorithm'
    if (keeps) then
      if (answer /= answer) error stop 'note_stage: what is right is not a number'
      right(stage, algorithm) = answer
    else
      different = merge(0.0_r_def, 1.0_r_def, answer == right(stage, algorithm))
      call global_mpi%global_max(different, different_of_all)
      differs = different_of_all > 0.0_r_def
    end if
  end subroutine note_stage

  !> Return whether answers have changed on some rank.
  function is_different()
    logical :: is_different

    is_different = differs
  end function is_different

end module stages_mod
