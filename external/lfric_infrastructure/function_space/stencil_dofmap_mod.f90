!> The dofs of the cells around a cell, for the shapes that are one list of cells.
!>
!> The cell itself comes first, then the branches W, S, E, N, each straight outward, also where the
!> cells that it comes to are turned. A region adds after each cell of a branch those to its side:
!> W turns to S, S to E, E to N, N to W. A cell that is met twice, on a small mesh or where three
!> cells meet, is listed once; one beyond a border is left out.
module stencil_dofmap_mod

  use constants_mod, only: i_def
  use linked_list_data_mod, only: linked_list_data_type
  use mesh_mod, only: mesh_type
  use surface_mod, only: sides

  implicit none
  private

  integer(i_def), parameter, public :: STENCIL_POINT = 1
  integer(i_def), parameter, public :: STENCIL_1DX = 2
  integer(i_def), parameter, public :: STENCIL_1DY = 3
  integer(i_def), parameter, public :: STENCIL_CROSS = 4
  integer(i_def), parameter, public :: STENCIL_REGION = 5

  !> For every cell the number of cells in its stencil and their dofs, (dof, place, cell).
  type, extends(linked_list_data_type), public :: stencil_dofmap_type
    private
    integer(i_def), allocatable :: sizes(:)
    integer(i_def), allocatable :: dofmap(:, :, :)
  contains
    procedure, non_overridable, public :: get_dofmap
    procedure, non_overridable, public :: get_whole_dofmap
    procedure, non_overridable, public :: get_size
    procedure, non_overridable, public :: get_local_size
    procedure, non_overridable, public :: get_stencil_sizes
    procedure, non_overridable, public :: clear
  end type stencil_dofmap_type

  interface stencil_dofmap_type
    module procedure new_stencil_dofmap
  end interface stencil_dofmap_type

contains

  !> Return the stencils of a shape and a depth over a mesh; `dofmap` holds the dofs of its
  !> cells, (dof, cell).
  function new_stencil_dofmap(st_shape, st_depth, mesh, dofmap) result(self)
    integer(i_def), intent(in) :: st_shape
    integer(i_def), intent(in) :: st_depth
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(in) :: dofmap(:, :)
    type(stencil_dofmap_type) :: self

    integer(i_def) :: cells(most_cells(st_shape, st_depth))
    integer(i_def) :: cell

    allocate (self%sizes(mesh%get_ncells_2d()))
    allocate (self%dofmap(size(dofmap, 1), size(cells), mesh%get_ncells_2d()))
    self%dofmap = 0
    do cell = 1, mesh%get_ncells_2d()
      call gather_cells(mesh, cell, st_shape, st_depth, cells, self%sizes(cell))
      self%dofmap(:, :self%sizes(cell), cell) = dofmap(:, cells(:self%sizes(cell)))
    end do
  end function new_stencil_dofmap

  !> Return the number of cells of a stencil that meets no border.
  pure function most_cells(st_shape, st_depth) result(ncells)
    integer(i_def), intent(in) :: st_shape
    integer(i_def), intent(in) :: st_depth
    integer(i_def) :: ncells

    select case (st_shape)
    case (STENCIL_1DX, STENCIL_1DY)
      ncells = 2 * st_depth + 1
    case (STENCIL_CROSS)
      ncells = 4 * st_depth + 1
    case (STENCIL_REGION)
      ncells = (2 * st_depth + 1)**2
    case default
      ncells = 1
    end select
  end function most_cells

  !> Set the cells around a cell and their number.
  subroutine gather_cells(mesh, origin, st_shape, st_depth, cells, ncells)
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(in) :: origin
    integer(i_def), intent(in) :: st_shape
    integer(i_def), intent(in) :: st_depth
    integer(i_def), intent(out) :: cells(:)
    integer(i_def), intent(out) :: ncells

    integer(i_def) :: branch_cell, heading, side, side_cell, side_heading, step, side_step

    cells = 0
    cells(1) = origin
    ncells = 1
    do side = 1, sides
      if (.not. has_branch(st_shape, side)) cycle
      branch_cell = origin
      heading = side
      do step = 1, st_depth
        call advance(branch_cell, heading)
        if (st_shape /= STENCIL_REGION) cycle
        side_cell = branch_cell
        side_heading = modulo(heading, sides) + 1
        do side_step = 1, st_depth
          call advance(side_cell, side_heading)
        end do
      end do
    end do

  contains

    !> Move a cell one step ahead and list it; a cell beyond a border stays 0.
    subroutine advance(cell, to_side)
      integer(i_def), intent(inout) :: cell
      integer(i_def), intent(inout) :: to_side

      if (cell > 0) call mesh%step_ahead(cell, to_side)
      if (cell == 0) return
      if (any(cells(:ncells) == cell)) return
      ncells = ncells + 1
      cells(ncells) = cell
    end subroutine advance

  end subroutine gather_cells

  !> Return whether a shape reaches out to a side (W, S, E, N).
  pure function has_branch(st_shape, side)
    integer(i_def), intent(in) :: st_shape
    integer(i_def), intent(in) :: side
    logical :: has_branch

    select case (st_shape)
    case (STENCIL_1DX)
      has_branch = modulo(side, 2) == 1
    case (STENCIL_1DY)
      has_branch = modulo(side, 2) == 0
    case default
      has_branch = st_shape /= STENCIL_POINT
    end select
  end function has_branch

  !> Return the dofs of the stencil of one cell, (dof, place).
  function get_dofmap(self, cell) result(map)
    class(stencil_dofmap_type), target, intent(in) :: self
    integer(i_def), intent(in) :: cell
    integer(i_def), pointer :: map(:, :)

    map => self%dofmap(:, :, cell)
  end function get_dofmap

  !> Return the dofs of all stencils, (dof, place, cell).
  function get_whole_dofmap(self) result(map)
    class(stencil_dofmap_type), target, intent(in) :: self
    integer(i_def), pointer :: map(:, :, :)

    map => self%dofmap
  end function get_whole_dofmap

  !> Return the number of cells of the largest stencil.
  function get_size(self) result(stencil_size)
    class(stencil_dofmap_type), target, intent(in) :: self
    integer(i_def) :: stencil_size

    stencil_size = size(self%dofmap, 2, i_def)
  end function get_size

  !> Return the number of cells in the stencil of one cell.
  function get_local_size(self, cell) result(stencil_size)
    class(stencil_dofmap_type), target, intent(in) :: self
    integer(i_def), intent(in) :: cell
    integer(i_def) :: stencil_size

    stencil_size = self%sizes(cell)
  end function get_local_size

  !> Return the number of cells in the stencil of every cell.
  function get_stencil_sizes(self) result(stencil_sizes)
    class(stencil_dofmap_type), target, intent(in) :: self
    integer(i_def), pointer :: stencil_sizes(:)

    stencil_sizes => self%sizes
  end function get_stencil_sizes

  !> Give the memory back.
  subroutine clear(self)
    use storage_tables_mod, only: forget_table

    class(stencil_dofmap_type), intent(inout) :: self

    if (allocated(self%sizes)) then
      call forget_table(self%sizes)
      deallocate (self%sizes)
    end if
    if (allocated(self%dofmap)) then
      call forget_table(self%dofmap)
      deallocate (self%dofmap)
    end if
  end subroutine clear

end module stencil_dofmap_mod
