!> Owns the fields of 64-bit reals.
!>
!> The modules of the other kinds have the same text but for names and kinds, which a test keeps so:
!> Fortran has no generic derived types that the compilers at hand support, and gfortran takes
!> renamed types of one name for the same type in a select type construct.
module field_real64_mod

  use, intrinsic :: iso_c_binding, only: c_int, c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: real64
  use constants_mod, only: i_def, l_def
  use field_parent_mod, only: checkpoint_read_interface, checkpoint_write_interface, &
                              field_parent_proxy_type, field_parent_type, read_interface, &
                              write_interface
  use function_space_mod, only: function_space_type
  use global_sums_mod, only: sum_of_values
  use log_mod, only: log_event, log_scratch_space
  use mesh_mod, only: mesh_type
  use message_passing_mod, only: reduce_max, reduce_min
  use pure_abstract_field_mod, only: pure_abstract_field_type

  implicit none
  private

  !> A field: its data are one value for every dof of the rank down to the field's halo depth, and
  !> have a storage.
  type, extends(field_parent_type), public :: field_real64_type
    private
    real(real64), pointer :: data(:) => null()
    logical(l_def) :: owns_data = .false.
  contains
    procedure, non_overridable, public :: initialise => initialise_field
    procedure, non_overridable, public :: get_proxy
    procedure, non_overridable, public :: copy_field_properties
    procedure, non_overridable, public :: copy_field_serial
    procedure, non_overridable, public :: write_field
    procedure, non_overridable, public :: read_field
    procedure, non_overridable, public :: write_checkpoint
    procedure, non_overridable, public :: read_checkpoint
    procedure, non_overridable, public :: log_field
    procedure, non_overridable, public :: log_dofs
    procedure, non_overridable, public :: log_minmax
    procedure, non_overridable, public :: field_final
    procedure, private :: assign_field
    procedure, private :: copy_values
    generic, public :: assignment(=) => assign_field
    final :: destroy_field
  end type field_real64_type

  interface field_real64_type
    module procedure new_field
  end interface field_real64_type

  !> A pointer to a field, as a member of a collection.
  type, extends(pure_abstract_field_type), public :: field_real64_pointer_type
    type(field_real64_type), pointer, public :: field_ptr => null()
  contains
    procedure, non_overridable, public :: initialise => initialise_pointer
  end type field_real64_pointer_type

  !> Access to the data of a field.
  type, extends(field_parent_proxy_type), public :: field_real64_proxy_type
    private
    real(real64), pointer, public :: data(:) => null()
  contains
    procedure, non_overridable, public :: acquire
    procedure, non_overridable, public :: locate
    procedure, non_overridable, public :: get_sum
    procedure, non_overridable, public :: get_min
    procedure, non_overridable, public :: get_max
    procedure, non_overridable, public :: reduction_finish
  end type field_real64_proxy_type

contains

  !> Return a field on a space, the 2019 way to make one.
  function new_field(vector_space, name) result(field)
    type(function_space_type), pointer, intent(in) :: vector_space
    character(*), optional, intent(in) :: name
    type(field_real64_type) :: field

    call field%initialise(vector_space, name)
  end function new_field

  !> Make a field on a space. It holds its own data unless `override_data`, contiguous, is given,
  !> which it then refers to; its halo has the depth given or the default depth, at most that of
  !> the mesh.
  subroutine initialise_field(self, vector_space, name, override_data, halo_depth)
    use held_storage_mod, only: field_storage_type, storage_of

    class(field_real64_type), intent(inout) :: self
    type(function_space_type), pointer, intent(in) :: vector_space
    character(*), optional, intent(in) :: name
    real(real64), target, optional, intent(in) :: override_data(:)
    integer(i_def), optional, intent(in) :: halo_depth

    type(field_storage_type), pointer :: storage
    integer(i_def) :: dofs

    if (present(override_data)) then
      if (.not. is_contiguous(override_data)) &
        error stop 'field%initialise: the data that it is to refer to are not contiguous'
    end if
    call self%field_final()
    call self%field_parent_initialiser(vector_space, name, halo_depth)
    dofs = vector_space%get_last_dof_halo(self%get_field_halo_depth())
    self%owns_data = .not. present(override_data)
    if (present(override_data)) then
      self%data => override_data
    else
      allocate (self%data(dofs))
      self%data = 0.0_real64
    end if
    storage => storage_of(self%values%held)
    call storage%wrap(self%data, int(self%get_field_halo_depth(), c_int), trim(self%get_name()), &
                      spoils=.true.)
    call self%values%enter_table(lent=present(override_data), &
                                 is_whole=size(self%data) >= dofs, &
                                 layout=c_loc(vector_space))
  end subroutine initialise_field

  !> Make a pointer refer to a field.
  subroutine initialise_pointer(self, field_ptr)
    class(field_real64_pointer_type), intent(inout) :: self
    type(field_real64_type), pointer, intent(in) :: field_ptr

    self%field_ptr => field_ptr
  end subroutine initialise_pointer

  !> Return access to the data.
  function get_proxy(self) result(field_proxy)
    class(field_real64_type), target, intent(in) :: self
    type(field_real64_proxy_type) :: field_proxy

    call self%field_parent_proxy_initialiser(field_proxy)
    field_proxy%data => self%data
  end function get_proxy

  !> Make `dest` a field on the same space with the same behaviours, without copying the data.
  subroutine copy_field_properties(self, dest, name)
    class(field_real64_type), target, intent(in) :: self
    type(field_real64_type), target, intent(out) :: dest
    character(*), optional, intent(in) :: name

    type(function_space_type), pointer :: space

    space => self%get_function_space()
    call dest%initialise(space, halo_depth=self%get_field_halo_depth())
    if (present(name)) call dest%initialise(space, name, halo_depth=self%get_field_halo_depth())
    call self%copy_field_parent(dest)
  end subroutine copy_field_properties

  !> Make `dest` a copy of the field, data included.
  subroutine copy_field_serial(self, dest, name)
    class(field_real64_type), target, intent(in) :: self
    type(field_real64_type), target, intent(out) :: dest
    character(*), optional, intent(in) :: name

    call self%copy_field_properties(dest, name)
    call self%values%bring_to_host()
    call dest%copy_values(self)
  end subroutine copy_field_serial

  !> Make `dest` a copy of `source`, name and data included; they may be one and the same.
  subroutine assign_field(dest, source)
    class(field_real64_type), intent(inout) :: dest
    class(field_real64_type), intent(in) :: source

    type(function_space_type), pointer :: space

    ! No two fields have the same messages.
    if (associated(dest%messages, source%messages)) return
    call dest%field_final()
    if (.not. source%is_initialised()) return
    space => source%get_function_space()
    call dest%initialise(space, source%get_name(), halo_depth=source%get_field_halo_depth())
    call source%copy_field_parent(dest)
    call source%values%bring_to_host()
    call dest%copy_values(source)
  end subroutine assign_field

  !> Copy the values of `source`, which has more of them if it refers to data for a deeper halo.
  subroutine copy_values(self, source)
    class(field_real64_type), intent(inout) :: self
    class(field_real64_type), intent(in) :: source

    self%data = source%data(:size(self%data))
  end subroutine copy_values

  !> Write the field for output, by the procedure that was set.
  subroutine write_field(this, field_name)
    class(field_real64_type), intent(in) :: this
    character(*), optional, intent(in) :: field_name

    procedure(write_interface), pointer :: method

    call this%get_write_behaviour(method)
    if (.not. associated(method)) error stop 'write_field: no write behaviour is set'
    call this%values%bring_to_host()
    if (present(field_name)) then
      call method(field_name, this%get_proxy())
    else
      call method(trim(this%get_name()), this%get_proxy())
    end if
  end subroutine write_field

  !> Read the field, by the procedure that was set.
  subroutine read_field(self, field_name)
    class(field_real64_type), target, intent(inout) :: self
    character(*), intent(in) :: field_name

    procedure(read_interface), pointer :: method
    type(field_real64_proxy_type) :: field_proxy

    call self%get_read_behaviour(method)
    if (.not. associated(method)) error stop 'read_field: no read behaviour is set'
    field_proxy = self%get_proxy()
    call method(field_name, field_proxy)
    call field_proxy%set_dirty()
  end subroutine read_field

  !> Write the field to a checkpoint file, by the procedure that was set.
  subroutine write_checkpoint(self, field_name, file_name)
    class(field_real64_type), target, intent(inout) :: self
    character(*), intent(in) :: field_name
    character(*), intent(in) :: file_name

    procedure(checkpoint_write_interface), pointer :: method

    call self%get_checkpoint_write_behaviour(method)
    if (.not. associated(method)) error stop 'write_checkpoint: no behaviour is set'
    call self%values%bring_to_host()
    call method(field_name, file_name, self%get_proxy())
  end subroutine write_checkpoint

  !> Read the field from a checkpoint file, by the procedure that was set.
  subroutine read_checkpoint(self, field_name, file_name)
    class(field_real64_type), target, intent(inout) :: self
    character(*), intent(in) :: field_name
    character(*), intent(in) :: file_name

    procedure(checkpoint_read_interface), pointer :: method
    type(field_real64_proxy_type) :: field_proxy

    call self%get_checkpoint_read_behaviour(method)
    if (.not. associated(method)) error stop 'read_checkpoint: no behaviour is set'
    field_proxy = self%get_proxy()
    call method(field_name, file_name, field_proxy)
    call field_proxy%set_dirty()
  end subroutine read_checkpoint

  !> Log every value, one line for each cell, dof and layer.
  subroutine log_field(self, log_level, label)
    class(field_real64_type), target, intent(in) :: self
    integer(i_def), intent(in) :: log_level
    character(*), intent(in) :: label

    type(function_space_type), pointer :: space
    type(mesh_type), pointer :: mesh
    integer(i_def), pointer :: map(:)
    integer(i_def) :: cell, df, k

    space => self%get_function_space()
    mesh => self%get_mesh()
    call self%values%bring_to_host()
    do cell = 1, mesh%get_last_halo_cell(self%get_field_halo_depth())
      map => space%get_cell_dofmap(cell)
      do df = 1, space%get_ndf()
        do k = 0, space%get_nlayers() - 1
          write (log_scratch_space, '(a, 3(1x, i0), 1x, es24.16e3)') trim(label), cell, df, k, &
            self%data(map(df) + k)
          call log_event(log_scratch_space, log_level)
        end do
      end do
    end do
  end subroutine log_field

  !> Log every value, one line for each dof.
  subroutine log_dofs(self, log_level, label)
    class(field_real64_type), target, intent(in) :: self
    integer(i_def), intent(in) :: log_level
    character(*), intent(in) :: label

    integer(i_def) :: df

    call self%values%bring_to_host()
    do df = 1, size(self%data, kind=i_def)
      write (log_scratch_space, '(a, 1x, i0, 1x, es24.16e3)') trim(label), df, self%data(df)
      call log_event(log_scratch_space, log_level)
    end do
  end subroutine log_dofs

  !> Log the least and the greatest value over all ranks, which must call it together.
  subroutine log_minmax(self, log_level, label)
    class(field_real64_type), target, intent(in) :: self
    integer(i_def), intent(in) :: log_level
    character(*), intent(in) :: label

    type(field_real64_proxy_type) :: field_proxy

    field_proxy = self%get_proxy()
    write (log_scratch_space, '(a, 2(1x, es24.16e3))') 'Min/max ' // trim(label) // ' =', &
      field_proxy%get_min(), field_proxy%get_max()
    call log_event(log_scratch_space, log_level)
  end subroutine log_minmax

  !> Give the memory back; the field may be initialised again. Who has lent memory to it finds the
  !> latest values there.
  subroutine field_final(self)
    class(field_real64_type), intent(inout) :: self

    if (associated(self%values) .and. .not. self%owns_data) call self%values%bring_to_host()
    call self%field_parent_final()
    if (self%owns_data .and. associated(self%data)) deallocate (self%data)
    nullify (self%data)
    self%owns_data = .false.
  end subroutine field_final

  !> Give the memory back when a field goes out of scope.
  impure elemental subroutine destroy_field(self)
    type(field_real64_type), intent(inout) :: self

    call self%field_final()
  end subroutine destroy_field

  !> Begin to use the values in a space, where they are current from then on: `values` are those
  !> that code for the space works on, until `release`. With `access_write`, one value at each dof
  !> is going to be written before any is read. One who `may_share` is maybe under way with the same
  !> field under another name.
  subroutine acquire(self, space, access, values, may_share)
    use held_storage_mod, only: field_storage_type, storage_of

    class(field_real64_proxy_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    real(real64), pointer, contiguous, intent(out) :: values(:)
    logical, optional, intent(in) :: may_share

    type(field_storage_type), pointer :: storage

    call self%begin_use(space, access, may_share)
    storage => storage_of(self%values%held)
    call storage%window(space, values)
  end subroutine acquire

  !> Say where in memory the values begin, and how many bytes each has.
  subroutine locate(self, address, bytes)
    class(field_real64_proxy_type), intent(in) :: self
    type(c_ptr), intent(out) :: address
    integer(i_def), intent(out) :: bytes

    address = c_null_ptr
    if (size(self%data) > 0) address = c_loc(self%data(1))
    bytes = storage_size(self%data, i_def) / 8
  end subroutine locate

  !> Return the sum over all ranks of the owned dofs.
  function get_sum(self) result(answer)
    class(field_real64_proxy_type), intent(in) :: self
    real(real64) :: answer

    call self%bring_to_host()
    answer = sum_of_values(self%data(:self%vspace%get_last_dof_owned()))
  end function get_sum

  !> Return the least value over all ranks of the owned dofs.
  function get_min(self) result(answer)
    class(field_real64_proxy_type), intent(in) :: self
    real(real64) :: answer

    call self%bring_to_host()
    answer = reduce_min(minval(self%data(:self%vspace%get_last_dof_owned())))
  end function get_min

  !> Return the greatest value over all ranks of the owned dofs.
  function get_max(self) result(answer)
    class(field_real64_proxy_type), intent(in) :: self
    real(real64) :: answer

    call self%bring_to_host()
    answer = reduce_max(maxval(self%data(:self%vspace%get_last_dof_owned())))
  end function get_max

  !> Wait for a reduction; reductions block here, so there is nothing to wait for.
  subroutine reduction_finish(self)
    class(field_real64_proxy_type), intent(in) :: self
  end subroutine reduction_finish

end module field_real64_mod
