!> Messages of several fields that are exchanged together, kept from one exchange to the next.
module joint_plan_mod

  use, intrinsic :: iso_c_binding, only: c_intptr_t, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int64
  use constants_mod, only: i_def, l_def
  use halo_routing_mod, only: halo_routing_type
  use message_passing_mod, only: free_layout, join_layouts
  use message_plan_mod, only: join_plans, message_plan_type, place_of_rank

  implicit none
  private

  !> The values of a field of several: which of them go where, the address where they begin, and the
  !> bytes of each.
  type, public :: part_type
    type(halo_routing_type), pointer :: routing => null()
    type(c_ptr) :: address = c_null_ptr
    integer(i_def) :: bytes = 0
  end type part_type

  !> The messages of some parts, and the layouts of the received values, relative to the first part.
  type, public :: joint_plan_type
    type(message_plan_type) :: plan
    integer, allocatable :: received(:)
    type(part_type), allocatable, private :: parts(:)
  contains
    procedure, non_overridable, public :: set
    procedure, non_overridable, private :: is_of
    procedure, non_overridable, private :: clear
    final :: destroy_joint_plan
  end type joint_plan_type

contains

  !> Find the messages of these parts, unless they are known.
  subroutine set(self, parts)
    class(joint_plan_type), intent(inout) :: self
    type(part_type), intent(in) :: parts(:)

    type(message_plan_type) :: plans(size(parts))
    integer(i_def) :: n

    if (self%is_of(parts)) return
    call self%clear()
    do n = 1, size(parts, kind=i_def)
      plans(n) = parts(n)%routing%plan
    end do
    self%plan = join_plans(plans)
    allocate (self%received(size(self%plan%senders)))
    do n = 1, size(self%received, kind=i_def)
      self%received(n) = received_layout(parts, self%plan%senders(n))
    end do
    self%parts = parts
  end subroutine set

  !> Return whether this is the plan of these parts.
  pure function is_of(self, parts)
    class(joint_plan_type), intent(in) :: self
    type(part_type), intent(in) :: parts(:)
    logical(l_def) :: is_of

    integer(i_def) :: n

    is_of = .false.
    if (.not. allocated(self%parts)) return
    if (size(self%parts) /= size(parts)) return
    do n = 1, size(parts, kind=i_def)
      if (place_of(self%parts(n)) /= place_of(parts(n))) return
      if (.not. associated(self%parts(n)%routing, parts(n)%routing)) return
    end do
    is_of = .true.
  end function is_of

  !> Return the address of a part as a number.
  pure function place_of(part) result(place)
    type(part_type), intent(in) :: part
    integer(int64) :: place

    place = transfer(part%address, 0_c_intptr_t)
  end function place_of

  !> Return the layout of the values that these parts receive from a rank.
  function received_layout(parts, rank) result(layout)
    type(part_type), intent(in) :: parts(:)
    integer(i_def), intent(in) :: rank
    integer :: layout

    integer :: layouts(size(parts))
    integer(int64) :: away(size(parts))
    integer(i_def) :: message, n, used

    used = 0
    do n = 1, size(parts, kind=i_def)
      message = place_of_rank(parts(n)%routing%plan%senders, rank)
      if (message == 0) cycle
      used = used + 1
      layouts(used) = parts(n)%routing%received(message, parts(n)%bytes / 4)
      away(used) = place_of(parts(n)) - place_of(parts(1))
    end do
    layout = join_layouts(layouts(:used), away(:used))
  end function received_layout

  !> Forget the messages.
  subroutine clear(self)
    class(joint_plan_type), intent(inout) :: self

    integer(i_def) :: n

    if (.not. allocated(self%parts)) return
    do n = 1, size(self%received, kind=i_def)
      call free_layout(self%received(n))
    end do
    deallocate (self%parts, self%received)
  end subroutine clear

  !> Forget the messages when a plan goes out of scope.
  impure elemental subroutine destroy_joint_plan(self)
    type(joint_plan_type), intent(inout) :: self

    call self%clear()
  end subroutine destroy_joint_plan

end module joint_plan_mod
