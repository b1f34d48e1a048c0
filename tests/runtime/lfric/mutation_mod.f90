!> Owns which place of the generated code does something else than it should, and what.
!>
!> The test numbers the places of a copy of the generated code and lets each ask here.
module mutation_mod

  use, intrinsic :: iso_fortran_env, only: i_def => int32, int32, real32, real64

  implicit none
  private

  public :: mutate, was_mutated, leaves_out
  public :: bound_of, depth_of, performs, share

  !> Let another thread set a variable that a thread has just set.
  interface share
    module procedure share_int32, share_real32, share_real64
  end interface share

  !> Whether something has been changed, or was run as it is to be compared with that.
  logical, save, public, protected :: is_mutating = .false.
  integer(i_def), save :: place = 0
  character(16), save :: done_to_it = 'none'
  logical, save :: mutated = .false.
  real(real64), save :: of_other_thread
  logical, save :: another_has_set = .false.

contains

  !> Change one place from now on, and no other: none, drop, shorten, widen or narrow it.
  subroutine mutate(number, change)
    integer(i_def), intent(in) :: number
    character(*), intent(in) :: change

    is_mutating = .true.
    place = number
    done_to_it = change
    mutated = .false.
    another_has_set = .false.
  end subroutine mutate

  !> Return whether the generated code has come to do something else than it should.
  function was_mutated()
    logical :: was_mutated

    was_mutated = mutated
  end function was_mutated

  !> Return whether what is changed is that something is left out.
  function leaves_out()
    logical :: leaves_out

    leaves_out = done_to_it == 'drop'
  end function leaves_out

  !> Return whether something is to be done.
  function performs(number)
    integer(i_def), intent(in) :: number
    logical :: performs

    performs = .not. (number == place .and. done_to_it == 'drop')
    mutated = mutated .or. .not. performs
  end function performs

  !> Where a variable is not private any more, what a thread finds after setting it is what another
  !> one has set it to. Here the other one is an iteration behind.
  subroutine share_real64(number, variable)
    integer(i_def), intent(in) :: number
    real(real64), intent(inout) :: variable
    real(real64) :: mine

    if (performs(number)) return
    mine = variable
    if (another_has_set) variable = of_other_thread
    of_other_thread = mine
    another_has_set = .true.
  end subroutine share_real64

  !> As for the other precision.
  subroutine share_real32(number, variable)
    integer(i_def), intent(in) :: number
    real(real32), intent(inout) :: variable
    real(real64) :: value

    value = real(variable, real64)
    call share(number, value)
    variable = real(value, real32)
  end subroutine share_real32

  !> As for real values.
  subroutine share_int32(number, variable)
    integer(i_def), intent(in) :: number
    integer(int32), intent(inout) :: variable
    real(real64) :: value

    value = real(variable, real64)
    call share(number, value)
    variable = nint(value, int32)
  end subroutine share_int32

  !> Return the depth to which an exchange is to be done, less by a level if that leaves one.
  function depth_of(number, depth)
    integer(i_def), intent(in) :: number
    integer(i_def), intent(in) :: depth
    integer(i_def) :: depth_of

    depth_of = depth
    if (number /= place .or. done_to_it /= 'shorten' .or. depth < 2) return
    depth_of = depth - 1
    mutated = .true.
  end function depth_of

  !> Return where a loop is to stop.
  function bound_of(number, bound, wider, narrower)
    integer(i_def), intent(in) :: number
    integer(i_def), intent(in) :: bound, wider, narrower
    integer(i_def) :: bound_of

    bound_of = bound
    if (number /= place) return
    if (done_to_it == 'widen') bound_of = wider
    if (done_to_it == 'narrow') bound_of = narrower
    mutated = mutated .or. bound_of /= bound
  end function bound_of

end module mutation_mod
