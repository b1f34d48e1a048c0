!-----------------------------------------------------------------------------
! Corpus kernel: readinc stencil.
!-----------------------------------------------------------------------------
!> @brief Increment a flux that is read, with a wide stencil on the tracer.
module readinc_stencil_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READINC, &
                           GH_READ, STENCIL, CROSS
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: readinc_stencil_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READINC, W2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(CROSS))  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: readinc_stencil_code
  end type readinc_stencil_kernel_type

  public :: readinc_stencil_code

contains

  !> @brief Increment a flux that is read, with a wide stencil on the tracer.
  !> @param[in,out] flux Real field on W2, read and incremented.
  !> @param[in] tracer Real field on W3, read through a stencil (cross).
  subroutine readinc_stencil_code(nlayers, &
                                  flux, &
                                  tracer, tracer_size, tracer_stencil, &
                                  ndf_w2, undf_w2, map_w2, &
                                  ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, tracer_size, ndf_w2, undf_w2, ndf_w3
    integer(kind=i_def), intent(in) :: undf_w3
    real(kind=r_def), intent(inout) :: flux(undf_w2)
    real(kind=r_def), intent(in) :: tracer(undf_w3)
    integer(kind=i_def), intent(in) :: tracer_stencil(ndf_w3, tracer_size)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      flux(map_w2(:)+k) = flux(map_w2(:)+k) + flux(map_w2(1)+k) &
          * tracer(tracer_stencil(1, tracer_size)+k)
    end do

  end subroutine readinc_stencil_code

end module readinc_stencil_kernel_mod
