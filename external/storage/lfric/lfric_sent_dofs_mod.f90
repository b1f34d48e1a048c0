!> The values that a halo exchange of LFRic sends and receives, derived from the function space,
!> because LFRic does not publish them. Compiled with LFRic or with this project's infrastructure;
!> uses only what both provide.
!>
!> Other ranks need values on those owned cells that are near enough to their cells: the edge cells,
!> and the inner cells up to one depth less. Received values are contiguous after the owned ones. On
!> discontinuous spaces, exactly these values are sent; also where ranks share dofs, if each of
!> these cells is in the halo of another rank.
module lfric_sent_dofs_mod

  use, intrinsic :: iso_c_binding, only: c_int64_t
  use constants_mod, only: i_def
  use function_space_mod, only: function_space_type
  use mesh_mod, only: mesh_type
  use storage_parts_mod, only: box_type

  implicit none
  private

  public :: sent_to_depth, received_to_depth

  integer, parameter :: key_length = 12

  !> Dofs that are sent for all fields on equal spaces, to a depth. LFRic treats spaces as equal if
  !> the first six numbers of the key agree.
  type :: strips_type
    integer(i_def) :: key(key_length) = -1
    type(box_type), allocatable :: sent(:)
  end type strips_type

  type(strips_type), allocatable, save :: known(:)
  integer, save :: number_known = 0

contains

  !> Return the runs of dofs that an exchange of a field sends; the rank sends no other dofs.
  function sent_to_depth(space, depth) result(sent)
    type(function_space_type), pointer, intent(in) :: space
    integer(i_def), intent(in) :: depth
    type(box_type), allocatable :: sent(:)

    integer :: place

    place = place_of(space, depth)
    allocate (sent, source=known(place)%sent)
  end function sent_to_depth

  !> Return the run of dofs that an exchange of a field receives.
  function received_to_depth(space, depth) result(received)
    type(function_space_type), pointer, intent(in) :: space
    integer(i_def), intent(in) :: depth
    type(box_type) :: received(1)

    received(1)%first(1) = int(space%get_last_dof_owned() + 1, c_int64_t)
    received(1)%last(1) = int(space%get_last_dof_halo(depth), c_int64_t)
  end function received_to_depth

  !> Return the index of the strips of a space among the known ones.
  function place_of(space, depth) result(place)
    type(function_space_type), pointer, intent(in) :: space
    integer(i_def), intent(in) :: depth
    integer :: place

    type(strips_type), allocatable :: more(:)
    integer(i_def) :: key(key_length)
    type(mesh_type), pointer :: mesh

    mesh => space%get_mesh()
    key = [mesh%get_id(), space%get_element_order_h(), space%get_element_order_v(), space%which(), &
           space%get_ndata(), depth, space%get_nlayers(), space%get_undf(), &
           space%get_last_dof_owned(), space%get_last_dof_halo(depth), mesh%get_last_edge_cell(), &
           first_sent_cell(mesh, depth)]
    do place = 1, number_known
      if (all(known(place)%key == key)) return
    end do
    if (.not. allocated(known)) allocate (known(8))
    if (number_known == size(known)) then
      allocate (more(2 * number_known))
      more(:number_known) = known
      call move_alloc(more, known)
    end if
    number_known = place
    known(place)%key = key
    known(place)%sent = runs_of(sent_dofs(space, mesh, depth))
  end function place_of

  !> Return for each dof of the rank whether it lies on a cell that is in the halo of another rank
  !> to a depth.
  function sent_dofs(space, mesh, depth) result(is_sent)
    type(function_space_type), pointer, intent(in) :: space
    type(mesh_type), pointer, intent(in) :: mesh
    integer(i_def), intent(in) :: depth
    logical, allocatable :: is_sent(:)

    integer(i_def), pointer :: dofmap(:, :)
    integer(i_def) :: cell, df, owned, values

    owned = space%get_last_dof_owned()
    allocate (is_sent(owned))
    is_sent = .false.
    ! A rank that receives nothing has no neighbours.
    if (space%get_last_dof_halo(depth) <= owned) return
    ! Multiple values per dof are stored layer by layer or dof by dof, and spaces have layers or
    ! levels.
    values = space%get_nlayers()
    if (space%get_ndata() > 1) values = (values + 1) * space%get_ndata()
    dofmap => space%get_whole_dofmap()
    do cell = first_sent_cell(mesh, depth), mesh%get_last_edge_cell()
      do df = 1, space%get_ndf()
        is_sent(dofmap(df, cell):min(dofmap(df, cell) + values - 1, owned)) = .true.
      end do
    end do
  end function sent_dofs

  !> Return the first cell that can be in the halo of another rank to a depth; all owned cells after
  !> it can be, too. This is the first cell of all if LFRic has not computed the inner cells of each
  !> depth, which is optional.
  function first_sent_cell(mesh, depth) result(cell)
    type(mesh_type), pointer, intent(in) :: mesh
    integer(i_def), intent(in) :: depth
    integer(i_def) :: cell

    integer(i_def) :: n

    cell = 1
    if (depth > mesh%get_inner_depth()) return
    do n = 1, depth - 1
      if (mesh%get_num_cells_inner(n) == 0) return
    end do
    cell = mesh%get_last_inner_cell(depth) + 1
  end function first_sent_cell

  !> Return dofs as runs without gaps.
  pure function runs_of(is_there) result(runs)
    logical, intent(in) :: is_there(:)
    type(box_type), allocatable :: runs(:)

    logical :: begins(size(is_there))
    integer :: dof, n

    begins = is_there
    begins(2:) = is_there(2:) .and. .not. is_there(:size(is_there) - 1)
    allocate (runs(count(begins)))
    n = 0
    do dof = 1, size(is_there)
      if (begins(dof)) then
        n = n + 1
        runs(n)%first(1) = int(dof, c_int64_t)
      end if
      if (is_there(dof)) runs(n)%last(1) = int(dof, c_int64_t)
    end do
  end function runs_of

end module lfric_sent_dofs_mod
