!> Owns the start and stop of message passing, and what algorithms ask ranks for directly.
module lfric_mpi_mod

  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use constants_mod, only: l_def
  use message_passing_mod, only: broadcast_bytes, forget_communicator, gather_numbers, &
                                 get_number_of_ranks, get_rank, reduce_max, reduce_min, &
                                 reduce_sum, start_message_passing, stop_message_passing, &
                                 use_communicator

  implicit none
  private

  public :: create_comm, destroy_comm

  !> A communicator, by the number that MPI's Fortran binding of 1994 knows it by.
  type, public :: lfric_comm_type
    private
    integer :: comm_mpi_val = 0
  contains
    procedure, non_overridable, public :: get_comm_mpi_val
    procedure, non_overridable, public :: set_comm_mpi_val
  end type lfric_comm_type

  !> The ranks of a program: this rank alone until `initialise` is called.
  type, public :: lfric_mpi_type
    private
    type(lfric_comm_type) :: comm
    logical(l_def) :: comm_set = .false.
  contains
    procedure, non_overridable, public :: initialise
    procedure, non_overridable, public :: finalise
    procedure, non_overridable, public :: get_comm
    procedure, non_overridable, public :: is_comm_set
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
    procedure, non_overridable, public :: all_gather
    procedure, public :: broadcast_logical_scalar
    procedure, public :: broadcast_int32_scalar
    procedure, public :: broadcast_real32_scalar
    procedure, public :: broadcast_real64_scalar
    procedure, public :: broadcast_logical_1d
    procedure, public :: broadcast_int32_1d
    procedure, public :: broadcast_real32_1d
    procedure, public :: broadcast_real64_1d
    procedure, public :: broadcast_str_1d
    procedure, public :: broadcast_logical_2d
    procedure, public :: broadcast_int32_2d
    procedure, public :: broadcast_real32_2d
    procedure, public :: broadcast_real64_2d
    procedure, public :: broadcast_logical_3d
    procedure, public :: broadcast_int32_3d
    procedure, public :: broadcast_real32_3d
    procedure, public :: broadcast_real64_3d
    generic, public :: broadcast => broadcast_logical_scalar, broadcast_int32_scalar, &
                                    broadcast_real32_scalar, broadcast_real64_scalar, &
                                    broadcast_logical_1d, broadcast_int32_1d, &
                                    broadcast_real32_1d, broadcast_real64_1d, broadcast_str_1d, &
                                    broadcast_logical_2d, broadcast_int32_2d, &
                                    broadcast_real32_2d, broadcast_real64_2d, &
                                    broadcast_logical_3d, broadcast_int32_3d, &
                                    broadcast_real32_3d, broadcast_real64_3d
    procedure, non_overridable, public :: get_comm_size
    procedure, non_overridable, public :: get_comm_rank
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
  subroutine set_comm_mpi_val(self, comm)
    class(lfric_comm_type), intent(inout) :: self
    integer, intent(in) :: comm

    self%comm_mpi_val = comm
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

  !> Set `recv_buffer` to the first `count` numbers of all ranks, rank by rank.
  subroutine all_gather(self, send_buffer, recv_buffer, count)
    class(lfric_mpi_type), intent(in) :: self
    integer(int32), intent(in) :: send_buffer(:)
    integer(int32), intent(out) :: recv_buffer(:)
    integer(int32), intent(in) :: count

    if (size(recv_buffer) < count * get_number_of_ranks()) &
      error stop 'lfric_mpi_type: the buffer has no room for the numbers of all ranks'
    recv_buffer = 0
    call gather_numbers(send_buffer(:count), recv_buffer)
  end subroutine all_gather

  ! -- broadcasts: of one value, or of the first `count` values of an array, in the order of its
  ! elements, from the rank `root`, from 0, to all; of strings, `count` characters.

  subroutine broadcast_logical_scalar(self, buffer, root)
    class(lfric_mpi_type), intent(in) :: self
    logical(l_def), target, intent(inout) :: buffer
    integer, intent(in) :: root

    call broadcast_bytes(c_loc(buffer), storage_size(buffer) / 8, root)
  end subroutine broadcast_logical_scalar

  subroutine broadcast_int32_scalar(self, buffer, root)
    class(lfric_mpi_type), intent(in) :: self
    integer(int32), target, intent(inout) :: buffer
    integer, intent(in) :: root

    call broadcast_bytes(c_loc(buffer), storage_size(buffer) / 8, root)
  end subroutine broadcast_int32_scalar

  subroutine broadcast_real32_scalar(self, buffer, root)
    class(lfric_mpi_type), intent(in) :: self
    real(real32), target, intent(inout) :: buffer
    integer, intent(in) :: root

    call broadcast_bytes(c_loc(buffer), storage_size(buffer) / 8, root)
  end subroutine broadcast_real32_scalar

  subroutine broadcast_real64_scalar(self, buffer, root)
    class(lfric_mpi_type), intent(in) :: self
    real(real64), target, intent(inout) :: buffer
    integer, intent(in) :: root

    call broadcast_bytes(c_loc(buffer), storage_size(buffer) / 8, root)
  end subroutine broadcast_real64_scalar

  subroutine broadcast_logical_1d(self, buffer, count, root)
    class(lfric_mpi_type), intent(in) :: self
    logical(l_def), target, contiguous, intent(inout) :: buffer(:)
    integer, intent(in) :: count
    integer, intent(in) :: root

    if (has_none(count, size(buffer))) return
    call broadcast_bytes(c_loc(buffer(1)), count * storage_size(buffer) / 8, root)
  end subroutine broadcast_logical_1d

  subroutine broadcast_int32_1d(self, buffer, count, root)
    class(lfric_mpi_type), intent(in) :: self
    integer(int32), target, contiguous, intent(inout) :: buffer(:)
    integer, intent(in) :: count
    integer, intent(in) :: root

    if (has_none(count, size(buffer))) return
    call broadcast_bytes(c_loc(buffer(1)), count * storage_size(buffer) / 8, root)
  end subroutine broadcast_int32_1d

  subroutine broadcast_real32_1d(self, buffer, count, root)
    class(lfric_mpi_type), intent(in) :: self
    real(real32), target, contiguous, intent(inout) :: buffer(:)
    integer, intent(in) :: count
    integer, intent(in) :: root

    if (has_none(count, size(buffer))) return
    call broadcast_bytes(c_loc(buffer(1)), count * storage_size(buffer) / 8, root)
  end subroutine broadcast_real32_1d

  subroutine broadcast_real64_1d(self, buffer, count, root)
    class(lfric_mpi_type), intent(in) :: self
    real(real64), target, contiguous, intent(inout) :: buffer(:)
    integer, intent(in) :: count
    integer, intent(in) :: root

    if (has_none(count, size(buffer))) return
    call broadcast_bytes(c_loc(buffer(1)), count * storage_size(buffer) / 8, root)
  end subroutine broadcast_real64_1d

  subroutine broadcast_str_1d(self, buffer, count, root)
    class(lfric_mpi_type), intent(in) :: self
    character(*), target, contiguous, intent(inout) :: buffer(:)
    integer, intent(in) :: count
    integer, intent(in) :: root

    if (has_none(count, size(buffer) * len(buffer))) return
    call broadcast_bytes(c_loc(buffer(1)(1:1)), count, root)
  end subroutine broadcast_str_1d

  subroutine broadcast_logical_2d(self, buffer, count, root)
    class(lfric_mpi_type), intent(in) :: self
    logical(l_def), target, contiguous, intent(inout) :: buffer(:, :)
    integer, intent(in) :: count
    integer, intent(in) :: root

    if (has_none(count, size(buffer))) return
    call broadcast_bytes(c_loc(buffer(1, 1)), count * storage_size(buffer) / 8, root)
  end subroutine broadcast_logical_2d

  subroutine broadcast_int32_2d(self, buffer, count, root)
    class(lfric_mpi_type), intent(in) :: self
    integer(int32), target, contiguous, intent(inout) :: buffer(:, :)
    integer, intent(in) :: count
    integer, intent(in) :: root

    if (has_none(count, size(buffer))) return
    call broadcast_bytes(c_loc(buffer(1, 1)), count * storage_size(buffer) / 8, root)
  end subroutine broadcast_int32_2d

  subroutine broadcast_real32_2d(self, buffer, count, root)
    class(lfric_mpi_type), intent(in) :: self
    real(real32), target, contiguous, intent(inout) :: buffer(:, :)
    integer, intent(in) :: count
    integer, intent(in) :: root

    if (has_none(count, size(buffer))) return
    call broadcast_bytes(c_loc(buffer(1, 1)), count * storage_size(buffer) / 8, root)
  end subroutine broadcast_real32_2d

  subroutine broadcast_real64_2d(self, buffer, count, root)
    class(lfric_mpi_type), intent(in) :: self
    real(real64), target, contiguous, intent(inout) :: buffer(:, :)
    integer, intent(in) :: count
    integer, intent(in) :: root

    if (has_none(count, size(buffer))) return
    call broadcast_bytes(c_loc(buffer(1, 1)), count * storage_size(buffer) / 8, root)
  end subroutine broadcast_real64_2d

  subroutine broadcast_logical_3d(self, buffer, count, root)
    class(lfric_mpi_type), intent(in) :: self
    logical(l_def), target, contiguous, intent(inout) :: buffer(:, :, :)
    integer, intent(in) :: count
    integer, intent(in) :: root

    if (has_none(count, size(buffer))) return
    call broadcast_bytes(c_loc(buffer(1, 1, 1)), count * storage_size(buffer) / 8, root)
  end subroutine broadcast_logical_3d

  subroutine broadcast_int32_3d(self, buffer, count, root)
    class(lfric_mpi_type), intent(in) :: self
    integer(int32), target, contiguous, intent(inout) :: buffer(:, :, :)
    integer, intent(in) :: count
    integer, intent(in) :: root

    if (has_none(count, size(buffer))) return
    call broadcast_bytes(c_loc(buffer(1, 1, 1)), count * storage_size(buffer) / 8, root)
  end subroutine broadcast_int32_3d

  subroutine broadcast_real32_3d(self, buffer, count, root)
    class(lfric_mpi_type), intent(in) :: self
    real(real32), target, contiguous, intent(inout) :: buffer(:, :, :)
    integer, intent(in) :: count
    integer, intent(in) :: root

    if (has_none(count, size(buffer))) return
    call broadcast_bytes(c_loc(buffer(1, 1, 1)), count * storage_size(buffer) / 8, root)
  end subroutine broadcast_real32_3d

  subroutine broadcast_real64_3d(self, buffer, count, root)
    class(lfric_mpi_type), intent(in) :: self
    real(real64), target, contiguous, intent(inout) :: buffer(:, :, :)
    integer, intent(in) :: count
    integer, intent(in) :: root

    if (has_none(count, size(buffer))) return
    call broadcast_bytes(c_loc(buffer(1, 1, 1)), count * storage_size(buffer) / 8, root)
  end subroutine broadcast_real64_3d

  !> Return whether there is nothing to broadcast; stop if there is less than that.
  function has_none(count, present_values) result(nothing)
    integer, intent(in) :: count
    integer, intent(in) :: present_values
    logical(l_def) :: nothing

    if (count > present_values) &
      error stop 'lfric_mpi_type: there are fewer values than are to be broadcast'
    nothing = count == 0
  end function has_none

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
