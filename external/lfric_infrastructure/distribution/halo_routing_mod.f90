!> Owns which dofs a halo exchange moves: those that others own and those that others ask for.
module halo_routing_mod

  use constants_mod, only: i_def, i_halo_index
  use dof_runs_mod, only: dof_runs_type
  use ids_mod, only: sorted_ids_type
  use message_passing_mod, only: get_number_of_ranks, swap_ids
  use message_plan_mod, only: message_plan_type

  implicit none
  private

  !> The messages of an exchange, and which dofs of this rank are sent and received, in the order
  !> of the messages; the runs are the same dofs.
  type, public :: halo_routing_type
    type(message_plan_type) :: plan
    integer(i_def), allocatable :: sent_dofs(:)
    integer(i_def), allocatable :: received_dofs(:)
    type(dof_runs_type) :: sent_runs
    type(dof_runs_type) :: received_runs
  end type halo_routing_type

  interface halo_routing_type
    module procedure new_halo_routing
  end interface halo_routing_type

contains

  !> Return the routing that fills the dofs from `last_owned + 1` on. Dofs are told apart by
  !> `global_ids`; `owners` are the ranks, from 0, that own them. All ranks call this together.
  function new_halo_routing(global_ids, owners, last_owned) result(self)
    integer(i_halo_index), intent(in) :: global_ids(:)
    integer(i_def), intent(in) :: owners(:)
    integer(i_def), intent(in) :: last_owned
    type(halo_routing_type) :: self

    type(sorted_ids_type) :: owned
    integer(i_halo_index), allocatable :: asked(:)
    integer(i_def), allocatable :: wanted(:), wanted_counts(:), asked_counts(:)
    integer(i_def) :: dof, n, rank

    allocate (wanted_counts(0:get_number_of_ranks() - 1))
    allocate (asked_counts(0:get_number_of_ranks() - 1))
    allocate (wanted(size(owners) - last_owned))
    wanted = [(dof, dof=last_owned + 1, size(owners, kind=i_def))]
    allocate (self%received_dofs(0))
    do rank = 0, size(wanted_counts, kind=i_def) - 1
      wanted_counts(rank) = count(owners(wanted) == rank, kind=i_def)
      if (wanted_counts(rank) == 0) cycle
      self%received_dofs = [self%received_dofs, pack(wanted, owners(wanted) == rank)]
    end do
    call swap_ids(global_ids(self%received_dofs), wanted_counts, asked, asked_counts)

    owned = sorted_ids_type(global_ids(:last_owned))
    allocate (self%sent_dofs(size(asked)))
    self%sent_dofs = [(owned%place_of(asked(n)), n=1, size(asked, kind=i_def))]
    if (any(self%sent_dofs == 0)) &
      error stop 'halo_routing_type: a rank asks for a dof that this rank does not own'
    self%plan = message_plan_type(asked_counts, wanted_counts)
    self%sent_runs = dof_runs_type(self%sent_dofs)
    self%received_runs = dof_runs_type(self%received_dofs)
  end function new_halo_routing

end module halo_routing_mod
