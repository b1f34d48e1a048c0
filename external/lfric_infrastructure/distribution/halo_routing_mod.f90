!> Routing of a halo exchange: the dofs of other owners that are received, and the dofs that other
!> ranks need.
module halo_routing_mod

  use, intrinsic :: iso_c_binding, only: c_int64_t
  use constants_mod, only: i_def, i_halo_index, l_def
  use dof_runs_mod, only: dof_runs_type
  use message_passing_mod, only: get_number_of_ranks, new_layout, swap_ids
  use message_plan_mod, only: message_plan_type
  use storage_parts_mod, only: box_type

  implicit none
  private

  !> Runs that are shorter than this on average are packed faster than message passing finds them.
  integer(i_def), parameter :: short = 8

  !> The messages of an exchange and the positions of their values in a field: `sent(:, n)` and
  !> `received(:, n)` are the layouts of the messages for values of 4 n bytes; `sent_runs` and
  !> `received_runs` are their dofs. Messages that are marked `is_packed` are better sent from a
  !> buffer. A routing is constant.
  type, public :: halo_routing_type
    type(message_plan_type) :: plan
    type(dof_runs_type) :: sent_runs
    type(dof_runs_type) :: received_runs
    logical(l_def), allocatable :: is_packed(:)
    integer, allocatable :: sent(:, :)
    integer, allocatable :: received(:, :)
  contains
    procedure, non_overridable, public :: boxes_sent
    procedure, non_overridable, public :: boxes_received
  end type halo_routing_type

  interface halo_routing_type
    module procedure new_halo_routing
  end interface halo_routing_type

contains

  !> Return the routing that fills the dofs from `last_owned + 1` on. `global_ids` identify the
  !> dofs; `owners` are the ranks (from 0) that own them. Called on all ranks.
  function new_halo_routing(global_ids, owners, last_owned) result(self)
    use ids_mod, only: sorted_ids_type

    integer(i_halo_index), intent(in) :: global_ids(:)
    integer(i_def), intent(in) :: owners(:)
    integer(i_def), intent(in) :: last_owned
    type(halo_routing_type) :: self

    type(sorted_ids_type) :: owned
    integer(i_halo_index), allocatable :: asked(:)
    integer(i_def), allocatable :: received(:), sent(:), wanted(:)
    integer(i_def), allocatable :: wanted_counts(:), asked_counts(:)
    integer(i_def) :: dof, n, rank

    allocate (wanted_counts(0:get_number_of_ranks() - 1))
    allocate (asked_counts(0:get_number_of_ranks() - 1))
    allocate (wanted(size(owners) - last_owned))
    wanted = [(dof, dof=last_owned + 1, size(owners, kind=i_def))]
    allocate (received(0))
    do rank = 0, size(wanted_counts, kind=i_def) - 1
      wanted_counts(rank) = count(owners(wanted) == rank, kind=i_def)
      if (wanted_counts(rank) == 0) cycle
      received = [received, pack(wanted, owners(wanted) == rank)]
    end do
    call swap_ids(global_ids(received), wanted_counts, asked, asked_counts)

    owned = sorted_ids_type(global_ids(:last_owned))
    allocate (sent(size(asked)))
    sent = [(owned%place_of(asked(n)), n=1, size(asked, kind=i_def))]
    if (any(sent == 0)) &
      error stop 'halo_routing_type: a rank asks for a dof that this rank does not own'
    self%plan = message_plan_type(asked_counts, wanted_counts)
    self%sent_runs = dof_runs_type(sent, self%plan%first_sent)
    allocate (self%is_packed(size(self%plan%receivers)))
    do n = 1, size(self%is_packed, kind=i_def)
      self%is_packed(n) = self%sent_runs%mean_length(n) < short
    end do
    call set_layouts(self%sent, self%sent_runs)
    self%received_runs = dof_runs_type(received, self%plan%first_received)
    call set_layouts(self%received, self%received_runs)
  end function new_halo_routing

  !> Return the sent dofs as boxes of a storage.
  pure function boxes_sent(self) result(boxes)
    class(halo_routing_type), intent(in) :: self
    type(box_type), allocatable :: boxes(:)

    boxes = boxes_of(self%sent_runs)
  end function boxes_sent

  !> Return the received dofs as boxes of a storage.
  pure function boxes_received(self) result(boxes)
    class(halo_routing_type), intent(in) :: self
    type(box_type), allocatable :: boxes(:)

    boxes = boxes_of(self%received_runs)
  end function boxes_received

  !> Return runs of dofs as boxes of one dimension.
  pure function boxes_of(runs) result(boxes)
    type(dof_runs_type), intent(in) :: runs
    type(box_type), allocatable :: boxes(:)

    integer(i_def) :: n

    allocate (boxes(size(runs%first)))
    do n = 1, size(boxes, kind=i_def)
      boxes(n)%first(1) = int(runs%first(n), c_int64_t)
      boxes(n)%last(1) = int(runs%first(n) + runs%length(n) - 1, c_int64_t)
    end do
  end function boxes_of

  !> Set the layouts of messages with these dofs, for values of 4 and of 8 bytes.
  subroutine set_layouts(layouts, runs)
    integer, allocatable, intent(out) :: layouts(:, :)
    type(dof_runs_type), intent(in) :: runs

    integer(i_def) :: message, words

    allocate (layouts(size(runs%begin) - 1, 2))
    do words = 1, 2
      do message = 1, size(layouts, 1, kind=i_def)
        associate (begin => runs%begin(message), next => runs%begin(message + 1))
          layouts(message, words) = &
            new_layout(runs%first(begin:next - 1), runs%length(begin:next - 1), 4 * words)
        end associate
      end do
    end do
  end subroutine set_layouts

end module halo_routing_mod
