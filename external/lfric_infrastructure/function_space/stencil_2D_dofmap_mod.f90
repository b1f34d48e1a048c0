!> The dofs of the cells around a cell, for the shape that keeps its branches apart.
!>
!> Each branch (W, S, E, N) starts with the cell itself and runs straight outward, also where the
!> cells that it comes to are turned; it ends at a border, and where it is back at the cell itself.
module stencil_2D_dofmap_mod

  use constants_mod, only: i_def
  use linked_list_data_mod, only: linked_list_data_type
  use mesh_mod, only: mesh_type
  use surface_mod, only: sides

  implicit none
  private

  integer(i_def), parameter, public :: STENCIL_2D_CROSS = 6

  !> For every cell the length of the branches, (branch, cell), and their dofs,
  !> (dof, place, branch, cell).
  type, extends(linked_list_data_type), public :: stencil_2D_dofmap_type
    private
    integer(i_def), allocatable :: sizes(:, :)
    integer(i_def), allocatable :: dofmap(:, :, :, :)
  contains
    procedure, non_overridable, public :: get_dofmap
    procedure, non_overridable, public :: get_whole_dofmap
    procedure, non_overridable, public :: get_stencil_sizes
    procedure, non_overridable, public :: clear
  end type stencil_2D_dofmap_type

  interface stencil_2D_dofmap_type
    module procedure new_stencil_2D_dofmap
  end interface stencil_2D_dofmap_type

contains

  !> Return the crosses of a depth over a mesh; `dofmap` holds the dofs of its cells, (dof, cell).
  function new_stencil_2D_dofmap(st_shape, st_depth, mesh, dofmap) result(self)
    integer(i_def), intent(in) :: st_shape
    integer(i_def), intent(in) :: st_depth
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(in) :: dofmap(:, :)
    type(stencil_2D_dofmap_type) :: self

    integer(i_def) :: cell, heading, place, reached, side

    if (st_shape /= STENCIL_2D_CROSS) error stop 'stencil_2D_dofmap_type: unknown shape'
    allocate (self%sizes(sides, mesh%get_ncells_2d()))
    allocate (self%dofmap(size(dofmap, 1), st_depth + 1, sides, mesh%get_ncells_2d()))
    self%dofmap = 0
    do cell = 1, mesh%get_ncells_2d()
      do side = 1, sides
        reached = cell
        heading = side
        do place = 1, st_depth + 1
          self%dofmap(:, place, side, cell) = dofmap(:, reached)
          self%sizes(side, cell) = place
          call mesh%step_ahead(reached, heading)
          if (reached == 0 .or. reached == cell) exit
        end do
      end do
    end do
  end function new_stencil_2D_dofmap

  !> Return the dofs of the stencil of one cell, (dof, place, branch).
  function get_dofmap(self, cell) result(map)
    class(stencil_2D_dofmap_type), target, intent(in) :: self
    integer(i_def), intent(in) :: cell
    integer(i_def), pointer :: map(:, :, :)

    map => self%dofmap(:, :, :, cell)
  end function get_dofmap

  !> Return the dofs of all stencils, (dof, place, branch, cell).
  function get_whole_dofmap(self) result(map)
    class(stencil_2D_dofmap_type), target, intent(in) :: self
    integer(i_def), pointer :: map(:, :, :, :)

    map => self%dofmap
  end function get_whole_dofmap

  !> Return the length of the branches, (branch, cell).
  function get_stencil_sizes(self) result(stencil_sizes)
    class(stencil_2D_dofmap_type), target, intent(in) :: self
    integer(i_def), pointer :: stencil_sizes(:, :)

    stencil_sizes => self%sizes
  end function get_stencil_sizes

  !> Give the memory back.
  subroutine clear(self)
    use storage_tables_mod, only: forget_table

    class(stencil_2D_dofmap_type), intent(inout) :: self

    if (allocated(self%sizes)) then
      call forget_table(self%sizes)
      deallocate (self%sizes)
    end if
    if (allocated(self%dofmap)) then
      call forget_table(self%dofmap)
      deallocate (self%dofmap)
    end if
  end subroutine clear

end module stencil_2D_dofmap_mod
