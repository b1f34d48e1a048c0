!> Owns the scalars of integers.
!>
!> The modules of the other kinds have the same text but for names and kinds, which a test keeps so:
!> Fortran has no generic derived types that the compilers at hand support, and gfortran takes
!> renamed types of one name for the same type in a select type construct.
module integer_scalar_mod

  use constants_mod, only: i_def
  use global_sums_mod, only: sum_over_ranks
  use message_passing_mod, only: reduce_max, reduce_min

  implicit none
  private

  !> A value of this rank, to be reduced over all ranks.
  type, public :: integer_scalar_type
    integer(i_def), public :: value
  contains
    procedure, non_overridable, public :: initialise
    procedure, non_overridable, public :: get_sum
    procedure, non_overridable, public :: get_min
    procedure, non_overridable, public :: get_max
    procedure, non_overridable, public :: reduction_finish
  end type integer_scalar_type

contains

  !> Set the value of this rank.
  subroutine initialise(self, value)
    class(integer_scalar_type), intent(inout) :: self
    integer(i_def), intent(in) :: value

    self%value = value
  end subroutine initialise

  !> Return the sum over all ranks.
  function get_sum(self) result(g_sum)
    class(integer_scalar_type), intent(inout) :: self
    integer(i_def) :: g_sum

    g_sum = sum_over_ranks(self%value)
  end function get_sum

  !> Return the least value over all ranks.
  function get_min(self) result(g_min)
    class(integer_scalar_type), intent(inout) :: self
    integer(i_def) :: g_min

    g_min = reduce_min(self%value)
  end function get_min

  !> Return the greatest value over all ranks.
  function get_max(self) result(g_max)
    class(integer_scalar_type), intent(inout) :: self
    integer(i_def) :: g_max

    g_max = reduce_max(self%value)
  end function get_max

  !> Wait for a reduction; reductions block here, so there is nothing to wait for.
  subroutine reduction_finish(self)
    class(integer_scalar_type), intent(in) :: self
  end subroutine reduction_finish

end module integer_scalar_mod
