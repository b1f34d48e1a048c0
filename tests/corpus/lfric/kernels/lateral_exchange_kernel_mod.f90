!-----------------------------------------------------------------------------
! Corpus kernel: lateral exchange.
!-----------------------------------------------------------------------------
!> @brief Exchange with the neighbour on each lateral face.
module lateral_exchange_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           GH_SCALAR, GH_READ, mesh_data_type, adjacent_face
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: lateral_exchange_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_field, gh_real, gh_readwrite, W3), &
      arg_type(gh_scalar, gh_real, gh_read)  &
      /)
    type(mesh_data_type) :: meta_mesh(1) = (/ &
      mesh_data_type(adjacent_face)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: lateral_exchange_code
  end type lateral_exchange_kernel_type

  public :: lateral_exchange_code

contains

  !> @brief Exchange with the neighbour on each lateral face.
  !> @param[in,out] tracer Real field on W3, updated.
  !> @param[in] rate Real scalar.
  subroutine lateral_exchange_code(nlayers, &
                                   tracer, &
                                   rate, &
                                   ndf_w3, undf_w3, map_w3, &
                                   nfaces_re_h, adjacent_face)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w3, undf_w3, nfaces_re_h
    real(kind=r_def), intent(inout) :: tracer(undf_w3)
    real(kind=r_def), intent(in) :: rate
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: adjacent_face(nfaces_re_h)

    integer(kind=i_def) :: face

    do face = 1, nfaces_re_h
      tracer(map_w3(1)) = tracer(map_w3(1)) + rate * real(adjacent_face(face), r_def)
    end do

  end subroutine lateral_exchange_code

end module lateral_exchange_kernel_mod
