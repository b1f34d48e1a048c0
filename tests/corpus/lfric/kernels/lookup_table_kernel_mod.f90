!-----------------------------------------------------------------------------
! Corpus kernel: lookup table.
!-----------------------------------------------------------------------------
!> @brief Interpolate a tracer from tables of each type.
module lookup_table_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, &
                           GH_SCALAR_ARRAY, GH_READ, GH_INTEGER, GH_LOGICAL
  use constants_mod, only : i_def, l_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: lookup_table_kernel_type
    private
    type(arg_type) :: meta_args(4) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_SCALAR_ARRAY, GH_REAL, GH_READ, 2), &
      arg_type(GH_SCALAR_ARRAY, GH_INTEGER, GH_READ, 1), &
      arg_type(GH_SCALAR_ARRAY, GH_LOGICAL, GH_READ, 3)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: lookup_table_code
  end type lookup_table_kernel_type

  public :: lookup_table_code

contains

  !> @brief Interpolate a tracer from tables of each type.
  !> @param[in,out] tracer Real field on W3, overwritten.
  !> @param[in] table Real array of scalars.
  !> @param[in] levels Integer array of scalars.
  !> @param[in] active Logical array of scalars.
  subroutine lookup_table_code(nlayers, &
                               tracer, &
                               dims_table, table, &
                               dims_levels, levels, &
                               dims_active, active, &
                               ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w3, undf_w3
    real(kind=r_def), intent(inout) :: tracer(undf_w3)
    integer(kind=i_def), intent(in) :: dims_table(2)
    real(kind=r_def), intent(in) :: table(dims_table(1), dims_table(2))
    integer(kind=i_def), intent(in) :: dims_levels(1)
    integer(kind=i_def), intent(in) :: levels(dims_levels(1))
    integer(kind=i_def), intent(in) :: dims_active(3)
    logical(kind=l_def), intent(in) :: active(dims_active(1), dims_active(2), dims_active(3))
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      tracer(map_w3(1)+k) = 0.0_r_def
      if (active(1, 1, 1)) tracer(map_w3(1)+k) = table(1, levels(1))
    end do

  end subroutine lookup_table_code

end module lookup_table_kernel_mod
