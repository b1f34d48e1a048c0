!-----------------------------------------------------------------------------
! Corpus kernel: facet penalty.
!-----------------------------------------------------------------------------
!> @brief Penalise jumps across vertical and horizontal facets.
module facet_penalty_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, &
                           GH_READWRITE, GH_SCALAR, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2Htrace, W2Vtrace
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: facet_penalty_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(gh_field, gh_real, gh_inc, W2Htrace), &
      arg_type(gh_field, gh_real, gh_readwrite, W2Vtrace), &
      arg_type(gh_scalar, gh_real, gh_read)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: facet_penalty_code
  end type facet_penalty_kernel_type

  public :: facet_penalty_code

contains

  !> @brief Penalise jumps across vertical and horizontal facets.
  !> @param[in,out] side Real field on W2Htrace, incremented.
  !> @param[in,out] lid Real field on W2Vtrace, updated.
  !> @param[in] penalty Real scalar.
  subroutine facet_penalty_code(nlayers, &
                                side, &
                                lid, &
                                penalty, &
                                ndf_w2htrace, undf_w2htrace, map_w2htrace, &
                                ndf_w2vtrace, undf_w2vtrace, map_w2vtrace)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2htrace, undf_w2htrace
    integer(kind=i_def), intent(in) :: ndf_w2vtrace, undf_w2vtrace
    real(kind=r_def), intent(inout) :: side(undf_w2htrace)
    real(kind=r_def), intent(inout) :: lid(undf_w2vtrace)
    real(kind=r_def), intent(in) :: penalty
    integer(kind=i_def), intent(in) :: map_w2htrace(ndf_w2htrace)
    integer(kind=i_def), intent(in) :: map_w2vtrace(ndf_w2vtrace)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_w2htrace
        side(map_w2htrace(df)+k) = side(map_w2htrace(df)+k) + penalty &
            * lid(map_w2vtrace(1)+k)
      end do
      lid(map_w2vtrace(1)+k) = (1.0_r_def - penalty) * lid(map_w2vtrace(1)+k)
    end do

  end subroutine facet_penalty_code

end module facet_penalty_kernel_mod
