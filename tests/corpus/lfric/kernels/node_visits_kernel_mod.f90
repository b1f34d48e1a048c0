!-----------------------------------------------------------------------------
! Corpus kernel: node visits.
!-----------------------------------------------------------------------------
!> @brief Count how many cells touch each node.
module node_visits_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_INTEGER, GH_INC, GH_READ
  use constants_mod, only : i_def
  use fs_continuity_mod, only : W0, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: node_visits_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_INTEGER, GH_INC, W0), &
      arg_type(GH_FIELD, GH_INTEGER, GH_READ, W3)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: node_visits_code
  end type node_visits_kernel_type

  public :: node_visits_code

contains

  !> @brief Count how many cells touch each node.
  !> @param[in,out] visits Integer field on W0, incremented.
  !> @param[in] active Integer field on W3.
  subroutine node_visits_code(nlayers, &
                              visits, &
                              active, &
                              ndf_w0, undf_w0, map_w0, &
                              ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w0, undf_w0, ndf_w3, undf_w3
    integer(kind=i_def), intent(inout) :: visits(undf_w0)
    integer(kind=i_def), intent(in) :: active(undf_w3)
    integer(kind=i_def), intent(in) :: map_w0(ndf_w0)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      visits(map_w0(:)+k) = visits(map_w0(:)+k) + active(map_w3(1)+k)
    end do

  end subroutine node_visits_code

end module node_visits_kernel_mod
