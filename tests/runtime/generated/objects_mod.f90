!> Owns the operators of the generated suite: made with known values, and shown as fields.
!>
!> Values follow from the ids of cells over all ranks. Operators are never exchanged: the cells
!> that every rank must have them for are its own and the first ring of its halo; what is kept for
!> others is NaN.
module objects_mod

  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use columnwise_operator_mod, only: columnwise_operator_proxy_type, columnwise_operator_type
  use constants_mod, only: i_def, r_def, r_solver
  use field_mod, only: field_proxy_type, field_type
  use function_space_collection_mod, only: function_space_collection
  use function_space_mod, only: function_space_type
  use mesh_mod, only: mesh_type
  use mixing_mod, only: folded, weighed
  use mutation_mod, only: is_mutating, leaves_out
  use operator_parent_mod, only: operator_parent_type
  use operator_real32_mod, only: operator_real32_proxy_type, operator_real32_type
  use operator_real64_mod, only: operator_real64_proxy_type, operator_real64_type
  use storage_device_mod, only: device_has_memory
  use storage_constants_mod, only: access_read_write, space_device
  use world_mod, only: fine, orders

  implicit none
  private

  public :: new_matrix, show_matrix

  !> Numbers of an algorithm that it takes from a structure.
  type, public :: settings_type
    integer(i_def) :: reach = 1
  end type settings_type

contains

  !> Make an operator of any type between two spaces of the fine mesh, with values from `seed`.
  subroutine new_matrix(matrix, to, from, seed)
    class(operator_parent_type), target, intent(inout) :: matrix
    integer(i_def), intent(in) :: to
    integer(i_def), intent(in) :: from
    integer(i_def), intent(in) :: seed

    type(function_space_type), pointer :: space_to, space_from
    type(operator_real64_proxy_type) :: in_64
    type(operator_real32_proxy_type) :: in_32
    type(columnwise_operator_proxy_type) :: columns
    integer(i_def) :: cell, first, last

    space_to => function_space_collection%get_fs(fine, orders(1), orders(2), to)
    space_from => function_space_collection%get_fs(fine, orders(1), orders(2), from)
    select type (matrix)
    type is (operator_real64_type)
      call matrix%initialise(space_to, space_from)
      in_64 = matrix%get_proxy()
    type is (operator_real32_type)
      call matrix%initialise(space_to, space_from)
      in_32 = matrix%get_proxy()
    type is (columnwise_operator_type)
      call matrix%initialise(space_to, space_from)
      columns = matrix%get_proxy()
      columns%columnwise_matrix = ieee_value(0.0_r_solver, ieee_quiet_nan)
    end select
    do cell = 1, fine%get_last_halo_cell(1_i_def)
      first = (cell - 1) * fine%get_nlayers() + 1
      last = cell * fine%get_nlayers()
      associate (id => fine%get_gid_from_lid(cell))
        if (associated(in_64%local_stencil)) in_64%local_stencil(first:last, :, :) = &
          values_of(id, seed, [shape(in_64%local_stencil(first:last, :, :))])
        if (associated(in_32%local_stencil)) in_32%local_stencil(first:last, :, :) = real( &
          values_of(id, seed, [shape(in_32%local_stencil(first:last, :, :))]), real32)
        if (associated(columns%columnwise_matrix)) columns%columnwise_matrix(:, :, cell:cell) = &
          real(values_of(id, seed, [shape(columns%columnwise_matrix(:, :, cell:cell))]), r_solver)
      end associate
    end do
  end subroutine new_matrix

  !> Return integers from -8 to 8.
  pure function values_of(id, seed, extents) result(values)
    integer(i_def), intent(in) :: id
    integer(i_def), intent(in) :: seed
    integer(i_def), intent(in) :: extents(3)
    real(real64) :: values(extents(1), extents(2), extents(3))

    integer(i_def) :: n

    values = reshape([(folded(real(37 * id + 11 * n * n + 7 * seed, real64)), &
                       n = 1, product(extents))], extents)
  end function values_of

  !> Put a number that depends on all entries of an operator in a cell into a field on W3: NaN on all
  !> cells of a rank that has something else than the owner for the first ring of its halo. Where
  !> something is mutated it depends on what a device has, too, unless that was not brought.
  subroutine show_matrix(matrix, field)
    class(operator_parent_type), target, intent(in) :: matrix
    type(field_type), intent(in) :: field

    type(field_proxy_type) :: shown
    integer(i_def), pointer :: map(:, :)
    integer(i_def) :: cell, df
    real(r_def), allocatable :: kept(:), numbers(:)

    shown = field%get_proxy()
    call shown%bring_to_host()
    map => shown%vspace%get_whole_dofmap()
    numbers = numbers_of(matrix)
    if (is_mutating .and. device_has_memory) then
      if (.not. leaves_out()) then
        call matrix%values%acquire(space_device, access_read_write)
        call matrix%values%release(space_device)
      end if
      numbers = numbers + 3 * numbers_of(matrix)
    end if
    do cell = 1, size(numbers, kind=i_def)
      do df = 1, size(map, 1)
        shown%data(map(df, cell):map(df, cell) + fine%get_nlayers() - 1) = numbers(cell)
      end do
    end do
    kept = shown%data(:shown%vspace%get_last_dof_halo(1_i_def))
    call shown%set_dirty()
    call shown%halo_exchange(1_i_def)
    if (any(.not. kept == shown%data(:size(kept)))) &
      shown%data = ieee_value(0.0_r_def, ieee_quiet_nan)
    call shown%set_dirty()
    call shown%set_clean(1_i_def)
  end subroutine show_matrix

  !> Return a number that depends on all entries of an operator, as the host has them, for each cell
  !> that every rank must have it for.
  function numbers_of(matrix) result(numbers)
    class(operator_parent_type), target, intent(in) :: matrix
    real(r_def), allocatable :: numbers(:)

    type(operator_real64_proxy_type) :: in_64
    type(operator_real32_proxy_type) :: in_32
    type(columnwise_operator_proxy_type) :: columns
    integer(i_def) :: cell, first, last

    allocate (numbers(fine%get_last_halo_cell(1_i_def)))
    do cell = 1, size(numbers, kind=i_def)
      first = (cell - 1) * fine%get_nlayers() + 1
      last = cell * fine%get_nlayers()
      select type (matrix)
      type is (operator_real64_type)
        in_64 = matrix%get_proxy()
        call in_64%bring_to_host()
        numbers(cell) = weighed([in_64%local_stencil(first:last, :, :)])
      type is (operator_real32_type)
        in_32 = matrix%get_proxy()
        call in_32%bring_to_host()
        numbers(cell) = weighed([in_32%local_stencil(first:last, :, :)])
      type is (columnwise_operator_type)
        columns = matrix%get_proxy()
        call columns%bring_to_host()
        numbers(cell) = weighed([columns%columnwise_matrix(:, :, cell)])
      end select
    end do
  end function numbers_of

end module objects_mod
