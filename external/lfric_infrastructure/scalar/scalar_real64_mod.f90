!> Owns the scalars of 64-bit reals.
!>
!> The modules of the other kinds have the same text but for names and kinds, which a test keeps so:
!> Fortran has no generic derived types that the compilers at hand support, and gfortran takes
!> renamed types of one name for the same type in a select type construct.
module scalar_real64_mod

  use, intrinsic :: iso_fortran_env, only: real64
  use global_sums_mod, only: sum_over_ranks
  use message_passing_mod, only: reduce_max, reduce_min

  implicit none
  private

  !> A value of this rank, to be reduced over all ranks.
  type, public :: scalar_real64_type
    real(real64), public :: value
  contains
    procedure, non_overridable, public :: initialise
    procedure, non_overridable, public :: get_sum
    procedure, non_overridable, public :: get_min
    procedure, non_overridable, public :: get_max
    procedure, non_overridable, public :: reduction_finish
  end type scalar_real64_type

contains

  !> Set the value of this rank.
  subroutine initialise(self, value)
    class(scalar_real64_type), intent(inout) :: self
    real(real64), intent(in) :: value

    self%value = value
  end subroutine initialise

  !> Return the sum over all ranks.
  function get_sum(self) result(g_sum)
    class(scalar_real64_type), intent(inout) :: self
    real(real64) :: g_sum

    g_sum = sum_over_ranks(self%value)
  end function get_sum

  !> Return the least value over all ranks.
  function get_min(self) result(g_min)
    class(scalar_real64_type), intent(inout) :: self
    real(real64) :: g_min

    g_min = reduce_min(self%value)
  end function get_min

  !> Return the greatest value over all ranks.
  function get_max(self) result(g_max)
    class(scalar_real64_type), intent(inout) :: self
    real(real64) :: g_max

    g_max = reduce_max(self%value)
  end function get_max

  !> Wait for a reduction; reductions block here, so there is nothing to wait for.
  subroutine reduction_finish(self)
    class(scalar_real64_type), intent(in) :: self
  end subroutine reduction_finish

end module scalar_real64_mod
