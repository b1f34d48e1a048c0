!-----------------------------------------------------------------------------
! Corpus kernel: restrict tracer.
!-----------------------------------------------------------------------------
!> @brief Average fine cells into the coarse cell around them.
module restrict_tracer_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, &
                           ANY_DISCONTINUOUS_SPACE_1, GH_COARSE, GH_READ, &
                           ANY_DISCONTINUOUS_SPACE_2, GH_FINE
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: restrict_tracer_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_field, gh_real, gh_write, ANY_DISCONTINUOUS_SPACE_1, mesh_arg=gh_coarse), &
      arg_type(gh_field, gh_real, gh_read, ANY_DISCONTINUOUS_SPACE_2, mesh_arg=gh_fine)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: restrict_tracer_code
  end type restrict_tracer_kernel_type

  public :: restrict_tracer_code

contains

  !> @brief Average fine cells into the coarse cell around them.
  !> @param[in,out] coarse_q Real field on ANY_DISCONTINUOUS_SPACE_1, coarse mesh, overwritten.
  !> @param[in] fine_q Real field on ANY_DISCONTINUOUS_SPACE_2, fine mesh.
  subroutine restrict_tracer_code(nlayers, &
                                  cell_map, ncell_fine_x, ncell_fine_y, ncell_fine, &
                                  coarse_q, &
                                  fine_q, &
                                  undf_d1, map_d1, &
                                  ndf_d2, undf_d2, map_d2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ncell_fine_x, ncell_fine_y, ncell_fine
    integer(kind=i_def), intent(in) :: undf_d1, ndf_d2, undf_d2
    integer(kind=i_def), intent(in) :: cell_map(ncell_fine_x, ncell_fine_y)
    real(kind=r_def), intent(inout) :: coarse_q(undf_d1)
    real(kind=r_def), intent(in) :: fine_q(undf_d2)
    integer(kind=i_def), intent(in) :: map_d1(:)
    integer(kind=i_def), intent(in) :: map_d2(ndf_d2, ncell_fine)

    integer(kind=i_def) :: k, xf, yf

    do k = 0, nlayers - 1
      coarse_q(map_d1(1)+k) = 0.0_r_def
      do yf = 1, ncell_fine_y
        do xf = 1, ncell_fine_x
          coarse_q(map_d1(1)+k) = coarse_q(map_d1(1)+k) &
              + fine_q(map_d2(1, cell_map(xf, yf))+k)
        end do
      end do
    end do

  end subroutine restrict_tracer_code

end module restrict_tracer_kernel_mod
