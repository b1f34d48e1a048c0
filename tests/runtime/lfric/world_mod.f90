!> Owns what the programs of this folder have in common: meshes, fields with known values, answers.
!>
!> Fields start with small integers that follow from the ids of dofs over all ranks, so that
!> they are the same however the mesh is cut, and sums of them are exact in any order. Answers go
!> to a file of each rank without formatting, which took most of the time: for each field its name in
!> 160 characters, and in 64 bits each the number of its dofs over all ranks, that of the dofs here,
!> the ids of these and their values as reals; for a scalar its name, -1, 1 and the value. Where
!> only a difference is looked for, all answers of an algorithm make one number, a line of a text.
module world_mod

  use, intrinsic :: ieee_arithmetic, only: ieee_class_type, ieee_is_nan, ieee_quiet_nan, &
                                           ieee_signaling_nan, ieee_value
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use constants_mod, only: i_def, i_halo_index, l_def, r_def, r_solver
  use extrusion_mod, only: PRIME_EXTRUSION, uniform_extrusion_type
  use field_parent_mod, only: field_parent_proxy_type, field_parent_type
  use field_real32_mod, only: field_real32_proxy_type, field_real32_type
  use field_real64_mod, only: field_real64_proxy_type, field_real64_type
  use function_space_collection_mod, only: function_space_collection, &
                                           function_space_collection_type
  use function_space_mod, only: function_space_type
  use halo_statistics_mod, only: get_halo_statistics, halo_statistics_type
  use integer_field_mod, only: integer_field_proxy_type, integer_field_type
  use joint_exchange_mod, only: exchange_fields
  use local_mesh_mod, only: local_mesh_type
  use lfric_mpi_mod, only: global_mpi
  use mesh_collection_mod, only: mesh_collection, mesh_collection_type
  use mesh_mod, only: mesh_type
  use mutation_mod, only: is_mutating, leaves_out
  use stages_mod, only: is_different, note_stage
  use storage_device_mod, only: device_has_memory
  use storage_constants_mod, only: access_read_write, space_device, space_host

  implicit none
  private

  public :: open_answers, close_answers
  public :: make_planes, make_spheres, fine, coarse, shallow, orders
  public :: new_field, poison_halos, renew_halos
  public :: report_columns, report_operator
  public :: report_fields, report_scalar, report_stage, report_mutation
  public :: report_briefly, report_digests, statistics_of_layers

  !> A field that has been made and not reported, and what its values were before an exchange that
  !> is there to look at them.
  type :: known_field_type
    character(64) :: name = ''
    class(field_parent_proxy_type), allocatable :: proxy
    integer(i_def) :: clean = 0
    real(real64), allocatable :: kept_real64(:)
    real(real32), allocatable :: kept_real32(:)
    integer(i_def), allocatable :: kept_integers(:)
  end type known_field_type

  integer(i_def), parameter, public :: deepest = 3
  integer, parameter :: most_fields = 256
  integer, parameter :: answers = 20
  integer, parameter :: values = 21
  integer, parameter :: longest_name = 160

  ! The coarse mesh covers the same surface with cells twice as wide.
  type(mesh_type), pointer, save :: fine => null()
  type(mesh_type), pointer, save :: coarse => null()
  !> The cells of the fine mesh, with fewer layers above them.
  type(mesh_type), pointer, save :: shallow => null()

  type(known_field_type), save :: known(most_fields)
  integer, save :: number_known = 0
  integer, save :: number_of_times = 0
  !> What the exchanges of this module have cost.
  type(halo_statistics_type), save :: own
  logical, save :: annexed_are_valid = .false.
  !> Whether a program that traps invalid operations stops when it computes with poison.
  logical, save, public :: poison_signals = .false.
  !> Whether values are looked at and written as in a program that knows of no storages, and has none
  !> on a device alone.
  logical, save, public :: is_unaware = .false.
  !> Whether all halos are clean before each invoke.
  logical, save, public :: halos_are_renewed = .false.
  !> Whether meshes tell inner cells apart by their depth.
  logical(l_def), save, public :: has_inner_halos = .true.
  logical, save :: digests_only = .false.
  logical, save :: is_brief = .false.
  real(r_def), save :: digest = 0.0_r_def
  !> The order of the elements of all spaces, in the horizontal and in the vertical.
  integer(i_def), save :: orders(2) = 0
  character(64), save :: prefix = ''

contains

  !> Open the files of answers of a rank. `computes_annexed` says whether the generated code promises
  !> that annexed dofs are always valid.
  subroutine open_answers(rank, computes_annexed)
    integer(i_def), intent(in) :: rank
    logical, intent(in) :: computes_annexed

    character(32) :: file_name

    annexed_are_valid = computes_annexed
    write (file_name, '(a, i0)') 'answers.', rank
    open (answers, file=file_name, action='write', status='replace')
    write (file_name, '(a, i0)') 'values.', rank
    open (values, file=file_name, action='write', status='replace', access='stream', &
          form='unformatted')
    allocate (mesh_collection, source=mesh_collection_type())
    allocate (function_space_collection, source=function_space_collection_type())
  end subroutine open_answers

  !> Close the files of answers.
  subroutine close_answers()
    close (answers)
    close (values)
  end subroutine close_answers

  !> Make the meshes of a plane; `name` starts the names of all answers on it.
  subroutine make_planes(name, periodic, cells_x, cells_y)
    character(*), intent(in) :: name
    logical, intent(in) :: periodic
    integer(i_def), intent(in) :: cells_x
    integer(i_def), intent(in) :: cells_y

    call join_meshes(name, new_plane('fine', 2_i_def), new_plane('coarse', 1_i_def))

  contains

    !> Return a plane with so many times the cells in each direction.
    function new_plane(mesh_name, together) result(plane)
      character(*), intent(in) :: mesh_name
      integer(i_def), intent(in) :: together
      type(local_mesh_type) :: plane

      plane = local_mesh_type(name // mesh_name, together * cells_x, together * cells_y, &
                              real(together, r_def), real(together, r_def), periodic, periodic, &
                              halo_depth=deepest, cells_together=together, &
                              generate_inner_halos=has_inner_halos)
    end function new_plane

  end subroutine make_planes

  !> Make the meshes of a sphere; `name` starts the names of all answers on it.
  subroutine make_spheres(name, edge_cells)
    character(*), intent(in) :: name
    integer(i_def), intent(in) :: edge_cells

    call join_meshes(name, &
                     local_mesh_type(name // 'fine', 2 * edge_cells, deepest, 2_i_def, &
                                     has_inner_halos), &
                     local_mesh_type(name // 'coarse', edge_cells, deepest, 1_i_def, &
                                     has_inner_halos))
  end subroutine make_spheres

  !> Make the meshes of a surface and the maps between them.
  subroutine join_meshes(name, fine_surface, coarse_surface)
    character(*), intent(in) :: name
    type(local_mesh_type), intent(in) :: fine_surface
    type(local_mesh_type), intent(in) :: coarse_surface

    prefix = name
    fine => new_mesh(fine_surface, 3_i_def)
    coarse => new_mesh(coarse_surface, 3_i_def)
    shallow => new_mesh(fine_surface, 2_i_def)
    call fine%add_mesh_map(coarse)
    call coarse%add_mesh_map(fine)
  end subroutine join_meshes

  !> Return a mesh of some layers, in tiles of three by two cells.
  function new_mesh(surface, layers) result(mesh)
    type(local_mesh_type), intent(in) :: surface
    integer(i_def), intent(in) :: layers
    type(mesh_type), pointer :: mesh

    type(local_mesh_type), pointer :: kept
    real(r_def) :: bottom

    ! The bottom of a sphere is its radius.
    bottom = merge(1.0_r_def, 0.0_r_def, surface%is_geometry_spherical())
    allocate (kept)
    kept = surface
    mesh => mesh_collection%get_mesh(mesh_collection%add_new_mesh( &
      mesh_type(kept, uniform_extrusion_type(bottom, 3.0_r_def, layers, PRIME_EXTRUSION), &
                tile_size=[3_i_def, 2_i_def])))
  end function new_mesh

  !> Return an integer from -8 to 8, and one beyond that for the first and the last dof: the
  !> extremes of a field are the values of one rank.
  elemental function value_of(id, seed, number_of_all) result(value)
    integer(i_halo_index), intent(in) :: id
    integer(i_def), intent(in) :: seed
    integer(i_def), intent(in) :: number_of_all
    integer(i_def) :: value

    value = int(modulo(37 * id + 11 * (id / 5) + 7 * seed, 17_i_halo_index), i_def) - 8
    if (id == 0) value = -9
    if (id == number_of_all - 1) value = 9
  end function value_of

  !> Make a field on a space of the fine mesh, or of the one given, with `ndata` values at each dof,
  !> from `seed`; those that the rank does not own are poisoned. Its halo is that of the mesh, or has
  !> the depth given.
  subroutine new_field(field, fs, name, seed, mesh, ndata, halo_depth)
    class(field_parent_type), intent(inout) :: field
    integer(i_def), intent(in) :: fs
    character(*), intent(in) :: name
    integer(i_def), intent(in) :: seed
    type(mesh_type), pointer, optional, intent(in) :: mesh
    integer(i_def), optional, intent(in) :: ndata
    integer(i_def), optional, intent(in) :: halo_depth

    integer(i_def) :: depth, last
    type(function_space_type), pointer :: space
    type(mesh_type), pointer :: its_mesh
    integer(i_halo_index), allocatable :: ids(:)

    its_mesh => fine
    if (present(mesh)) its_mesh => mesh
    depth = deepest
    if (present(halo_depth)) depth = halo_depth
    space => function_space_collection%get_fs(its_mesh, orders(1), orders(2), fs, ndata)
    last = space%get_last_dof_halo(depth)
    call space%get_global_dof_id(ids)
    number_known = number_known + 1
    associate (entry => known(number_known))
      entry%name = trim(prefix) // '/' // name
      select type (field)
      type is (field_real64_type)
        call field%initialise(space, name, halo_depth=depth)
        allocate (entry%proxy, source=field%get_proxy())
      type is (field_real32_type)
        call field%initialise(space, name, halo_depth=depth)
        allocate (entry%proxy, source=field%get_proxy())
      type is (integer_field_type)
        call field%initialise(space, name, halo_depth=depth)
        allocate (entry%proxy, source=field%get_proxy())
      end select
      select type (proxy => entry%proxy)
      type is (field_real64_proxy_type)
        proxy%data = real(value_of(ids(:last), seed, space%get_ndof_glob()), real64)
      type is (field_real32_proxy_type)
        proxy%data = real(value_of(ids(:last), seed, space%get_ndof_glob()), real32)
      type is (integer_field_proxy_type)
        proxy%data = value_of(ids(:last), seed, space%get_ndof_glob())
      end select
    end associate
    call poison_halos()
  end subroutine new_field

  !> Poison all halo values that the flags of their field call out of date. Where a device has a
  !> memory of its own, half of the fields, others each time, are left there alone.
  subroutine poison_halos()
    integer(i_def) :: depth, first, n

    if (halos_are_renewed) call exchange_halos(deepest)
    number_of_times = number_of_times + 1
    do n = 1, number_known
      associate (proxy => known(n)%proxy)
        first = proxy%vspace%get_last_dof_owned() + 1
        if (annexed_are_valid) first = proxy%vspace%get_last_dof_annexed() + 1
        do depth = 1, proxy%get_field_proxy_halo_depth()
          if (proxy%is_dirty(depth)) call poison(proxy, first, depth)
          first = proxy%vspace%get_last_dof_halo(depth) + 1
        end do
        if (is_unaware) cycle
        call put_at(proxy, space_host)
        if (modulo(n + number_of_times, 2) == 0) call put_at(proxy, space_device)
      end associate
    end do
  end subroutine poison_halos

  !> Leave the only current values of a field in a space.
  subroutine put_at(proxy, space)
    class(field_parent_proxy_type), intent(in) :: proxy
    integer(c_int), intent(in) :: space

    call proxy%values%acquire(space, access_read_write)
    call proxy%values%release(space)
  end subroutine put_at

  !> Make the latest values of a field be in `data`.
  subroutine look_at(proxy)
    class(field_parent_proxy_type), intent(in) :: proxy

    if (.not. is_unaware) call proxy%bring_to_host()
  end subroutine look_at

  !> Note that the halo is stale, as `data` have been written.
  subroutine wrote(proxy)
    class(field_parent_proxy_type), intent(inout) :: proxy

    if (is_unaware) then
      call proxy%set_halo_dirty()
    else
      call proxy%set_dirty()
    end if
  end subroutine wrote

  !> Make the first levels of the halos of all fields clean, and poison all that is beyond.
  subroutine renew_halos(clean)
    integer(i_def), intent(in) :: clean

    integer(i_def) :: n

    do n = 1, number_known
      associate (proxy => known(n)%proxy)
        call look_at(proxy)
        call wrote(proxy)
      end associate
    end do
    if (clean > 0) call exchange_halos(clean)
    call poison_halos()
  end subroutine renew_halos

  !> Exchange the halos of all fields to a depth, those of one kind together: most of the time of
  !> many mutations would be messages otherwise.
  subroutine exchange_halos(depth)
    integer(i_def), intent(in) :: depth

    type(field_real64_proxy_type) :: real64s(number_known)
    type(field_real32_proxy_type) :: real32s(number_known)
    type(integer_field_proxy_type) :: integers(number_known)
    type(halo_statistics_type) :: before, now
    integer :: in_64_bits, in_32_bits, n, whole

    in_64_bits = 0
    in_32_bits = 0
    whole = 0
    do n = 1, number_known
      select type (proxy => known(n)%proxy)
      type is (field_real64_proxy_type)
        in_64_bits = in_64_bits + 1
        real64s(in_64_bits) = proxy
      type is (field_real32_proxy_type)
        in_32_bits = in_32_bits + 1
        real32s(in_32_bits) = proxy
      type is (integer_field_proxy_type)
        whole = whole + 1
        integers(whole) = proxy
      end select
    end do
    before = get_halo_statistics()
    call exchange_fields(real64s(:in_64_bits), depth)
    call exchange_fields(real32s(:in_32_bits), depth)
    call exchange_fields(integers(:whole), depth)
    now = get_halo_statistics()
    own%exchanges = own%exchanges + now%exchanges - before%exchanges
    own%messages = own%messages + now%messages - before%messages
    own%bytes = own%bytes + now%bytes - before%bytes
  end subroutine exchange_halos

  !> Return what exchanges have cost this rank but for those of this module.
  function statistics_of_layers() result(statistics)
    type(halo_statistics_type) :: statistics

    statistics = get_halo_statistics()
    statistics%exchanges = statistics%exchanges - own%exchanges
    statistics%messages = statistics%messages - own%messages
    statistics%bytes = statistics%bytes - own%bytes
  end function statistics_of_layers

  !> Poison the values of a field from a dof to the end of a halo depth.
  subroutine poison(proxy, first, depth)
    class(field_parent_proxy_type), intent(inout) :: proxy
    integer(i_def), intent(in) :: first
    integer(i_def), intent(in) :: depth

    integer(i_def) :: clean, last
    type(ieee_class_type) :: nan

    call look_at(proxy)
    nan = ieee_quiet_nan
    if (poison_signals) nan = ieee_signaling_nan
    last = proxy%vspace%get_last_dof_halo(depth)
    select type (proxy)
    type is (field_real64_proxy_type)
      proxy%data(first:last) = ieee_value(0.0_real64, nan)
    type is (field_real32_proxy_type)
      proxy%data(first:last) = ieee_value(0.0_real32, nan)
    type is (integer_field_proxy_type)
      proxy%data(first:last) = -1000003
    end select
    clean = number_clean(proxy)
    call wrote(proxy)
    if (clean > 0) call proxy%set_clean(clean)
  end subroutine poison

  !> Return how many levels of the halo of a field are clean.
  function number_clean(proxy) result(clean)
    class(field_parent_proxy_type), intent(in) :: proxy
    integer(i_def) :: clean

    clean = 0
    do while (clean < proxy%get_field_proxy_halo_depth())
      if (proxy%is_dirty(clean + 1)) exit
      clean = clean + 1
    end do
  end function number_clean

  !> Write the owned dofs of all fields that were made, and forget these fields.
  subroutine report_fields()
    integer(i_def) :: n

    do n = 1, number_known
      if (is_mutating .and. device_has_memory) call digest_host(n, known(n)%proxy)
      call look_at(known(n)%proxy)
      if (digests_only) then
        call digest_field(n, known(n)%proxy)
      else if (is_brief) then
        call report_number(trim(known(n)%name), n, known(n)%proxy)
      else
        call report_field(trim(known(n)%name), known(n)%proxy)
      end if
      deallocate (known(n)%proxy)
    end do
    number_known = 0
  end subroutine report_fields

  !> Write the number of dofs over all ranks of a field, and those that this rank owns.
  subroutine report_field(name, proxy)
    character(*), intent(in) :: name
    class(field_parent_proxy_type), intent(in) :: proxy

    integer(i_halo_index), allocatable :: ids(:)
    integer(i_def) :: last

    call proxy%vspace%get_global_dof_id(ids)
    last = proxy%vspace%get_last_dof_owned()
    write (values) padded(name), int(proxy%vspace%get_ndof_glob(), int64), int(last, int64), &
      int(ids(:last), int64)
    select type (proxy)
    type is (field_real64_proxy_type)
      write (values) proxy%data(:last)
    type is (field_real32_proxy_type)
      write (values) real(proxy%data(:last), real64)
    type is (integer_field_proxy_type)
      write (values) real(proxy%data(:last), real64)
    end select
  end subroutine report_field

  !> Write the matrices of an operator for the cells that this rank owns.
  subroutine report_operator(name, matrices)
    character(*), intent(in) :: name
    real(r_def), intent(in) :: matrices(:, :, :)

    integer(i_def) :: cell, layers

    layers = fine%get_nlayers()
    call begin_matrices(name, layers * size(matrices(1, :, :), kind=i_def))
    do cell = 1, fine%get_last_edge_cell()
      write (values) real(matrices((cell - 1) * layers + 1:cell * layers, :, :), real64)
    end do
  end subroutine report_operator

  !> Write the matrices of a columnwise operator for the columns that this rank owns.
  subroutine report_columns(name, matrices)
    character(*), intent(in) :: name
    real(r_solver), intent(in) :: matrices(:, :, :)

    integer(i_def) :: cell

    call begin_matrices(name, size(matrices(:, :, 1), kind=i_def))
    do cell = 1, fine%get_last_edge_cell()
      write (values) real(matrices(:, :, cell), real64)
    end do
  end subroutine report_columns

  !> Write the name of matrices with so many elements in a column, and the ids of these.
  subroutine begin_matrices(name, each)
    character(*), intent(in) :: name
    integer(i_def), intent(in) :: each

    type(local_mesh_type), pointer :: local
    integer(i_def) :: at, cell, last

    local => fine%get_local_mesh()
    last = fine%get_last_edge_cell()
    write (values) padded(trim(prefix) // '/' // name), &
      int(each * local%get_ncells_global_mesh(), int64), int(each * last, int64), &
      [((int((fine%get_gid_from_lid(cell) - 1) * each + at, int64), at=0, each - 1), cell=1, last)]
  end subroutine begin_matrices

  !> Write the name of a value that every rank has, and the value.
  subroutine write_scalar(name, value)
    character(*), intent(in) :: name
    real(real64), intent(in) :: value

    write (values) padded(name), -1_int64, 1_int64, value
  end subroutine write_scalar

  !> Return a name in as many characters as any.
  function padded(name)
    character(*), intent(in) :: name
    character(longest_name) :: padded

    if (len(name) > longest_name) error stop 'world_mod: a name is too long'
    padded = name
  end function padded

  !> Write a value that every rank has.
  subroutine report_scalar(name, value)
    character(*), intent(in) :: name
    real(r_def), intent(in) :: value

    if (digests_only) then
      digest = digest + digest_of(transfer(value, 1_int64), &
                                  int(global_mpi%get_comm_rank(), int64))
    else
      call write_scalar(trim(prefix) // '/' // name, real(value, real64))
    end if
  end subroutine report_scalar

  !> Write what all fields have come to, and keep them: a number that the values of a field make,
  !> and how many of its halo values are wrong although its flags call them valid. `clean` tells
  !> stages apart that are entered with so many clean levels.
  subroutine report_stage(stage, clean)
    character(*), intent(in) :: stage
    integer(i_def), intent(in), optional :: clean

    character(64) :: name
    real(r_def) :: stale, stale_of_all
    integer :: n

    name = stage
    if (present(clean)) write (name, '(a, i0)') stage, clean
    do n = 1, number_known
      if (is_mutating .and. device_has_memory) call digest_host(n, known(n)%proxy)
      call keep_values(known(n))
    end do
    call exchange_halos(deepest)
    do n = 1, number_known
      associate (entry => known(n))
        stale = number_stale(entry)
        if (digests_only) then
          call digest_field(n, entry%proxy)
          digest = digest + stale
        else
          call report_number(trim(entry%name) // '/' // trim(name), n, entry%proxy)
          call global_mpi%global_sum(stale, stale_of_all)
          call write_scalar(trim(entry%name) // '/' // trim(name) // '/stale', stale_of_all)
        end if
      end associate
    end do
    if (digests_only) call note_stage(digest)
  end subroutine report_stage

  !> Write a number that the values of a field make, over all ranks; NaN if one of them is.
  subroutine report_number(name, number, proxy)
    character(*), intent(in) :: name
    integer, intent(in) :: number
    class(field_parent_proxy_type), intent(in) :: proxy

    real(r_def) :: before, number_of_all

    before = digest
    digest = 0.0_r_def
    call digest_field(number, proxy)
    associate (last => proxy%vspace%get_last_dof_owned())
      select type (proxy)
      type is (field_real64_proxy_type)
        if (any(ieee_is_nan(proxy%data(:last)))) digest = ieee_value(digest, ieee_quiet_nan)
      type is (field_real32_proxy_type)
        if (any(ieee_is_nan(proxy%data(:last)))) digest = ieee_value(digest, ieee_quiet_nan)
      end select
    end associate
    call global_mpi%global_sum(digest, number_of_all)
    digest = before
    call write_scalar(name, number_of_all)
  end subroutine report_number

  !> Add what the host has of a field to the digest, and leave to who looks next what the device has:
  !> where both are called current, and one of them was written unsaid, they differ. Where values
  !> were left out it has what was not brought: that is not looked at.
  subroutine digest_host(number, proxy)
    integer, intent(in) :: number
    class(field_parent_proxy_type), intent(in) :: proxy

    call look_at(proxy)
    call digest_field(number, proxy)
    if (.not. leaves_out()) call put_at(proxy, space_device)
  end subroutine digest_host

  !> Keep the values of a field, and how many levels of its halo are clean, and call all dirty.
  subroutine keep_values(entry)
    type(known_field_type), intent(inout) :: entry

    entry%clean = number_clean(entry%proxy)
    call look_at(entry%proxy)
    call wrote(entry%proxy)
    select type (proxy => entry%proxy)
    type is (field_real64_proxy_type)
      entry%kept_real64 = proxy%data
    type is (field_real32_proxy_type)
      entry%kept_real32 = proxy%data
    type is (integer_field_proxy_type)
      entry%kept_integers = proxy%data
    end select
  end subroutine keep_values

  !> Return how many values of other ranks differ, after an exchange of all halos, from what was kept
  !> before it, though they should not; the field has what was kept again.
  function number_stale(entry) result(number)
    type(known_field_type), intent(inout) :: entry
    real(r_def) :: number

    integer(i_def) :: last

    call look_at(entry%proxy)
    associate (space => entry%proxy%vspace)
      last = space%get_last_dof_owned()
      if (annexed_are_valid) last = space%get_last_dof_annexed()
      if (entry%clean > 0) last = space%get_last_dof_halo(entry%clean)
    end associate
    select type (proxy => entry%proxy)
    type is (field_real64_proxy_type)
      number = real(count(.not. entry%kept_real64(:last) == proxy%data(:last)), r_def)
      proxy%data = entry%kept_real64
    type is (field_real32_proxy_type)
      number = real(count(.not. entry%kept_real32(:last) == proxy%data(:last)), r_def)
      proxy%data = entry%kept_real32
    type is (integer_field_proxy_type)
      number = real(count(entry%kept_integers(:last) /= proxy%data(:last)), r_def)
      proxy%data = entry%kept_integers
    end select
    call wrote(entry%proxy)
    if (entry%clean > 0) call entry%proxy%set_clean(entry%clean)
  end function number_stale

  !> From now on write one number for each field, not all of its values.
  subroutine report_briefly()
    is_brief = .true.
  end subroutine report_briefly

  !> From now on make one number of all answers until a mutation is reported. Fields of an algorithm
  !> that has ended early are forgotten.
  subroutine report_digests()
    digests_only = .true.
    digest = 0.0_r_def
    do while (number_known > 0)
      deallocate (known(number_known)%proxy)
      number_known = number_known - 1
    end do
  end subroutine report_digests

  !> Write, and return as `answer`, the number that the answers with a mutation have made over all
  !> ranks, -1 where the algorithm may have ended early, and whether the mutation came to anything.
  subroutine report_mutation(number, change, algorithm, was_mutated, errors, answer)
    integer(i_def), intent(in) :: number
    character(*), intent(in) :: change
    character(*), intent(in) :: algorithm
    logical, intent(in) :: was_mutated
    integer(i_def), intent(in) :: errors
    real(r_def), intent(out) :: answer

    call global_mpi%global_sum(digest, answer)
    if (is_different()) answer = -1.0_r_def
    write (answers, '(a, 1x, i0, 2(1x, a), 1x, l1, 1x, f0.0, 1x, i0)') trim(prefix), number, &
      trim(change), trim(algorithm), was_mutated, answer, errors
  end subroutine report_mutation

  !> Add the owned dofs of a field to the digest.
  subroutine digest_field(number, proxy)
    integer(i_def), intent(in) :: number
    class(field_parent_proxy_type), intent(in) :: proxy

    integer(i_halo_index), allocatable :: ids(:)
    integer(i_def) :: last

    call proxy%vspace%get_global_dof_id(ids)
    last = proxy%vspace%get_last_dof_owned()
    select type (proxy)
    type is (field_real64_proxy_type)
      digest = digest + sum(digest_of(transfer(proxy%data(:last), 1_int64, int(last)), &
                                      ids(:last) + number))
    type is (field_real32_proxy_type)
      digest = digest + sum(digest_of( &
        int(transfer(proxy%data(:last), 1_int32, int(last)), int64), ids(:last) + number))
    type is (integer_field_proxy_type)
      digest = digest + sum(digest_of(int(proxy%data(:last), int64), ids(:last) + number))
    end select
  end subroutine digest_field

  !> Return an integer that is unlikely to be that of another value or place. Sums of it are
  !> exact.
  elemental function digest_of(bits, place) result(number)
    integer(int64), intent(in) :: bits
    integer(i_halo_index), intent(in) :: place
    real(r_def) :: number

    integer(int64), parameter :: prime = 1000003

    number = real(modulo(modulo(bits, prime) * (modulo(place, 1009_int64) + 1), prime), r_def)
  end function digest_of

end module world_mod
