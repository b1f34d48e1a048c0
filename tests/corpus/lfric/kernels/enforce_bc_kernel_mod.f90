!-----------------------------------------------------------------------------
! Corpus kernel: enforce bc.
!-----------------------------------------------------------------------------
!> @brief Set a field to zero on the lower and upper boundary.
module enforce_bc_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_1
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: enforce_bc_kernel_type
    private
    type(arg_type) :: meta_args(1) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_1)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: enforce_bc_code
  end type enforce_bc_kernel_type

  public :: enforce_bc_code

contains

  !> @brief Set a field to zero on the lower and upper boundary.
  !> @param[in,out] x Real field on ANY_SPACE_1, incremented.
  subroutine enforce_bc_code(nlayers, &
                             x, &
                             ndf_s1, undf_s1, map_s1, boundary_dofs)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_s1, undf_s1
    real(kind=r_def), intent(inout) :: x(undf_s1)
    integer(kind=i_def), intent(in) :: map_s1(ndf_s1)
    integer(kind=i_def), intent(in) :: boundary_dofs(ndf_s1, 2)

    integer(kind=i_def) :: df

    do df = 1, ndf_s1
      x(map_s1(df)) = x(map_s1(df)) * real(boundary_dofs(df, 1), r_def)
      x(map_s1(df)+nlayers-1) = x(map_s1(df)+nlayers-1) &
          * real(boundary_dofs(df, 2), r_def)
    end do

  end subroutine enforce_bc_code

end module enforce_bc_kernel_mod
