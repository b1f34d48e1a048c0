!-----------------------------------------------------------------------------
! Corpus kernel: trace average.
!-----------------------------------------------------------------------------
!> @brief Average broken winds onto the facets of the mesh.
module trace_average_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2trace, W2broken
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: trace_average_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W2trace), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2broken)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: trace_average_code
  end type trace_average_kernel_type

  public :: trace_average_code

contains

  !> @brief Average broken winds onto the facets of the mesh.
  !> @param[in,out] facet Real field on W2trace, incremented.
  !> @param[in] u_broken Real field on W2broken.
  subroutine trace_average_code(nlayers, &
                                facet, &
                                u_broken, &
                                ndf_w2trace, undf_w2trace, map_w2trace, &
                                ndf_w2broken, undf_w2broken, map_w2broken)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2trace, undf_w2trace
    integer(kind=i_def), intent(in) :: ndf_w2broken, undf_w2broken
    real(kind=r_def), intent(inout) :: facet(undf_w2trace)
    real(kind=r_def), intent(in) :: u_broken(undf_w2broken)
    integer(kind=i_def), intent(in) :: map_w2trace(ndf_w2trace)
    integer(kind=i_def), intent(in) :: map_w2broken(ndf_w2broken)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_w2trace
        facet(map_w2trace(df)+k) = facet(map_w2trace(df)+k) + 0.5_r_def &
            * u_broken(map_w2broken(df)+k)
      end do
    end do

  end subroutine trace_average_code

end module trace_average_kernel_mod
