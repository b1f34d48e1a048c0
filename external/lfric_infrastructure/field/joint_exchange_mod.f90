!> Owns the halo exchange of several fields with one message for each neighbour.
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
module joint_exchange_mod

  use constants_mod, only: i_def
  use field_real32_mod, only: field_real32_proxy_type
  use field_real64_mod, only: field_real64_proxy_type
  use integer_field_mod, only: integer_field_proxy_type
  use joint_exchange_integer_mod, only: joint_exchange_integer_type
  use joint_exchange_real32_mod, only: joint_exchange_real32_type
  use joint_exchange_real64_mod, only: joint_exchange_real64_type

  implicit none
  private

  public :: exchange_fields
  public :: joint_exchange_integer_type, joint_exchange_real32_type, joint_exchange_real64_type

  !> What a joint exchange that is under way exchanges.
  integer, parameter :: nothing = 0, integers = 1, reals32 = 2, reals64 = 3

  !> An exchange of several fields of any one kind, from its start to its end.
  type, public :: joint_exchange_type
    private
    integer :: under_way = nothing
    type(joint_exchange_integer_type) :: of_integers
    type(joint_exchange_real32_type) :: of_reals32
    type(joint_exchange_real64_type) :: of_reals64
  contains
    procedure, private :: start_integer, start_real32, start_real64
    generic, public :: start => start_integer, start_real32, start_real64
    procedure, public :: finish
  end type joint_exchange_type

  !> Make the halos of several fields valid, all to one depth or each to its own.
  interface exchange_fields
    module procedure exchange_integer_to_depth, exchange_integer_to_depths
    module procedure exchange_real32_to_depth, exchange_real32_to_depths
    module procedure exchange_real64_to_depth, exchange_real64_to_depths
  end interface exchange_fields

contains

  !> Start to make the halo of each field valid to its depth.
  subroutine start_integer(self, proxies, depths)
    class(joint_exchange_type), intent(inout) :: self
    type(integer_field_proxy_type), intent(in) :: proxies(:)
    integer(i_def), intent(in) :: depths(:)

    if (self%under_way /= nothing) error stop 'joint exchange: the last one has not been finished'
    self%under_way = integers
    call self%of_integers%start(proxies, depths)
  end subroutine start_integer

  !> Start to make the halo of each field valid to its depth.
  subroutine start_real32(self, proxies, depths)
    class(joint_exchange_type), intent(inout) :: self
    type(field_real32_proxy_type), intent(in) :: proxies(:)
    integer(i_def), intent(in) :: depths(:)

    if (self%under_way /= nothing) error stop 'joint exchange: the last one has not been finished'
    self%under_way = reals32
    call self%of_reals32%start(proxies, depths)
  end subroutine start_real32

  !> Start to make the halo of each field valid to its depth.
  subroutine start_real64(self, proxies, depths)
    class(joint_exchange_type), intent(inout) :: self
    type(field_real64_proxy_type), intent(in) :: proxies(:)
    integer(i_def), intent(in) :: depths(:)

    if (self%under_way /= nothing) error stop 'joint exchange: the last one has not been finished'
    self%under_way = reals64
    call self%of_reals64%start(proxies, depths)
  end subroutine start_real64

  !> Finish what was started: the halos are valid.
  subroutine finish(self)
    class(joint_exchange_type), intent(inout) :: self

    select case (self%under_way)
    case (integers)
      call self%of_integers%finish()
    case (reals32)
      call self%of_reals32%finish()
    case (reals64)
      call self%of_reals64%finish()
    case default
      error stop 'joint exchange: none has been started'
    end select
    self%under_way = nothing
  end subroutine finish

  !> Make all halos valid to one depth.
  subroutine exchange_integer_to_depth(proxies, depth)
    type(integer_field_proxy_type), intent(in) :: proxies(:)
    integer(i_def), intent(in) :: depth

    integer(i_def) :: n

    call exchange_integer_to_depths(proxies, [(depth, n=1, size(proxies, kind=i_def))])
  end subroutine exchange_integer_to_depth

  !> Make the halo of each field valid to its depth.
  subroutine exchange_integer_to_depths(proxies, depths)
    type(integer_field_proxy_type), intent(in) :: proxies(:)
    integer(i_def), intent(in) :: depths(:)

    type(joint_exchange_integer_type) :: exchange

    call exchange%start(proxies, depths)
    call exchange%finish()
  end subroutine exchange_integer_to_depths

  !> Make all halos valid to one depth.
  subroutine exchange_real32_to_depth(proxies, depth)
    type(field_real32_proxy_type), intent(in) :: proxies(:)
    integer(i_def), intent(in) :: depth

    integer(i_def) :: n

    call exchange_real32_to_depths(proxies, [(depth, n=1, size(proxies, kind=i_def))])
  end subroutine exchange_real32_to_depth

  !> Make the halo of each field valid to its depth.
  subroutine exchange_real32_to_depths(proxies, depths)
    type(field_real32_proxy_type), intent(in) :: proxies(:)
    integer(i_def), intent(in) :: depths(:)

    type(joint_exchange_real32_type) :: exchange

    call exchange%start(proxies, depths)
    call exchange%finish()
  end subroutine exchange_real32_to_depths

  !> Make all halos valid to one depth.
  subroutine exchange_real64_to_depth(proxies, depth)
    type(field_real64_proxy_type), intent(in) :: proxies(:)
    integer(i_def), intent(in) :: depth

    integer(i_def) :: n

    call exchange_real64_to_depths(proxies, [(depth, n=1, size(proxies, kind=i_def))])
  end subroutine exchange_real64_to_depth

  !> Make the halo of each field valid to its depth.
  subroutine exchange_real64_to_depths(proxies, depths)
    type(field_real64_proxy_type), intent(in) :: proxies(:)
    integer(i_def), intent(in) :: depths(:)

    type(joint_exchange_real64_type) :: exchange

    call exchange%start(proxies, depths)
    call exchange%finish()
  end subroutine exchange_real64_to_depths

end module joint_exchange_mod
