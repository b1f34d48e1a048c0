!> The halo exchange of several fields with one message for each neighbour.
!>
!> LFRic has nothing like it, so generated code calls it only where it was asked to. The fields of
!> one call hold values of one kind; proxies of single fields make a list, as in
!>
!>     call exchange_fields([u_proxy, rho_proxy], [2, 1])
!>
!> or, with something to compute while messages are under way,
!>
!>     call joint_exchange%start([u_proxy, rho_proxy], [2, 1])
!>     call joint_exchange%finish()
!>
!> What the fields send to one rank goes in one message. The fields may be on different spaces. A
!> field whose halo is not dirty at the depth that is asked for is left out; all ranks have the same
!> flags, so that they leave out the same fields.
module joint_exchange_mod

  use constants_mod, only: i_def, l_def
  use field_parent_mod, only: field_parent_proxy_type
  use halo_exchange_mod, only: finish_exchange, start_exchange
  use joint_plan_mod, only: part_type

  implicit none
  private

  public :: exchange_fields

  !> An exchange of several fields, from its start to its end. Those that were dirty are at `places`
  !> among the proxies.
  type, public :: joint_exchange_type
    private
    logical(l_def) :: started = .false.
    class(field_parent_proxy_type), allocatable :: proxies(:)
    integer(i_def), allocatable :: depths(:)
    integer(i_def), allocatable :: places(:)
  contains
    procedure, non_overridable, public :: start
    procedure, non_overridable, public :: finish
  end type joint_exchange_type

  !> Make the halos of several fields valid, all to one depth or each to its own.
  interface exchange_fields
    module procedure exchange_to_depth, exchange_to_depths
  end interface exchange_fields

contains

  !> Start to make the halo of each field valid to its depth; the halos may not be used, and the
  !> owned dofs not be changed, until the exchange is finished. The first of the fields that are
  !> dirty keeps the messages. `by_parts` as for one field.
  subroutine start(self, proxies, depths, by_parts)
    class(joint_exchange_type), intent(inout) :: self
    class(field_parent_proxy_type), intent(in) :: proxies(:)
    integer(i_def), intent(in) :: depths(:)
    logical, optional, intent(in) :: by_parts

    type(part_type) :: parts(size(proxies))
    logical :: parts_alone
    integer(i_def) :: n

    parts_alone = .false.
    if (present(by_parts)) parts_alone = by_parts
    if (self%started) error stop 'joint exchange: the last one has not been finished'
    if (size(proxies) /= size(depths)) error stop 'joint exchange: not one depth for each field'
    if (allocated(self%proxies)) deallocate (self%proxies)
    allocate (self%proxies, source=proxies)
    self%depths = depths
    self%places = chosen(proxies, depths)
    self%started = .true.
    if (size(self%places) == 0) return
    do n = 1, size(self%places, kind=i_def)
      associate (proxy => self%proxies(self%places(n)), depth => depths(self%places(n)))
        if (proxy%messages%depth /= 0) &
          error stop 'joint exchange: an exchange of a field has not been finished'
        call proxy%begin_exchange(depth, parts_alone)
        parts(n) = proxy%get_part(depth)
        proxy%messages%depth = depth
      end associate
    end do
    call start_exchange(parts(:size(self%places)), self%proxies(self%places(1))%messages)
  end subroutine start

  !> Finish what was started: the halos are valid.
  subroutine finish(self)
    class(joint_exchange_type), intent(inout) :: self

    integer(i_def) :: n

    if (.not. self%started) error stop 'joint exchange: none has been started'
    self%started = .false.
    if (size(self%places) == 0) return
    call finish_exchange(self%proxies(self%places(1))%messages)
    do n = 1, size(self%places, kind=i_def)
      associate (proxy => self%proxies(self%places(n)))
        proxy%messages%depth = 0
        call proxy%end_exchange()
      end associate
    end do
  end subroutine finish

  !> Return the places of the fields that are dirty. Of a field that is there more than once, the
  !> place with the greatest depth counts.
  function chosen(proxies, depths) result(places)
    class(field_parent_proxy_type), intent(in) :: proxies(:)
    integer(i_def), intent(in) :: depths(:)
    integer(i_def), allocatable :: places(:)

    logical(l_def) :: dirty(size(proxies))
    integer(i_def) :: n, other

    do n = 1, size(proxies, kind=i_def)
      if (depths(n) < 1 .or. depths(n) > proxies(n)%get_field_proxy_halo_depth()) &
        error stop 'joint exchange: a field has no halo of this depth'
      dirty(n) = proxies(n)%is_dirty(depths(n))
      do other = 1, n - 1
        if (.not. associated(proxies(other)%messages, proxies(n)%messages)) cycle
        if (depths(other) >= depths(n)) dirty(n) = .false.
        if (depths(other) < depths(n)) dirty(other) = .false.
      end do
    end do
    places = pack([(n, n=1, size(proxies, kind=i_def))], dirty)
  end function chosen

  !> Make all halos valid to one depth.
  subroutine exchange_to_depth(proxies, depth)
    class(field_parent_proxy_type), intent(in) :: proxies(:)
    integer(i_def), intent(in) :: depth

    integer(i_def) :: n

    call exchange_to_depths(proxies, [(depth, n=1, size(proxies, kind=i_def))])
  end subroutine exchange_to_depth

  !> Make the halo of each field valid to its depth.
  subroutine exchange_to_depths(proxies, depths)
    class(field_parent_proxy_type), intent(in) :: proxies(:)
    integer(i_def), intent(in) :: depths(:)

    type(joint_exchange_type) :: exchange

    call exchange%start(proxies, depths, by_parts=.true.)
    call exchange%finish()
  end subroutine exchange_to_depths

end module joint_exchange_mod
