!> Owns the halo exchange of several fields of 32-bit reals together.
!>
!> What the fields send to one rank goes in one message. The fields may be on different spaces. A
!> field whose halo is not dirty at the depth that is asked for is left out; all ranks have the
!> same flags, so that they leave out the same fields.
!>
!> The modules of the other kinds have the same text but for names and kinds, which a test keeps so.
module joint_exchange_real32_mod

  use, intrinsic :: iso_fortran_env, only: real32
  use constants_mod, only: i_def
  use field_real32_mod, only: field_real32_proxy_type
  use halo_routing_mod, only: halo_routing_type
  use halo_statistics_mod, only: count_exchange
  use message_passing_mod, only: finish_messages, start_messages
  use message_plan_mod, only: join_plans, message_plan_type, place_of_rank

  implicit none
  private

  !> An exchange of several fields; joint_exchange_mod sees that it is started, then finished.
  type, public :: joint_exchange_real32_type
    private
    type(field_real32_proxy_type), allocatable :: proxies(:)
    integer(i_def), allocatable :: depths(:)
    type(message_plan_type) :: plan
    real(real32), allocatable :: sent(:)
    real(real32), allocatable :: received(:)
    integer, allocatable :: requests(:)
  contains
    procedure, public :: start
    procedure, public :: finish
    procedure, private :: join
    procedure, private :: pack_sent
    procedure, private :: unpack_received
  end type joint_exchange_real32_type

contains

  !> Start to make the halo of each field valid to its depth; the halos may not be used until the
  !> exchange is finished.
  subroutine start(self, proxies, depths)
    class(joint_exchange_real32_type), intent(inout) :: self
    type(field_real32_proxy_type), intent(in) :: proxies(:)
    integer(i_def), intent(in) :: depths(:)

    integer(i_def) :: n

    if (size(proxies) /= size(depths)) error stop 'joint exchange: not one depth for each field'
    do n = 1, size(depths, kind=i_def)
      if (depths(n) < 1 .or. depths(n) > proxies(n)%get_field_proxy_halo_depth()) &
        error stop 'joint exchange: a field has no halo of this depth'
    end do
    self%proxies = proxies(pack([(n, n=1, size(depths, kind=i_def))], dirty()))
    self%depths = pack(depths, dirty())
    if (size(self%depths) == 0) return
    call self%join()
    call self%pack_sent()
    call start_messages(self%plan, self%sent, self%received, self%requests)
    call count_exchange(size(self%plan%receivers, kind=i_def), &
                        self%plan%count_sent() * storage_size(self%sent, i_def) / 8, &
                        size(self%depths, kind=i_def))

  contains

    !> Return which of the fields are dirty.
    function dirty()
      logical :: dirty(size(depths))

      integer(i_def) :: field

      do field = 1, size(depths, kind=i_def)
        dirty(field) = proxies(field)%is_dirty(depths(field))
      end do
    end function dirty

  end subroutine start

  !> Finish what was started: the halos are valid.
  subroutine finish(self)
    class(joint_exchange_real32_type), intent(inout) :: self

    integer(i_def) :: n

    if (size(self%depths) == 0) return
    call finish_messages(self%requests)
    call self%unpack_received()
    do n = 1, size(self%depths, kind=i_def)
      call self%proxies(n)%set_clean(self%depths(n))
    end do
  end subroutine finish

  !> Find the messages of all fields, joined.
  subroutine join(self)
    class(joint_exchange_real32_type), intent(inout) :: self

    type(halo_routing_type), pointer :: routing
    type(message_plan_type) :: plans(size(self%depths))
    integer(i_def) :: n

    do n = 1, size(self%depths, kind=i_def)
      routing => self%proxies(n)%vspace%get_halo_routing(self%depths(n))
      plans(n) = routing%plan
    end do
    self%plan = join_plans(plans)
    if (allocated(self%sent)) deallocate (self%sent, self%received)
    allocate (self%sent(self%plan%count_sent()), self%received(self%plan%count_received()))
  end subroutine join

  !> Copy what the fields send, message by message, and in each field by field.
  subroutine pack_sent(self)
    class(joint_exchange_real32_type), intent(inout) :: self

    type(halo_routing_type), pointer :: routing
    integer(i_def) :: next(size(self%plan%receivers))
    integer(i_def) :: count, field, message, n

    next = self%plan%first_sent(:size(next))
    do field = 1, size(self%depths, kind=i_def)
      routing => self%proxies(field)%vspace%get_halo_routing(self%depths(field))
      associate (plan => routing%plan)
        do n = 1, size(plan%receivers, kind=i_def)
          message = place_of_rank(self%plan%receivers, plan%receivers(n))
          count = plan%first_sent(n + 1) - plan%first_sent(n)
          self%sent(next(message):next(message) + count - 1) = self%proxies(field)%data( &
            routing%sent_dofs(plan%first_sent(n):plan%first_sent(n + 1) - 1))
          next(message) = next(message) + count
        end do
      end associate
    end do
  end subroutine pack_sent

  !> Copy what was received, in the same order, to the fields.
  subroutine unpack_received(self)
    class(joint_exchange_real32_type), intent(inout) :: self

    type(halo_routing_type), pointer :: routing
    integer(i_def) :: next(size(self%plan%senders))
    integer(i_def) :: count, field, message, n

    next = self%plan%first_received(:size(next))
    do field = 1, size(self%depths, kind=i_def)
      routing => self%proxies(field)%vspace%get_halo_routing(self%depths(field))
      associate (plan => routing%plan)
        do n = 1, size(plan%senders, kind=i_def)
          message = place_of_rank(self%plan%senders, plan%senders(n))
          count = plan%first_received(n + 1) - plan%first_received(n)
          self%proxies(field)%data( &
            routing%received_dofs(plan%first_received(n):plan%first_received(n + 1) - 1)) = &
            self%received(next(message):next(message) + count - 1)
          next(message) = next(message) + count
        end do
      end associate
    end do
  end subroutine unpack_received

end module joint_exchange_real32_mod
