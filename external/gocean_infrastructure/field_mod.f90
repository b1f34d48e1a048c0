!> Fields on a grid: one real number at each point of one type.
!>
!> A field knows the depth of its clean halo if the program calls `set_dirty` after each write.
!> Exchanges record what they clean, and do not check whether they are needed.
!>
!> A field that generated code acquires and releases gets a storage, which knows the spaces with
!> current values. From then on `data` is the copy on the host; it is current after `get_data`, or
!> between an acquire on the host and its release.
module field_mod

  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_null_ptr, c_ptr

  use arrays_mod, only: checksum_of_array, copy_array, copy_array_patch
  use field_regions_mod, only: go_all_points, go_f_points, go_t_points, go_u_points, go_v_points, &
                               nboundary, set_regions
  use gocean_mod, only: gocean_stop
  use grid_mod, only: grid_type
  use halo_exchange_mod, only: array_type, finish_exchange, halo_messages_type, start_exchange
  use kind_params_mod, only: go_wp
  use parallel_mod, only: get_num_ranks, on_master
  use parallel_utils_mod, only: gather, global_sum
  use region_mod, only: region_type
  use storage_parts_mod, only: box_type
  use storage_registry_mod, only: forget_storage, known_array, new_stamp, registered_array, &
                                  wrapped_array_type
  use storage_constants_mod, only: access_read, access_read_write, access_write, space_host

  implicit none
  private

  public :: copy_field, set_field, field_checksum, free_field
  public :: exchange_several
  public :: go_u_points, go_v_points, go_t_points, go_f_points, go_all_points

  !> Procedures that transfer the values of `nx` by `ny` points, starting at (startx, starty),
  !> between a host array and its copy on a device. Generated code provides them.
  abstract interface
    subroutine read_from_device_f_interface(from, to, startx, starty, nx, ny, blocking)
      import :: c_ptr, go_wp
      type(c_ptr), intent(in) :: from
      real(go_wp), target, intent(inout) :: to(:, :)
      integer, intent(in) :: startx, starty, nx, ny
      logical, intent(in) :: blocking
    end subroutine read_from_device_f_interface

    subroutine write_to_device_f_interface(from, to, startx, starty, nx, ny, blocking)
      import :: c_ptr, go_wp
      real(go_wp), target, intent(in) :: from(:, :)
      type(c_ptr), intent(in) :: to
      integer, intent(in) :: startx, starty, nx, ny
      logical, intent(in) :: blocking
    end subroutine write_to_device_f_interface
  end interface

  !> Common part of all fields: a grid, the internal region, and the whole region with boundary and
  !> halo.
  type, public :: field_type
    integer :: defined_on = go_all_points
    type(grid_type), pointer :: grid => null()
    type(region_type) :: internal
    type(region_type) :: whole
    !> Whether a device has the current values, their device address if it is needed, and the
    !> procedures that transfer them.
    logical :: data_on_device = .false.
    type(c_ptr) :: device_ptr = c_null_ptr
    procedure(read_from_device_f_interface), pointer, nopass :: read_from_device_f => null()
    procedure(write_to_device_f_interface), pointer, nopass :: write_to_device_f => null()
  end type field_type

  !> A two-dimensional field (x, y).
  type, public, extends(field_type) :: r2d_field
    integer :: ntiles = 0
    real(go_wp), allocatable :: data(:, :)
    type(halo_messages_type), private :: messages
    integer, private :: depth_started = 0
    logical, private :: begun_with_storage = .false.
    integer, private :: clean_depth = 0
    integer(c_int64_t), private :: stamp = 0
  contains
    procedure :: acquire
    procedure :: release
    procedure :: prefetch
    procedure, private :: storage_of
    procedure, private :: wrote_on_host
    procedure, private :: assign_field
    generic :: assignment(=) => assign_field
    procedure :: get_data
    procedure :: set_data
    procedure :: read_from_device
    procedure :: write_to_device
    procedure :: halo_exchange
    procedure :: halo_exchange_start
    procedure :: halo_exchange_finish
    procedure :: is_dirty
    procedure :: set_dirty
    procedure :: set_clean
    procedure :: gather_inner_data
  end type r2d_field

  !> Reference to one of several fields that are exchanged together.
  type, public :: field_reference_type
    type(r2d_field), pointer :: field => null()
  end type field_reference_type

  interface r2d_field
    module procedure r2d_field_constructor
  end interface r2d_field

  !> Exchange the halos of several fields. Fields on one grid with equal depths share one message
  !> per neighbour.
  interface exchange_several
    module procedure exchange_to_depth, exchange_to_depths
  end interface exchange_several

  !> Copy one field or array to another, or one region of it to another region.
  interface copy_field
    procedure copy_whole, copy_patch, copy_array, copy_array_patch
  end interface copy_field

  !> Return the sum over all ranks of absolute values, in the internal region of a field or in part
  !> of an array. Each rank contributes one partial sum, so the last digits depend on the number of
  !> ranks.
  interface field_checksum
    procedure checksum_of_field, checksum_of_array
  end interface field_checksum

contains

  !> Return a field of zeros on the points of one type.
  !>
  !> `init_global_data` provides values for the internal region of the whole domain. Fields are
  !> never tiled; `do_tile` has no effect.
  function r2d_field_constructor(grid, grid_points, do_tile, init_global_data) result(self)
    type(grid_type), target, intent(in) :: grid
    integer, intent(in) :: grid_points
    logical, optional, intent(in) :: do_tile
    real(go_wp), optional, intent(in) :: init_global_data(:, :)
    type(r2d_field), target :: self

    self%grid => grid
    self%defined_on = grid_points
    call set_regions(grid, grid_points, self%internal, self%whole)
    allocate (self%data(grid%nx, grid%ny), source=0.0_go_wp)
    self%stamp = new_stamp(self%data)
    if (present(init_global_data)) then
      associate (own => grid%subdomain%internal, domain => grid%subdomain%global)
        self%data(own%xstart:own%xstop, own%ystart:own%ystop) = &
            init_global_data(domain%xstart:domain%xstop, domain%ystart:domain%ystop)
      end associate
    end if
  end function r2d_field_constructor

  !> Begin an access to the values of a field in a space; they are current there afterwards. Code
  !> for the space uses `values` until `release`. With `access_write`, the caller writes all points
  !> of the field's region before it reads any; nothing is transferred if all other points are
  !> padding.
  subroutine acquire(self, space, access, values)
    class(r2d_field), target, intent(in) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    real(go_wp), pointer, contiguous, intent(out) :: values(:, :)
    real(go_wp), pointer, contiguous :: data(:, :)
    type(wrapped_array_type), pointer :: storage
    integer(c_int) :: needed

    call check_one_contract(self)
    data => self%data
    storage => registered_array(data, self%stamp, size(self%grid%halo_plans), self%clean_depth)
    needed = access
    if (access == access_write .and. size(self%grid%halo_plans) > nboundary) then
      needed = access_read_write
    end if
    call storage%acquire(space, needed, values)
  end subroutine acquire

  !> End the last access to a field that began in a space.
  subroutine release(self, space)
    class(r2d_field), target, intent(in) :: self
    integer(c_int), intent(in) :: space
    type(wrapped_array_type), pointer :: storage

    storage => self%storage_of()
    if (.not. associated(storage)) call gocean_stop('A field is released that nobody acquired.')
    call storage%release(space, stay=.true.)
  end subroutine release

  !> Begin a transfer of the values to a space where they will be acquired later.
  subroutine prefetch(self, space)
    class(r2d_field), target, intent(in) :: self
    integer(c_int), intent(in) :: space
    type(wrapped_array_type), pointer :: storage

    storage => self%storage_of()
    if (associated(storage)) call storage%prefetch(space, stay=.true.)
  end subroutine prefetch

  !> Return the storage of a field, null if it was never acquired.
  function storage_of(self) result(storage)
    class(r2d_field), target, intent(in) :: self
    type(wrapped_array_type), pointer :: storage
    real(go_wp), pointer, contiguous :: data(:, :)

    nullify (storage)
    if (.not. allocated(self%data)) return
    data => self%data
    storage => known_array(data, self%stamp)
    if (associated(storage)) call check_one_contract(self)
  end function storage_of

  !> Stop if both directives and a storage would keep the field on a device.
  subroutine check_one_contract(self)
    class(r2d_field), intent(in) :: self

    if (.not. self%data_on_device) return
    call gocean_stop('Both directives and a storage would keep the field on a device.')
  end subroutine check_one_contract

  !> Record that all values on the host are new.
  subroutine wrote_on_host(self)
    class(r2d_field), target, intent(in) :: self
    type(wrapped_array_type), pointer :: storage

    storage => self%storage_of()
    if (associated(storage)) call storage%touch_host(all=.true.)
  end subroutine wrote_on_host

  !> Make a field equal to the current values of another one, in its own memory.
  impure elemental subroutine assign_field(left, right)
    class(r2d_field), target, intent(inout) :: left
    type(r2d_field), target, intent(in) :: right
    real(go_wp), allocatable :: values(:, :)

    if (associated(right%storage_of())) call right%read_from_device()
    if (allocated(right%data)) allocate (values, source=right%data)
    if (allocated(left%data)) call free_field(left)
    left%field_type = right%field_type
    left%ntiles = right%ntiles
    left%clean_depth = right%clean_depth
    if (allocated(values)) call move_alloc(values, left%data)
    left%stamp = new_stamp(left%data)
  end subroutine assign_field

  !> Return all values of a field on the host, after a transfer if they are not current.
  function get_data(self) result(dptr)
    class(r2d_field), target :: self
    real(go_wp), pointer :: dptr(:, :)

    call self%read_from_device()
    dptr => self%data
  end function get_data

  !> Replace all values of a field; returns 0.
  function set_data(self, array) result(flag)
    class(r2d_field), intent(inout) :: self
    real(go_wp), intent(in) :: array(:, :)
    integer :: flag

    self%data = array
    call self%wrote_on_host()
    call self%write_to_device()
    flag = 0
  end function set_data

  !> Fetch the values of a field, or of a part, if a device has them. The value of the field does
  !> not change, so the argument need not be modifiable.
  subroutine read_from_device(self, startx, starty, nx, ny, blocking)
    class(r2d_field), target :: self
    integer, optional, intent(in) :: startx, starty, nx, ny
    logical, optional, intent(in) :: blocking
    integer :: part(4)
    type(wrapped_array_type), pointer :: storage

    storage => self%storage_of()
    if (associated(storage)) then
      call storage%begin_use(space_host, access_read, looks=.true.)
      call storage%release(space_host, stay=storage%has_owner())
      return
    end if
    if (.not. self%data_on_device) return
    if (.not. associated(self%read_from_device_f)) then
      call gocean_stop('A device has the field, and nothing is known of how to read from it.')
    end if
    part = part_of(self, startx, starty, nx, ny)
    call self%read_from_device_f(self%device_ptr, self%data, part(1), part(2), part(3), part(4), &
        waits(blocking))
  end subroutine read_from_device

  !> Send the values of a field, or of a part, to a device if it has the field.
  subroutine write_to_device(self, startx, starty, nx, ny, blocking)
    class(r2d_field), target, intent(inout) :: self
    integer, optional, intent(in) :: startx, starty, nx, ny
    logical, optional, intent(in) :: blocking
    integer :: part(4)

    if (.not. self%data_on_device) return
    if (.not. associated(self%write_to_device_f)) then
      call gocean_stop('A device has the field, and nothing is known of how to write to it.')
    end if
    part = part_of(self, startx, starty, nx, ny)
    call self%write_to_device_f(self%data, self%device_ptr, part(1), part(2), part(3), part(4), &
        waits(blocking))
  end subroutine write_to_device

  !> Return the position and extents of a part of a field; absent arguments refer to the whole
  !> field.
  pure function part_of(self, startx, starty, nx, ny) result(part)
    class(r2d_field), intent(in) :: self
    integer, optional, intent(in) :: startx, starty, nx, ny
    integer :: part(4)

    part = [1, 1, shape(self%data)]
    if (present(startx)) part(1) = startx
    if (present(starty)) part(2) = starty
    if (present(nx)) part(3) = nx
    if (present(ny)) part(4) = ny
  end function part_of

  !> Return whether a transfer must be complete on return; true by default.
  pure function waits(blocking)
    logical, optional, intent(in) :: blocking
    logical :: waits

    waits = .true.
    if (present(blocking)) waits = blocking
  end function waits

  !> Set the halo to the values of its owners, up to the distance `depth`, including corners.
  subroutine halo_exchange(self, depth)
    class(r2d_field), target, intent(inout) :: self
    integer, intent(in) :: depth

    call self%halo_exchange_start(depth)
    call self%halo_exchange_finish(depth)
  end subroutine halo_exchange

  !> Start a halo exchange. Until it is finished the halo may not be used, and no point of the field
  !> may be changed.
  subroutine halo_exchange_start(self, depth)
    class(r2d_field), target, intent(inout) :: self
    integer, intent(in) :: depth
    type(array_type) :: arrays(1)

    if (self%depth_started /= 0) then
      call gocean_stop('An exchange of the field has not been finished.')
    end if
    call check_depth(self, depth)
    call begin_with_storage(self, depth)
    arrays(1)%data => self%data
    call start_exchange(self%grid%halo_plans(depth), arrays, self%messages)
    self%depth_started = depth
  end subroutine halo_exchange_start

  !> Finish the halo exchange of this depth.
  subroutine halo_exchange_finish(self, depth)
    class(r2d_field), target, intent(inout) :: self
    integer, intent(in) :: depth
    type(array_type) :: arrays(1)

    if (self%depth_started /= depth .or. depth < 1) then
      call gocean_stop('No exchange of this depth has been started.')
    end if
    arrays(1)%data => self%data
    call finish_exchange(self%grid%halo_plans(depth), arrays, self%messages)
    call end_with_storage(self, depth)
    self%depth_started = 0
  end subroutine halo_exchange_finish

  !> Make the boxes that an exchange sends current on the host.
  subroutine begin_with_storage(self, depth)
    class(r2d_field), target, intent(inout) :: self
    integer, intent(in) :: depth
    type(wrapped_array_type), pointer :: storage

    storage => self%storage_of()
    self%begun_with_storage = associated(storage)
    associate (plan => self%grid%halo_plans(depth))
      if (.not. associated(storage)) then
        if (self%data_on_device) call move_strips(self, plan%boxes_sent(), to_device=.false.)
        return
      end if
      call storage%begin_exchange_of_parts(merge(depth, 1, storage%has_owner()), &
          plan%boxes_sent(), plan%boxes_received(), within=.true.)
    end associate
  end subroutine begin_with_storage

  !> Record that the host has received the halo, or send it to the device with the other values. A
  !> storage that was created after the start of the exchange does not know the boxes: its copy on a
  !> device becomes stale.
  subroutine end_with_storage(self, depth)
    class(r2d_field), target, intent(inout) :: self
    integer, intent(in) :: depth
    type(wrapped_array_type), pointer :: storage

    storage => self%storage_of()
    associate (plan => self%grid%halo_plans(depth))
      if (associated(storage) .and. .not. self%begun_with_storage) then
        call storage%touch_host(all=.true.)
      else if (associated(storage)) then
        call storage%end_exchange(int(size(plan%sent), c_int64_t), &
            int(plan%count_sent() * storage_size(1.0_go_wp) / 8, c_int64_t), storage%has_owner())
      else if (self%data_on_device) then
        call move_strips(self, plan%boxes_received(), to_device=.true.)
      end if
    end associate
    call self%set_clean(depth)
  end subroutine end_with_storage

  !> Transfer parts of a field from or to the device with its values.
  subroutine move_strips(self, boxes, to_device)
    class(r2d_field), target, intent(inout) :: self
    type(box_type), intent(in) :: boxes(:)
    logical, intent(in) :: to_device
    integer :: n

    do n = 1, size(boxes)
      associate (first => int(boxes(n)%first), last => int(boxes(n)%last))
        associate (extents => last - first + 1)
          if (to_device) then
            call self%write_to_device(first(1), first(2), extents(1), extents(2))
          else
            call self%read_from_device(first(1), first(2), extents(1), extents(2))
          end if
        end associate
      end associate
    end do
  end subroutine move_strips

  !> Exchange the halos of several fields to one depth.
  subroutine exchange_to_depth(fields, depth, only_dirty)
    type(field_reference_type), intent(in) :: fields(:)
    integer, intent(in) :: depth
    logical, optional, intent(in) :: only_dirty
    integer :: n

    call exchange_to_depths(fields, [(depth, n=1, size(fields))], only_dirty)
  end subroutine exchange_to_depth

  !> Exchange the halo of each field to its depth. With `only_dirty`, fields with a clean halo are
  !> skipped; the program must call `set_dirty` after each write then.
  subroutine exchange_to_depths(fields, depths, only_dirty)
    type(field_reference_type), intent(in) :: fields(:)
    integer, intent(in) :: depths(:)
    logical, optional, intent(in) :: only_dirty
    logical :: left(size(fields)), together(size(fields))
    integer :: first, n

    left = .true.
    if (present(only_dirty)) then
      if (only_dirty) left = [(fields(n)%field%is_dirty(depths(n)), n=1, size(fields))]
    end if
    do first = 1, size(fields)
      if (.not. left(first)) cycle
      together = [(left(n) .and. depths(n) == depths(first) .and. &
          associated(fields(n)%field%grid, fields(first)%field%grid), n=1, size(fields))]
      call exchange_together(pack(fields, together), depths(first))
      left = left .and. .not. together
    end do
  end subroutine exchange_to_depths

  !> Exchange the halos of fields on one grid, with one message for each neighbour.
  subroutine exchange_together(fields, depth)
    type(field_reference_type), intent(in) :: fields(:)
    integer, intent(in) :: depth
    type(array_type) :: arrays(size(fields))
    integer :: n

    do n = 1, size(fields)
      if (fields(n)%field%depth_started /= 0) then
        call gocean_stop('An exchange of a field has not been finished.')
      end if
      call check_depth(fields(n)%field, depth)
      call begin_with_storage(fields(n)%field, depth)
      arrays(n)%data => fields(n)%field%data
    end do
    associate (grid => fields(1)%field%grid, messages => fields(1)%field%messages)
      call start_exchange(grid%halo_plans(depth), arrays, messages)
      call finish_exchange(grid%halo_plans(depth), arrays, messages)
    end associate
    do n = 1, size(fields)
      call end_with_storage(fields(n)%field, depth)
    end do
  end subroutine exchange_together

  !> Stop unless a field has a halo of this depth.
  subroutine check_depth(self, depth)
    class(r2d_field), intent(in) :: self
    integer, intent(in) :: depth

    if (depth < 1 .or. depth > size(self%grid%halo_plans)) then
      call gocean_stop('A halo of this depth does not exist.')
    end if
  end subroutine check_depth

  !> Return whether the halo at the distance `depth` may differ from the values of its owners.
  function is_dirty(self, depth)
    class(r2d_field), target, intent(in) :: self
    integer, intent(in) :: depth
    logical :: is_dirty
    type(wrapped_array_type), pointer :: storage

    is_dirty = depth > self%clean_depth
    storage => self%storage_of()
    if (associated(storage)) is_dirty = storage%is_dirty(depth, self%clean_depth)
  end function is_dirty

  !> Record a write to the field: its halo is dirty, and its copy on a device is stale.
  subroutine set_dirty(self)
    class(r2d_field), target, intent(inout) :: self

    self%clean_depth = 0
    call self%wrote_on_host()
  end subroutine set_dirty

  !> Record that the halo is clean up to the distance `depth`.
  subroutine set_clean(self, depth)
    class(r2d_field), target, intent(inout) :: self
    integer, intent(in) :: depth
    type(wrapped_array_type), pointer :: storage

    storage => self%storage_of()
    if (associated(storage)) call storage%set_clean(depth, self%clean_depth)
    self%clean_depth = max(self%clean_depth, depth)
  end subroutine set_clean

  !> Set `global_data` on the first rank to the values of the domain. All ranks call this together;
  !> on the others, `global_data` has its extents and undefined values.
  subroutine gather_inner_data(self, global_data)
    class(r2d_field) :: self
    real(go_wp), allocatable, intent(out) :: global_data(:, :)
    real(go_wp), allocatable :: sent(:), received(:)
    integer :: n, rank

    call self%read_from_device()
    associate (decomp => self%grid%decomp, own => self%grid%subdomain%internal)
      allocate (global_data(decomp%global_nx, decomp%global_ny))
      n = maxval(decomp%subdomains%internal%nx) * maxval(decomp%subdomains%internal%ny)
      allocate (sent(n), source=0.0_go_wp)
      allocate (received(merge(n * get_num_ranks(), 0, on_master())))
      sent(:own%nx * own%ny) = &
          reshape(self%data(own%xstart:own%xstop, own%ystart:own%ystop), [own%nx * own%ny])
      call gather(sent, received)
      if (.not. on_master()) return
      do rank = 1, decomp%ndomains
        associate (to => decomp%subdomains(rank)%global, of => decomp%subdomains(rank)%internal)
          global_data(to%xstart:to%xstop, to%ystart:to%ystop) = &
              reshape(received((rank - 1) * n + 1:), [of%nx, of%ny])
        end associate
      end do
    end associate
  end subroutine gather_inner_data

  !> Free the memory of a field.
  subroutine free_field(fld)
    type(r2d_field), target, intent(inout) :: fld
    real(go_wp), pointer, contiguous :: data(:, :)

    if (allocated(fld%data)) then
      data => fld%data
      call forget_storage(data)
      deallocate (fld%data)
    end if
    nullify (fld%grid)
  end subroutine free_field

  !> Set all points of a field to one value.
  subroutine set_field(fld, val)
    type(r2d_field), intent(inout) :: fld
    real(go_wp), intent(in) :: val

    fld%data = val
    call fld%wrote_on_host()
  end subroutine set_field

  !> Copy all values of a field.
  subroutine copy_whole(field_in, field_out)
    type(r2d_field), intent(in) :: field_in
    type(r2d_field), intent(inout) :: field_out

    if (associated(field_in%storage_of())) call field_in%read_from_device()
    field_out%data = field_in%data
    call field_out%wrote_on_host()
  end subroutine copy_whole

  !> Copy the values of the region `src` to the region `dest` of the same size.
  subroutine copy_patch(field, src, dest)
    type(r2d_field), intent(inout) :: field
    type(region_type), intent(in) :: src, dest

    if (associated(field%storage_of())) call field%read_from_device()
    field%data(dest%xstart:dest%xstop, dest%ystart:dest%ystop) = &
        field%data(src%xstart:src%xstop, src%ystart:src%ystop)
    call field%wrote_on_host()
  end subroutine copy_patch

  !> Return the sum over all ranks of absolute values in the internal region.
  function checksum_of_field(field) result(val)
    type(r2d_field) :: field
    real(go_wp) :: val

    call field%read_from_device()
    associate (own => field%internal)
      val = sum(abs(field%data(own%xstart:own%xstop, own%ystart:own%ystop)))
    end associate
    call global_sum(val)
  end function checksum_of_field

end module field_mod
