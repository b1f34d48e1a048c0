!> Common part of fields of all data types: space, name, halo and its dirty flags.
!>
!> A proxy gives generated code access to the data of a field; it shares the storage of its field,
!> which keeps a flag for each halo depth. A new field is dirty at every depth.
module field_parent_mod

  use, intrinsic :: iso_c_binding, only: c_int, c_ptr
  use constants_mod, only: cmdi, default_halo_depth, i_def, l_def, str_def
  use function_space_mod, only: function_space_type
  use halo_exchange_mod, only: finish_exchange, halo_messages_type, start_exchange
  use halo_routing_mod, only: halo_routing_type
  use joint_plan_mod, only: part_type
  use lfric_mpi_mod, only: global_mpi, lfric_mpi_type
  use mesh_mod, only: mesh_type
  use pure_abstract_field_mod, only: pure_abstract_field_type
  use storage_parts_mod, only: box_type
  use storage_constants_mod, only: access_read_write, access_write
  use stored_values_mod, only: stored_values_type

  implicit none
  private

  public :: write_interface, read_interface
  public :: checkpoint_write_interface, checkpoint_read_interface

  !> The name of a field that was given none.
  character(10), parameter, public :: name_none = 'none'

  !> A field, without its data.
  type, abstract, extends(pure_abstract_field_type), public :: field_parent_type
    private
    type(function_space_type), pointer :: vspace => null()
    type(stored_values_type), pointer, public :: values => null()
    type(halo_messages_type), pointer, public :: messages => null()
    integer(i_def) :: halo_depth = 0
    character(str_def) :: name = cmdi
    procedure(write_interface), nopass, pointer :: write_method => null()
    procedure(read_interface), nopass, pointer :: read_method => null()
    procedure(checkpoint_write_interface), nopass, pointer :: checkpoint_write_method => null()
    procedure(checkpoint_read_interface), nopass, pointer :: checkpoint_read_method => null()
  contains
    procedure, non_overridable, public :: field_parent_initialiser
    procedure, non_overridable, public :: field_parent_proxy_initialiser
    procedure, non_overridable, public :: field_parent_final
    procedure, non_overridable, public :: copy_field_parent
    procedure, non_overridable, public :: is_initialised
    procedure, non_overridable, public :: which_function_space
    procedure, non_overridable, public :: get_function_space
    procedure, non_overridable, public :: get_mesh
    procedure, non_overridable, public :: get_mesh_id
    procedure, non_overridable, public :: get_element_order_h
    procedure, non_overridable, public :: get_element_order_v
    procedure, non_overridable, public :: get_element_order
    procedure, non_overridable, public :: get_name
    procedure, non_overridable, public :: get_field_halo_depth
    procedure, non_overridable, public :: is_readonly
    procedure, non_overridable, public :: set_write_behaviour
    procedure, non_overridable, public :: get_write_behaviour
    procedure, non_overridable, public :: set_read_behaviour
    procedure, non_overridable, public :: get_read_behaviour
    procedure, non_overridable, public :: set_checkpoint_write_behaviour
    procedure, non_overridable, public :: get_checkpoint_write_behaviour
    procedure, non_overridable, public :: set_checkpoint_read_behaviour
    procedure, non_overridable, public :: get_checkpoint_read_behaviour
    procedure, non_overridable, public :: can_write
    procedure, non_overridable, public :: can_read
    procedure, non_overridable, public :: can_checkpoint
  end type field_parent_type

  !> Access to a field, without its data.
  type, abstract, public :: field_parent_proxy_type
    private
    type(function_space_type), pointer, public :: vspace => null()
    type(stored_values_type), pointer, public :: values => null()
    type(halo_messages_type), pointer, public :: messages => null()
  contains
    procedure, non_overridable, public :: begin_use
    procedure, non_overridable, public :: release
    procedure, non_overridable, public :: prefetch
    procedure, non_overridable, public :: bring_to_host
    procedure, non_overridable, public :: begin_exchange
    procedure, non_overridable, public :: end_exchange
    procedure, non_overridable, public :: get_field_proxy_halo_depth
    procedure, non_overridable, public :: is_dirty
    procedure, non_overridable, public :: set_dirty
    procedure, non_overridable, public :: set_halo_dirty
    procedure, non_overridable, public :: set_clean
    procedure, non_overridable, public :: is_readonly => is_readonly_proxy
    procedure, non_overridable, public :: halo_exchange
    procedure, non_overridable, public :: halo_exchange_start
    procedure, non_overridable, public :: halo_exchange_finish
    procedure, non_overridable, public :: get_part
    procedure, non_overridable, public :: get_mpi
    procedure(locate_interface), public, deferred :: locate
  end type field_parent_proxy_type

  abstract interface
    !> Write a field for output.
    subroutine write_interface(field_name, field_proxy)
      import :: field_parent_proxy_type
      character(*), intent(in) :: field_name
      class(field_parent_proxy_type), intent(in) :: field_proxy
    end subroutine write_interface

    !> Read a field.
    subroutine read_interface(field_name, field_proxy)
      import :: field_parent_proxy_type
      character(*), intent(in) :: field_name
      class(field_parent_proxy_type), intent(inout) :: field_proxy
    end subroutine read_interface

    !> Write a field to a checkpoint file.
    subroutine checkpoint_write_interface(field_name, file_name, field_proxy)
      import :: field_parent_proxy_type
      character(*), intent(in) :: field_name
      character(*), intent(in) :: file_name
      class(field_parent_proxy_type), intent(in) :: field_proxy
    end subroutine checkpoint_write_interface

    !> Read a field from a checkpoint file.
    subroutine checkpoint_read_interface(field_name, file_name, field_proxy)
      import :: field_parent_proxy_type
      character(*), intent(in) :: field_name
      character(*), intent(in) :: file_name
      class(field_parent_proxy_type), intent(inout) :: field_proxy
    end subroutine checkpoint_read_interface

    !> Say where in memory the values begin, and how many bytes each has.
    subroutine locate_interface(self, address, bytes)
      import :: c_ptr, field_parent_proxy_type, i_def
      class(field_parent_proxy_type), intent(in) :: self
      type(c_ptr), intent(out) :: address
      integer(i_def), intent(out) :: bytes
    end subroutine locate_interface
  end interface

contains

  !> Set the space, the name and the halo depth of a field that has none; its halo is dirty.
  subroutine field_parent_initialiser(self, vector_space, name, halo_depth)
    class(field_parent_type), intent(inout) :: self
    type(function_space_type), target, intent(in) :: vector_space
    character(*), optional, intent(in) :: name
    integer(i_def), optional, intent(in) :: halo_depth

    integer(i_def) :: depth

    depth = default_halo_depth
    if (present(halo_depth)) depth = halo_depth
    if (depth > vector_space%get_halo_depth()) &
      error stop 'field%initialise: the halo of the field is deeper than that of its mesh'
    self%vspace => vector_space
    self%name = name_none
    if (present(name)) self%name = name
    self%halo_depth = depth
    allocate (self%values)
    call self%values%make_storage()
    allocate (self%messages)
  end subroutine field_parent_initialiser

  !> Let a proxy see the space, the storage and the messages of the field.
  subroutine field_parent_proxy_initialiser(self, field_proxy)
    class(field_parent_type), target, intent(in) :: self
    class(field_parent_proxy_type), intent(inout) :: field_proxy

    field_proxy%vspace => self%vspace
    field_proxy%values => self%values
    field_proxy%messages => self%messages
  end subroutine field_parent_proxy_initialiser

  !> Give the memory back; the field may be initialised again.
  subroutine field_parent_final(self)
    class(field_parent_type), intent(inout) :: self

    if (associated(self%values)) then
      call self%values%leave_table()
      deallocate (self%values, self%messages)
    end if
    nullify (self%vspace, self%values, self%messages)
  end subroutine field_parent_final

  !> Copy everything but the data and the name to an initialised field on the same space.
  subroutine copy_field_parent(self, dest)
    class(field_parent_type), target, intent(in) :: self
    class(field_parent_type), target, intent(inout) :: dest

    integer(c_int) :: clean_depth

    clean_depth = self%values%get_clean_depth()
    if (clean_depth > 0) call dest%values%set_clean(clean_depth)
    dest%write_method => self%write_method
    dest%read_method => self%read_method
    dest%checkpoint_write_method => self%checkpoint_write_method
    dest%checkpoint_read_method => self%checkpoint_read_method
  end subroutine copy_field_parent

  !> Return whether the field has been initialised.
  function is_initialised(self) result(initialised)
    class(field_parent_type), intent(in) :: self
    logical(l_def) :: initialised

    initialised = associated(self%vspace)
  end function is_initialised

  !> Return which function space the field is on.
  function which_function_space(self) result(fs)
    class(field_parent_type), intent(in) :: self
    integer(i_def) :: fs

    fs = self%vspace%which()
  end function which_function_space

  !> Return the function space.
  function get_function_space(self) result(vspace)
    class(field_parent_type), target, intent(in) :: self
    type(function_space_type), pointer :: vspace

    vspace => self%vspace
  end function get_function_space

  !> Return the mesh.
  function get_mesh(self) result(mesh)
    class(field_parent_type), intent(in) :: self
    type(mesh_type), pointer :: mesh

    mesh => self%vspace%get_mesh()
  end function get_mesh

  !> Return the id of the mesh.
  function get_mesh_id(self) result(mesh_id)
    class(field_parent_type), intent(in) :: self
    integer(i_def) :: mesh_id

    mesh_id = self%vspace%get_mesh_id()
  end function get_mesh_id

  !> Return the order of the element in the horizontal.
  function get_element_order_h(self) result(elem_h)
    class(field_parent_type), intent(in) :: self
    integer(i_def) :: elem_h

    elem_h = self%vspace%get_element_order_h()
  end function get_element_order_h

  !> Return the order of the element in the vertical.
  function get_element_order_v(self) result(elem_v)
    class(field_parent_type), intent(in) :: self
    integer(i_def) :: elem_v

    elem_v = self%vspace%get_element_order_v()
  end function get_element_order_v

  !> Return the order of the element, as it was asked for in 2019.
  function get_element_order(self) result(elem)
    class(field_parent_type), intent(in) :: self
    integer(i_def) :: elem

    elem = self%vspace%get_element_order_h()
  end function get_element_order

  !> Return the name.
  function get_name(self) result(name)
    class(field_parent_type), intent(in) :: self
    character(str_def) :: name

    name = self%name
  end function get_name

  !> Return the depth of the halo of the field.
  function get_field_halo_depth(self) result(field_halo_depth)
    class(field_parent_type), intent(in) :: self
    integer(i_def) :: field_halo_depth

    field_halo_depth = self%halo_depth
  end function get_field_halo_depth

  !> Return whether the field may only be read.
  function is_readonly(self) result(answer)
    class(field_parent_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%vspace%is_readonly()
  end function is_readonly

  !> Set the procedure for output.
  subroutine set_write_behaviour(self, write_behaviour)
    class(field_parent_type), intent(inout) :: self
    procedure(write_interface), pointer, intent(in) :: write_behaviour

    self%write_method => write_behaviour
  end subroutine set_write_behaviour

  !> Return the procedure for output.
  subroutine get_write_behaviour(self, write_behaviour)
    class(field_parent_type), intent(in) :: self
    procedure(write_interface), pointer, intent(inout) :: write_behaviour

    write_behaviour => self%write_method
  end subroutine get_write_behaviour

  !> Set the procedure for input.
  subroutine set_read_behaviour(self, read_behaviour)
    class(field_parent_type), intent(inout) :: self
    procedure(read_interface), pointer, intent(in) :: read_behaviour

    self%read_method => read_behaviour
  end subroutine set_read_behaviour

  !> Return the procedure for input.
  subroutine get_read_behaviour(self, read_behaviour)
    class(field_parent_type), intent(in) :: self
    procedure(read_interface), pointer, intent(inout) :: read_behaviour

    read_behaviour => self%read_method
  end subroutine get_read_behaviour

  !> Set the procedure for writing checkpoints.
  subroutine set_checkpoint_write_behaviour(self, checkpoint_write_behaviour)
    class(field_parent_type), intent(inout) :: self
    procedure(checkpoint_write_interface), pointer, intent(in) :: checkpoint_write_behaviour

    self%checkpoint_write_method => checkpoint_write_behaviour
  end subroutine set_checkpoint_write_behaviour

  !> Return the procedure for writing checkpoints.
  subroutine get_checkpoint_write_behaviour(self, checkpoint_write_behaviour)
    class(field_parent_type), intent(in) :: self
    procedure(checkpoint_write_interface), pointer, intent(inout) :: checkpoint_write_behaviour

    checkpoint_write_behaviour => self%checkpoint_write_method
  end subroutine get_checkpoint_write_behaviour

  !> Set the procedure for reading checkpoints.
  subroutine set_checkpoint_read_behaviour(self, checkpoint_read_behaviour)
    class(field_parent_type), intent(inout) :: self
    procedure(checkpoint_read_interface), pointer, intent(in) :: checkpoint_read_behaviour

    self%checkpoint_read_method => checkpoint_read_behaviour
  end subroutine set_checkpoint_read_behaviour

  !> Return the procedure for reading checkpoints.
  subroutine get_checkpoint_read_behaviour(self, checkpoint_read_behaviour)
    class(field_parent_type), intent(in) :: self
    procedure(checkpoint_read_interface), pointer, intent(inout) :: checkpoint_read_behaviour

    checkpoint_read_behaviour => self%checkpoint_read_method
  end subroutine get_checkpoint_read_behaviour

  !> Return whether there is a procedure for output.
  function can_write(self) result(writeable)
    class(field_parent_type), intent(in) :: self
    logical(l_def) :: writeable

    writeable = associated(self%write_method)
  end function can_write

  !> Return whether there is a procedure for input.
  function can_read(self) result(readable)
    class(field_parent_type), intent(in) :: self
    logical(l_def) :: readable

    readable = associated(self%read_method)
  end function can_read

  !> Return whether there are procedures for checkpoints.
  function can_checkpoint(self) result(checkpointable)
    class(field_parent_type), intent(in) :: self
    logical(l_def) :: checkpointable

    checkpointable = &
      associated(self%checkpoint_write_method) .and. associated(self%checkpoint_read_method)
  end function can_checkpoint

  !> Return the depth of the halo of the field.
  function get_field_proxy_halo_depth(self) result(field_halo_depth)
    class(field_parent_proxy_type), intent(in) :: self
    integer(i_def) :: field_halo_depth

    field_halo_depth = int(self%values%get_halo_depth(), i_def)
  end function get_field_proxy_halo_depth

  !> Return whether the halo is out of date at one depth; depth 0, without any dofs, never is.
  function is_dirty(self, depth) result(dirtiness)
    class(field_parent_proxy_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    logical(l_def) :: dirtiness

    dirtiness = .false.
    if (depth > 0) dirtiness = self%values%is_dirty(int(depth, c_int))
  end function is_dirty

  !> Mark the halo as out of date at every depth, because `data` have been written, on the host.
  subroutine set_dirty(self)
    class(field_parent_proxy_type), intent(inout) :: self

    call self%values%wrote_on_host()
  end subroutine set_dirty

  !> Mark the halo as out of date at every depth, because values have been written by an access.
  subroutine set_halo_dirty(self)
    class(field_parent_proxy_type), intent(inout) :: self

    call self%values%set_dirty()
  end subroutine set_halo_dirty

  !> Mark the halo as up to date to a depth, which may be 0.
  subroutine set_clean(self, depth)
    class(field_parent_proxy_type), intent(inout) :: self
    integer(i_def), intent(in) :: depth

    if (depth > 0) call self%values%set_clean(int(depth, c_int))
  end subroutine set_clean

  !> Begin to use the values in a space, as `acquire` of the types with data does. What is to be
  !> overwritten is brought all the same where a dof has several values: kernels see the first.
  subroutine begin_use(self, space, access, may_share)
    class(field_parent_proxy_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    logical, optional, intent(in) :: may_share

    integer(c_int) :: needed

    needed = access
    if (access == access_write .and. self%vspace%get_ndata() > 1) needed = access_read_write
    call self%values%acquire(space, needed, may_share)
  end subroutine begin_use

  !> End the use of the values in a space that was acquired last.
  subroutine release(self, space)
    class(field_parent_proxy_type), intent(in) :: self
    integer(c_int), intent(in) :: space

    call self%values%release(space)
  end subroutine release

  !> Begin to bring the values to a space, where they will be acquired later.
  subroutine prefetch(self, space)
    class(field_parent_proxy_type), intent(in) :: self
    integer(c_int), intent(in) :: space

    call self%values%prefetch(space)
  end subroutine prefetch

  !> Make `data` the latest values, if a device has them.
  subroutine bring_to_host(self)
    class(field_parent_proxy_type), intent(in) :: self

    call self%values%bring_to_host()
  end subroutine bring_to_host

  !> Make the host have all values, or with `by_parts` what an exchange of a depth sends: then a
  !> copy on a device stays as current as it is, and gets what is received.
  subroutine begin_exchange(self, depth, by_parts)
    class(field_parent_proxy_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    logical, intent(in) :: by_parts

    type(halo_routing_type), pointer :: routing
    type(box_type), allocatable :: sent(:), received(:)

    if (by_parts .and. self%values%has_device_memory()) then
      routing => self%vspace%get_halo_routing(depth)
      sent = routing%boxes_sent()
      received = routing%boxes_received()
      call self%values%begin_exchange(int(depth, c_int), sent, received)
    else
      call self%values%begin_exchange(int(depth, c_int))
    end if
  end subroutine begin_exchange

  !> Note that the exchange which was begun has filled the halo.
  subroutine end_exchange(self)
    class(field_parent_proxy_type), intent(in) :: self

    call self%values%end_exchange()
  end subroutine end_exchange

  !> Make the halo valid to a depth, annexed dofs included.
  subroutine halo_exchange(self, depth)
    class(field_parent_proxy_type), target, intent(inout) :: self
    integer(i_def), intent(in) :: depth

    call self%halo_exchange_start(depth, by_parts=.true.)
    call self%halo_exchange_finish(depth)
  end subroutine halo_exchange

  !> Start to make the halo valid to a depth; the halo may not be used, and the owned dofs not be
  !> changed, until it is finished.
  !>
  !> Whoever reads `data` meanwhile, or behind, finds the latest values there: all of them are
  !> brought, and a copy on a device is stale in the end. With `by_parts` nothing is moved but what
  !> is sent and received. Then `acquire` on the host brings the rest, but for what is received:
  !> annexed dofs and the halo to that depth may not be read before the end, be they clean or not.
  subroutine halo_exchange_start(self, depth, by_parts)
    class(field_parent_proxy_type), target, intent(inout) :: self
    integer(i_def), intent(in) :: depth
    logical, optional, intent(in) :: by_parts

    logical :: parts_alone

    parts_alone = .false.
    if (present(by_parts)) parts_alone = by_parts
    if (self%messages%depth /= 0) &
      error stop 'halo_exchange_start: an exchange of the field has not been finished'
    if (depth < 1 .or. depth > self%get_field_proxy_halo_depth()) &
      error stop 'halo_exchange_start: the field has no halo of this depth'
    call self%begin_exchange(depth, parts_alone)
    call start_exchange([self%get_part(depth)], self%messages)
    self%messages%depth = depth
  end subroutine halo_exchange_start

  !> Finish to make the halo valid to the depth that was started.
  subroutine halo_exchange_finish(self, depth)
    class(field_parent_proxy_type), target, intent(inout) :: self
    integer(i_def), intent(in) :: depth

    if (self%messages%depth /= depth) &
      error stop 'halo_exchange_finish: no exchange of this depth has been started'
    call finish_exchange(self%messages)
    self%messages%depth = 0
    call self%end_exchange()
  end subroutine halo_exchange_finish

  !> Return what an exchange of a depth, which the halo has, is about.
  function get_part(self, depth) result(part)
    class(field_parent_proxy_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    type(part_type) :: part

    part%routing => self%vspace%get_halo_routing(depth)
    call self%locate(part%address, part%bytes)
  end function get_part

  !> Return the ranks that have parts of the field.
  function get_mpi(self) result(mpi)
    class(field_parent_proxy_type), intent(in) :: self
    type(lfric_mpi_type) :: mpi

    mpi = global_mpi
  end function get_mpi

  !> Return whether the field may only be read.
  function is_readonly_proxy(self) result(answer)
    class(field_parent_proxy_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%vspace%is_readonly()
  end function is_readonly_proxy

end module field_parent_mod
