!> Owns the start and stop of message passing, and the reductions that algorithms ask for directly.
module lfric_mpi_mod

  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use constants_mod, only: l_def
  use message_passing_mod, only: forget_communicator, get_number_of_ranks, get_rank, reduce_max, &
                                 reduce_min, reduce_sum, start_message_passing, &
                                 stop_message_passing, use_communicator

  implicit none
  private

  public :: create_comm, destroy_comm

  !> A communicator, by the number that MPI's Fortran binding of 1994 knows it by.
  type, public :: lfric_comm_type
    private
    integer :: comm_mpi_val = 0
  contains
    procedure, public :: get_comm_mpi_val
    procedure, public :: set_comm_mpi_val
  end type lfric_comm_type

  !> The ranks of a program: this rank alone until `initialise` is called.
  type, public :: lfric_mpi_type
    private
    type(lfric_comm_type) :: comm
    logical(l_def) :: comm_set = .false.
  contains
    procedure, public :: initialise
    procedure, public :: finalise
    procedure, public :: get_comm
    procedure, public :: is_comm_set
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

  !> Start message passing and set the communicator of all ranks.
  subroutine create_comm(out_comm)
    type(lfric_comm_type), intent(out) :: out_comm

    call start_message_passing(out_comm%comm_mpi_val)
  end subroutine create_comm

  !> Stop message passing.
  subroutine destroy_comm()
    call stop_message_passing()
  end subroutine destroy_comm

  !> Return the number of a communicator.
  function get_comm_mpi_val(self) result(comm_mpi_val)
    class(lfric_comm_type), intent(in) :: self
    integer :: comm_mpi_val

    comm_mpi_val = self%comm_mpi_val
  end function get_comm_mpi_val

  !> Set the number of a communicator.
  subroutine set_comm_mpi_val(self, comm_mpi_val)
    class(lfric_comm_type), intent(inout) :: self
    integer, intent(in) :: comm_mpi_val

    self%comm_mpi_val = comm_mpi_val
  end subroutine set_comm_mpi_val

  !> Pass messages between the ranks of a communicator; meshes made before know nothing of them.
  subroutine initialise(self, in_comm)
    class(lfric_mpi_type), intent(inout) :: self
    type(lfric_comm_type), intent(in) :: in_comm

    self%comm = in_comm
    self%comm_set = .true.
    call use_communicator(in_comm%comm_mpi_val)
  end subroutine initialise

  !> Forget the communicator.
  subroutine finalise(self)
    class(lfric_mpi_type), intent(inout) :: self

    self%comm_set = .false.
    call forget_communicator()
  end subroutine finalise

  !> Return the communicator.
  function get_comm(self) result(communicator)
    class(lfric_mpi_type), intent(in) :: self
    type(lfric_comm_type) :: communicator

    communicator = self%comm
  end function get_comm

  !> Return whether there is a communicator.
  function is_comm_set(self) result(comm_state)
    class(lfric_mpi_type), intent(in) :: self
    logical(l_def) :: comm_state

    comm_state = self%comm_set
  end function is_comm_set

  !> Set the sum over all ranks.
  subroutine global_sum_int32(self, l_sum, g_sum)
    class(lfric_mpi_type), intent(in) :: self
    integer(int32), intent(in) :: l_sum
    integer(int32), intent(out) :: g_sum

    g_sum = reduce_sum(l_sum)
  end subroutine global_sum_int32

  !> Set the sum over all ranks.
  subroutine global_sum_real32(self, l_sum, g_sum)
    class(lfric_mpi_type), intent(in) :: self
    real(real32), intent(in) :: l_sum
    real(real32), intent(out) :: g_sum

    g_sum = reduce_sum(l_sum)
  end subroutine global_sum_real32

  !> Set the sum over all ranks.
  subroutine global_sum_real64(self, l_sum, g_sum)
    class(lfric_mpi_type), intent(in) :: self
    real(real64), intent(in) :: l_sum
    real(real64), intent(out) :: g_sum

    g_sum = reduce_sum(l_sum)
  end subroutine global_sum_real64

  !> Set the least value over all ranks.
  subroutine global_min_int32(self, l_min, g_min)
    class(lfric_mpi_type), intent(in) :: self
    integer(int32), intent(in) :: l_min
    integer(int32), intent(out) :: g_min

    g_min = reduce_min(l_min)
  end subroutine global_min_int32

  !> Set the least value over all ranks.
  subroutine global_min_real32(self, l_min, g_min)
    class(lfric_mpi_type), intent(in) :: self
    real(real32), intent(in) :: l_min
    real(real32), intent(out) :: g_min

    g_min = reduce_min(l_min)
  end subroutine global_min_real32

  !> Set the least value over all ranks.
  subroutine global_min_real64(self, l_min, g_min)
    class(lfric_mpi_type), intent(in) :: self
    real(real64), intent(in) :: l_min
    real(real64), intent(out) :: g_min

    g_min = reduce_min(l_min)
  end subroutine global_min_real64

  !> Set the greatest value over all ranks.
  subroutine global_max_int32(self, l_max, g_max)
    class(lfric_mpi_type), intent(in) :: self
    integer(int32), intent(in) :: l_max
    integer(int32), intent(out) :: g_max

    g_max = reduce_max(l_max)
  end subroutine global_max_int32

  !> Set the greatest value over all ranks.
  subroutine global_max_real32(self, l_max, g_max)
    class(lfric_mpi_type), intent(in) :: self
    real(real32), intent(in) :: l_max
    real(real32), intent(out) :: g_max

    g_max = reduce_max(l_max)
  end subroutine global_max_real32

  !> Set the greatest value over all ranks.
  subroutine global_max_real64(self, l_max, g_max)
    class(lfric_mpi_type), intent(in) :: self
    real(real64), intent(in) :: l_max
    real(real64), intent(out) :: g_max

    g_max = reduce_max(l_max)
  end subroutine global_max_real64

  !> Return the number of ranks.
  function get_comm_size(self) result(c_size)
    class(lfric_mpi_type), intent(in) :: self
    integer :: c_size

    c_size = get_number_of_ranks()
  end function get_comm_size

  !> Return the number of this rank, from 0.
  function get_comm_rank(self) result(c_rank)
    class(lfric_mpi_type), intent(in) :: self
    integer :: c_rank

    c_rank = get_rank()
  end function get_comm_rank

end module lfric_mpi_mod
