!> Owns the reductions over ranks that algorithms ask for directly; there is one rank.
module lfric_mpi_mod

  use, intrinsic :: iso_fortran_env, only: int32, real32, real64

  implicit none
  private

  !> The ranks of a program.
  type, public :: lfric_mpi_type
  contains
    procedure, public :: global_sum_int32
    procedure, public :: global_sum_real32
    procedure, public :: global_sum_real64
    generic, public :: global_sum => global_sum_int32, global_sum_real32, global_sum_real64
    procedure, public :: global_min_int32
    procedure, public :: global_min_real32
    procedure, public :: global_min_real64
    generic, public :: global_min => global_min_int32, global_min_real32, global_min_real64
    procedure, public :: global_max_int32
    procedure, public :: global_max_real32
    procedure, public :: global_max_real64
    generic, public :: global_max => global_max_int32, global_max_real32, global_max_real64
    procedure, public :: get_comm_size
    procedure, public :: get_comm_rank
  end type lfric_mpi_type

  !> The ranks of the program.
  type(lfric_mpi_type), target, public :: global_mpi

contains

  !> Set the sum over all ranks.
  subroutine global_sum_int32(self, l_sum, g_sum)
    class(lfric_mpi_type), intent(in) :: self
    integer(int32), intent(in) :: l_sum
    integer(int32), intent(out) :: g_sum

    g_sum = l_sum
  end subroutine global_sum_int32

  !> Set the sum over all ranks.
  subroutine global_sum_real32(self, l_sum, g_sum)
    class(lfric_mpi_type), intent(in) :: self
    real(real32), intent(in) :: l_sum
    real(real32), intent(out) :: g_sum

    g_sum = l_sum
  end subroutine global_sum_real32

  !> Set the sum over all ranks.
  subroutine global_sum_real64(self, l_sum, g_sum)
    class(lfric_mpi_type), intent(in) :: self
    real(real64), intent(in) :: l_sum
    real(real64), intent(out) :: g_sum

    g_sum = l_sum
  end subroutine global_sum_real64

  !> Set the least value over all ranks.
  subroutine global_min_int32(self, l_min, g_min)
    class(lfric_mpi_type), intent(in) :: self
    integer(int32), intent(in) :: l_min
    integer(int32), intent(out) :: g_min

    g_min = l_min
  end subroutine global_min_int32

  !> Set the least value over all ranks.
  subroutine global_min_real32(self, l_min, g_min)
    class(lfric_mpi_type), intent(in) :: self
    real(real32), intent(in) :: l_min
    real(real32), intent(out) :: g_min

    g_min = l_min
  end subroutine global_min_real32

  !> Set the least value over all ranks.
  subroutine global_min_real64(self, l_min, g_min)
    class(lfric_mpi_type), intent(in) :: self
    real(real64), intent(in) :: l_min
    real(real64), intent(out) :: g_min

    g_min = l_min
  end subroutine global_min_real64

  !> Set the greatest value over all ranks.
  subroutine global_max_int32(self, l_max, g_max)
    class(lfric_mpi_type), intent(in) :: self
    integer(int32), intent(in) :: l_max
    integer(int32), intent(out) :: g_max

    g_max = l_max
  end subroutine global_max_int32

  !> Set the greatest value over all ranks.
  subroutine global_max_real32(self, l_max, g_max)
    class(lfric_mpi_type), intent(in) :: self
    real(real32), intent(in) :: l_max
    real(real32), intent(out) :: g_max

    g_max = l_max
  end subroutine global_max_real32

  !> Set the greatest value over all ranks.
  subroutine global_max_real64(self, l_max, g_max)
    class(lfric_mpi_type), intent(in) :: self
    real(real64), intent(in) :: l_max
    real(real64), intent(out) :: g_max

    g_max = l_max
  end subroutine global_max_real64

  !> Return the number of ranks.
  function get_comm_size(self) result(c_size)
    class(lfric_mpi_type), intent(in) :: self
    integer :: c_size

    c_size = 1
  end function get_comm_size

  !> Return the number of this rank, from 0.
  function get_comm_rank(self) result(c_rank)
    class(lfric_mpi_type), intent(in) :: self
    integer :: c_rank

    c_rank = 0
  end function get_comm_rank

end module lfric_mpi_mod
