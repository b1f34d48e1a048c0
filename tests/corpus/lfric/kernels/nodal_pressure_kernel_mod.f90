!-----------------------------------------------------------------------------
! Corpus kernel: nodal pressure.
!-----------------------------------------------------------------------------
!> @brief Spread cell pressure to the nodes of the cell.
module nodal_pressure_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W0, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: nodal_pressure_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W0), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: nodal_pressure_code
  end type nodal_pressure_kernel_type

  public :: nodal_pressure_code

contains

  !> @brief Spread cell pressure to the nodes of the cell.
  !> @param[in,out] p_node Real field on W0, incremented.
  !> @param[in] pressure Real field on W3.
  subroutine nodal_pressure_code(nlayers, &
                                 p_node, &
                                 pressure, &
                                 ndf_w0, undf_w0, map_w0, &
                                 ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w0, undf_w0, ndf_w3, undf_w3
    real(kind=r_def), intent(inout) :: p_node(undf_w0)
    real(kind=r_def), intent(in) :: pressure(undf_w3)
    integer(kind=i_def), intent(in) :: map_w0(ndf_w0)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_w0
        p_node(map_w0(df)+k) = p_node(map_w0(df)+k) + 0.125_r_def * pressure(map_w3(1)+k)
      end do
    end do

  end subroutine nodal_pressure_code

end module nodal_pressure_kernel_mod
