!> Owns which halo exchange of the generated code is left out or made shallower.
!>
!> The test numbers the exchanges of a copy of the generated code and lets each ask here.
module mutation_mod

  use, intrinsic :: iso_fortran_env, only: i_def => int32

  implicit none
  private

  public :: drop_exchange, shorten_exchange, was_mutated
  public :: performs, depth_of

  integer(i_def), save :: dropped = 0
  integer(i_def), save :: shortened = 0
  logical, save :: mutated = .false.

contains

  !> Leave out one exchange from now on, and no other; 0 for none.
  subroutine drop_exchange(number)
    integer(i_def), intent(in) :: number

    dropped = number
    shortened = 0
    mutated = .false.
  end subroutine drop_exchange

  !> Make one exchange shallower by one level from now on, and no other; one to level 1 stays.
  subroutine shorten_exchange(number)
    integer(i_def), intent(in) :: number

    dropped = 0
    shortened = number
    mutated = .false.
  end subroutine shorten_exchange

  !> Return whether the generated code has come to do something else than it should.
  function was_mutated()
    logical :: was_mutated

    was_mutated = mutated
  end function was_mutated

  !> Return whether an exchange is to be done.
  function performs(number)
    integer(i_def), intent(in) :: number
    logical :: performs

    performs = number /= dropped
    mutated = mutated .or. .not. performs
  end function performs

  !> Return the depth to which an exchange is to be done.
  function depth_of(number, depth)
    integer(i_def), intent(in) :: number
    integer(i_def), intent(in) :: depth
    integer(i_def) :: depth_of

    depth_of = depth
    if (number /= shortened .or. depth < 2) return
    depth_of = depth - 1
    mutated = .true.
  end function depth_of

end module mutation_mod
