!-----------------------------------------------------------------------------
! Corpus kernel: prolong tracer.
!-----------------------------------------------------------------------------
!> @brief Copy a tracer of a coarse cell to the fine cells inside it.
module prolong_tracer_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, &
                           ANY_DISCONTINUOUS_SPACE_1, GH_FINE, GH_READ, &
                           ANY_DISCONTINUOUS_SPACE_2, GH_COARSE
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: prolong_tracer_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, ANY_DISCONTINUOUS_SPACE_1, mesh_arg=GH_FINE), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_2, mesh_arg=GH_COARSE)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: code => prolong_tracer_code
  end type prolong_tracer_kernel_type

  public :: prolong_tracer_code

contains

  !> @brief Copy a tracer of a coarse cell to the fine cells inside it.
  !> @param[in,out] fine_q Real field on ANY_DISCONTINUOUS_SPACE_1, fine mesh, overwritten.
  !> @param[in] coarse_q Real field on ANY_DISCONTINUOUS_SPACE_2, coarse mesh.
  subroutine prolong_tracer_code(nlayers, &
                                 cell_map, ncell_fine_x, ncell_fine_y, ncell_fine, &
                                 fine_q, &
                                 coarse_q, &
                                 ndf_d1, undf_d1, map_d1, &
                                 undf_d2, map_d2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ncell_fine_x, ncell_fine_y, ncell_fine
    integer(kind=i_def), intent(in) :: ndf_d1, undf_d1, undf_d2
    integer(kind=i_def), intent(in) :: cell_map(ncell_fine_x, ncell_fine_y)
    real(kind=r_def), intent(inout) :: fine_q(undf_d1)
    real(kind=r_def), intent(in) :: coarse_q(undf_d2)
    integer(kind=i_def), intent(in) :: map_d1(ndf_d1, ncell_fine)
    integer(kind=i_def), intent(in) :: map_d2(:)

    integer(kind=i_def) :: k, xf, yf

    do k = 0, nlayers - 1
      do yf = 1, ncell_fine_y
        do xf = 1, ncell_fine_x
          fine_q(map_d1(1, cell_map(xf, yf))+k) = coarse_q(map_d2(1)+k)
        end do
      end do
    end do

  end subroutine prolong_tracer_code

end module prolong_tracer_kernel_mod
