!-----------------------------------------------------------------------------
! Corpus kernel: sponge damping.
!-----------------------------------------------------------------------------
!> @brief Damp the vertical wind in the layers below the model lid.
module sponge_damping_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           GH_READ, GH_SCALAR
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2v
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: sponge_damping_kernel_type
    private
    type(arg_type) :: meta_args(4) = (/ &
      arg_type(gh_field, gh_real, gh_readwrite, W2v), &
      arg_type(gh_field, gh_real, gh_read, W2v), &
      arg_type(gh_scalar, gh_real, gh_read), &
      arg_type(gh_scalar, gh_real, gh_read)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: sponge_damping_code
  end type sponge_damping_kernel_type

  public :: sponge_damping_code

contains

  !> @brief Damp the vertical wind in the layers below the model lid.
  !> @param[in,out] w Real field on W2v, updated.
  !> @param[in] height Real field on W2v.
  !> @param[in] damping Real scalar.
  !> @param[in] lid Real scalar.
  subroutine sponge_damping_code(nlayers, &
                                 w, &
                                 height, &
                                 damping, &
                                 lid, &
                                 ndf_w2v, undf_w2v, map_w2v)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2v, undf_w2v
    real(kind=r_def), intent(inout) :: w(undf_w2v)
    real(kind=r_def), intent(in) :: height(undf_w2v)
    real(kind=r_def), intent(in) :: damping
    real(kind=r_def), intent(in) :: lid
    integer(kind=i_def), intent(in) :: map_w2v(ndf_w2v)

    integer(kind=i_def) :: k

    do k = 0, nlayers
      if (height(map_w2v(1)+k) > 0.75_r_def * lid) then
        w(map_w2v(1)+k) = w(map_w2v(1)+k) / (1.0_r_def + damping)
      end if
    end do

  end subroutine sponge_damping_code

end module sponge_damping_kernel_mod
