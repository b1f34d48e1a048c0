!> Function spaces for the C interface, with their stencils, basis functions and routings.
!>
!> Arguments that would stop a Fortran program are refused before, with a message.
module c_space_mod

  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int64_t
  use, intrinsic :: iso_fortran_env, only: int64
  use c_mesh_mod, only: find_mesh, mesh_object_type
  use constants_mod, only: i_def, i_halo_index, i_long, i_native, i_um, l_def, r_bl, r_def, &
                           r_double, r_native, r_phys, r_second, r_single, r_solver, r_tran, r_um
  use fs_continuity_mod, only: is_fs_horizontally_continuous, name_from_functionspace, W0, Wchi
  use function_space_mod, only: BASIS, DIFF_BASIS, function_space_type
  use halo_routing_mod, only: halo_routing_type
  use handles_mod, only: add_object, done, find_object, object_type, refuse, refused
  use listing_mod, only: entry_type, listing_type
  use mesh_mod, only: mesh_type
  use message_passing_mod, only: swapping_failed
  use stencil_2D_dofmap_mod, only: STENCIL_2D_CROSS, stencil_2D_dofmap_type
  use stencil_dofmap_mod, only: STENCIL_1DX, STENCIL_1DY, STENCIL_CROSS, stencil_dofmap_type, &
                                STENCIL_POINT, STENCIL_REGION

  implicit none
  private

  public :: find_space

  !> A function space, and the tables that it publishes copies of.
  type, extends(object_type), public :: space_object_type
    type(function_space_type), pointer :: space => null()
    integer(i_halo_index), allocatable :: global_ids(:)
    integer(i_def), allocatable :: last_halo_dofs(:)
  contains
    procedure, public :: release => release_space
  end type space_object_type

  !> The most dofs that a cell may have: more than any space has that fits in memory.
  integer(i_def), parameter :: highest_order = 16

contains

  !> Return which space has a name, in small letters; 0 if none has.
  function space_named(name, length) bind(c, name='lfric_space_named') result(which)
    integer(c_int), value :: length
    character(c_char), intent(in) :: name(length)
    integer(c_int) :: which

    character(:), allocatable :: known
    integer :: n

    do which = W0, Wchi
      known = trim(name_from_functionspace(which))
      if (len(known) /= length) cycle
      if (all([(name(n) == small(known(n:n)), n=1, length)])) return
    end do
    which = 0
  end function space_named

  !> Return a letter as a small one.
  pure function small(letter)
    character, intent(in) :: letter
    character :: small

    small = letter
    if (letter >= 'A' .and. letter <= 'Z') small = achar(iachar(letter) + 32)
  end function small

  !> List the kinds of numbers that values may have, each with its size in bits, negative for
  !> integers; return the number of kinds.
  function describe_kinds(entries, room) bind(c, name='lfric_describe_kinds') result(number)
    integer(c_int), value :: room
    type(entry_type), target, intent(inout) :: entries(room)
    integer(c_int) :: number

    type(listing_type) :: list

    call list%into(entries)
    call list%put('r_def', storage_size(1.0_r_def))
    call list%put('r_solver', storage_size(1.0_r_solver))
    call list%put('r_tran', storage_size(1.0_r_tran))
    call list%put('r_bl', storage_size(1.0_r_bl))
    call list%put('r_single', storage_size(1.0_r_single))
    call list%put('r_double', storage_size(1.0_r_double))
    call list%put('r_second', storage_size(1.0_r_second))
    call list%put('r_um', storage_size(1.0_r_um))
    call list%put('r_phys', storage_size(1.0_r_phys))
    call list%put('r_native', storage_size(1.0_r_native))
    call list%put('i_def', -storage_size(1_i_def))
    call list%put('i_um', -storage_size(1_i_um))
    call list%put('i_native', -storage_size(1_i_native))
    call list%put('i_long', -storage_size(1_i_long))
    number = list%number
  end function describe_kinds

  !> Make a function space over a mesh.
  function new_space(mesh, which, orders, ndata, ndata_first, handle, message) &
    bind(c, name='lfric_new_space') result(status)
    integer(c_int64_t), value :: mesh
    integer(c_int), value :: which
    integer(c_int), intent(in) :: orders(2)
    integer(c_int), value :: ndata
    integer(c_int), value :: ndata_first
    integer(c_int64_t), intent(out) :: handle
    character(c_char), intent(out) :: message(*)
    integer(c_int) :: status

    class(object_type), pointer :: object
    type(mesh_object_type), pointer :: over
    type(space_object_type), pointer :: made
    integer(i_def) :: depth

    over => find_mesh(mesh)
    call check_space(over, which, orders, ndata, message, status)
    if (status /= done) return
    allocate (made)
    allocate (made%space)
    made%space = function_space_type(over%mesh, orders(1), orders(2), which, ndata, &
                                     logical(ndata_first /= 0, l_def))
    made%built_on = mesh
    call made%space%get_global_dof_id(made%global_ids)
    made%last_halo_dofs = &
      [(made%space%get_last_dof_halo(depth), depth=1, made%space%get_halo_depth())]
    object => made
    handle = add_object(object)
  end function new_space

  !> See whether there can be a function space over a mesh.
  subroutine check_space(over, which, orders, ndata, message, status)
    type(mesh_object_type), pointer, intent(in) :: over
    integer(c_int), intent(in) :: which
    integer(c_int), intent(in) :: orders(2)
    integer(c_int), intent(in) :: ndata
    character(c_char), intent(out) :: message(*)
    integer(c_int), intent(out) :: status

    integer(int64) :: most_of_cell

    status = done
    if (.not. associated(over)) then
      call refuse('there is no such mesh: it was freed', message, status)
    else if (which < W0 .or. which > Wchi) then
      call refuse('there is no such function space', message, status)
    else if (minval(orders) < 0 .or. maxval(orders) > highest_order) then
      call refuse('the order of an element is from 0 to 16', message, status)
    else if (ndata < 1) then
      call refuse('a dof has at least one value', message, status)
    else
      most_of_cell = 3 * (orders(1) + 2_int64)**2 * (orders(2) + 2_int64) * ndata
      if (most_of_cell > huge(1_i_def) / (over%mesh%get_ncells_2d() * &
                                          (over%mesh%get_nlayers() + 1_int64))) &
        call refuse('there may be more dofs than numbers of 32 bits can count', message, status)
    end if
  end subroutine check_space

  !> Return the space of a handle, nothing if there is none.
  function find_space(handle) result(made)
    integer(c_int64_t), intent(in) :: handle
    type(space_object_type), pointer :: made

    class(object_type), pointer :: object

    made => null()
    object => find_object(handle)
    if (.not. associated(object)) return
    select type (object)
    type is (space_object_type)
      made => object
    end select
  end function find_space

  !> List the properties of a space in at most `room` entries; return the total number of entries, 0
  !> for an unknown handle.
  function describe_space(handle, entries, room) bind(c, name='lfric_describe_space') &
    result(number)
    integer(c_int64_t), value :: handle
    integer(c_int), value :: room
    type(entry_type), target, intent(inout) :: entries(room)
    integer(c_int) :: number

    type(listing_type) :: list
    type(space_object_type), pointer :: made

    number = 0
    made => find_space(handle)
    if (.not. associated(made)) return
    call list%into(entries)
    associate (space => made%space)
      call list%put('ndf', space%get_ndf())
      call list%put('undf', space%get_undf())
      call list%put('ndof_global', space%get_ndof_glob())
      call list%put('ndof_interior', space%get_ndof_interior())
      call list%put('dim_space', space%get_dim_space())
      call list%put('dim_space_diff', space%get_dim_space_diff())
      call list%put('last_dof_owned', space%get_last_dof_owned())
      call list%put('last_dof_annexed', space%get_last_dof_annexed())
      call list%put('is_continuous', &
                    merge(1_i_def, 0_i_def, is_fs_horizontally_continuous(space%which())))
      call list%put('dofmap', space%get_whole_dofmap())
      call list%put('boundary_dofs', space%get_boundary_dofs())
      call list%put('nodes', space%get_nodes())
      call list%put('levels', space%get_levels())
      call list%put('entity_dofs', space%get_entity_dofs())
    end associate
    call list%put('last_halo_dofs', made%last_halo_dofs)
    call list%put('global_dof_ids', made%global_ids)
    number = list%number
  end function describe_space

  !> Show the stencils of a shape, from 1 in the order of the table, and an extent: `dofmap` and
  !> `sizes`.
  function describe_stencil(handle, form, extent, entries, message) &
    bind(c, name='lfric_describe_stencil') result(status)
    integer(c_int64_t), value :: handle
    integer(c_int), value :: form
    integer(c_int), value :: extent
    type(entry_type), target, intent(inout) :: entries(2)
    character(c_char), intent(out) :: message(*)
    integer(c_int) :: status

    integer(i_def), parameter :: forms(6) = [STENCIL_POINT, STENCIL_1DX, STENCIL_1DY, &
                                             STENCIL_CROSS, STENCIL_REGION, STENCIL_2D_CROSS]
    type(listing_type) :: list
    type(space_object_type), pointer :: made
    type(stencil_dofmap_type), pointer :: map
    type(stencil_2D_dofmap_type), pointer :: map_2D

    status = done
    made => find_space(handle)
    if (.not. associated(made)) then
      call refuse('there is no such function space: it was freed', message, status)
    else if (form < 1 .or. form > size(forms)) then
      call refuse('there is no such shape of a stencil', message, status)
    else if (extent < 0) then
      call refuse('the extent of a stencil is not below 0', message, status)
    else if ((2 * real(extent, r_def) + 1)**2 * size(made%space%get_whole_dofmap()) > &
             huge(1_i_def)) then
      call refuse('the extent of the stencil is too large', message, status)
    end if
    if (status /= done) return
    call list%into(entries)
    if (forms(form) == STENCIL_2D_CROSS) then
      map_2D => made%space%get_stencil_2D_dofmap(STENCIL_2D_CROSS, extent)
      call list%put('dofmap', map_2D%get_whole_dofmap())
      call list%put('sizes', map_2D%get_stencil_sizes())
    else
      map => made%space%get_stencil_dofmap(forms(form), extent)
      call list%put('dofmap', map%get_whole_dofmap())
      call list%put('sizes', map%get_stencil_sizes())
    end if
  end function describe_stencil

  !> Describe how an exchange to a depth moves dofs; called on all ranks. Message n to one of the
  !> `receivers` has the runs `sent_begin(n)` to `sent_begin(n + 1) - 1`, each with its first dof;
  !> received messages are described in the same way.
  function describe_routing(handle, depth, entries, message) &
    bind(c, name='lfric_describe_routing') result(status)
    integer(c_int64_t), value :: handle
    integer(c_int), value :: depth
    type(entry_type), target, intent(inout) :: entries(8)
    character(c_char), intent(out) :: message(*)
    integer(c_int) :: status

    type(halo_routing_type), pointer :: routing
    type(listing_type) :: list
    type(space_object_type), pointer :: made

    status = done
    made => find_space(handle)
    if (.not. associated(made)) then
      call refuse('there is no such function space: it was freed', message, status)
    else if (depth < 1 .or. depth > made%space%get_halo_depth()) then
      call refuse('the halo of the mesh is not so deep', message, status)
    end if
    if (status /= done) return
    routing => made%space%get_halo_routing(depth)
    if (swapping_failed()) then
      call made%space%forget_routings()
      call refuse('numbers could not be swapped between ranks', message, status)
      return
    end if
    call list%into(entries)
    call list%put('receivers', routing%plan%receivers)
    call list%put('sent_first', routing%sent_runs%first)
    call list%put('sent_length', routing%sent_runs%length)
    call list%put('sent_begin', routing%sent_runs%begin)
    call list%put('senders', routing%plan%senders)
    call list%put('received_first', routing%received_runs%first)
    call list%put('received_length', routing%received_runs%length)
    call list%put('received_begin', routing%received_runs%begin)
  end function describe_routing

  !> Set basis functions, or their derivatives, at points of the reference cell, (3, point):
  !> (size, dof, point).
  function evaluate_basis(handle, derivatives, number, points, values) &
    bind(c, name='lfric_evaluate_basis') result(status)
    integer(c_int64_t), value :: handle
    integer(c_int), value :: derivatives
    integer(c_int), value :: number
    real(c_double), intent(in) :: points(3, number)
    real(c_double), intent(out) :: values(*)
    integer(c_int) :: status

    type(space_object_type), pointer :: made
    integer(i_def) :: df, first, length, n, what

    status = refused
    made => find_space(handle)
    if (.not. associated(made)) return
    what = merge(DIFF_BASIS, BASIS, derivatives /= 0)
    length = made%space%get_dim_space()
    if (what == DIFF_BASIS) length = made%space%get_dim_space_diff()
    first = 1
    do n = 1, number
      do df = 1, made%space%get_ndf()
        values(first:first + length - 1) = made%space%call_function(what, df, points(:, n))
        first = first + length
      end do
    end do
    status = done
  end function evaluate_basis

  !> Set the coordinates of the first value of every dof, (3, dof), as the shape of its cell has it.
  function dof_coordinates(handle, coordinates) bind(c, name='lfric_dof_coordinates') &
    result(status)
    integer(c_int64_t), value :: handle
    real(c_double), intent(inout) :: coordinates(3, *)
    integer(c_int) :: status

    integer(i_def), pointer :: dofmap(:, :)
    real(r_def), pointer :: nodes(:, :)
    real(r_def) :: corners(3, 8)
    integer(i_def) :: cell, df, k, step
    type(mesh_type), pointer :: mesh
    type(space_object_type), pointer :: made

    status = refused
    made => find_space(handle)
    if (.not. associated(made)) return
    mesh => made%space%get_mesh()
    dofmap => made%space%get_whole_dofmap()
    nodes => made%space%get_nodes()
    step = merge(made%space%get_ndata(), 1_i_def, made%space%is_ndata_first())
    ! Dofs on the seam of a periodic mesh have two positions: that in the first cell is used.
    do cell = mesh%get_ncells_2d(), 1, -1
      do k = mesh%get_nlayers() - 1, 0, -1
        call mesh%get_cell_coords(cell + k * mesh%get_ncells_2d(), corners)
        do df = 1, size(dofmap, 1, i_def)
          coordinates(:, dofmap(df, cell) + k * step) = point_in(corners, nodes(:, df))
        end do
      end do
    end do
    status = done
  end function dof_coordinates

  !> Return the place that a point of the reference cell has in a cell with these corners.
  pure function point_in(corners, xi) result(point)
    real(r_def), intent(in) :: corners(3, 8)
    real(r_def), intent(in) :: xi(3)
    real(r_def) :: point(3)

    real(r_def) :: of_side(4)

    of_side = [(1 - xi(1)) * (1 - xi(2)), xi(1) * (1 - xi(2)), xi(1) * xi(2), (1 - xi(1)) * xi(2)]
    point = (1 - xi(3)) * matmul(corners(:, :4), of_side) + xi(3) * matmul(corners(:, 5:), of_side)
  end function point_in

  !> Give a space back.
  subroutine release_space(self)
    class(space_object_type), intent(inout) :: self

    call self%space%forget_routings()
    call self%space%clear()
    deallocate (self%space)
  end subroutine release_space

end module c_space_mod
