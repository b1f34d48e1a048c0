!-----------------------------------------------------------------------------
! Corpus kernel: outward flux.
!-----------------------------------------------------------------------------
!> @brief Flux out of a cell through all faces.
module outward_flux_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ, &
                           reference_element_data_type, outward_normals_to_faces, &
                           normals_to_faces
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: outward_flux_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2)  &
      /)
    type(reference_element_data_type) :: meta_reference_element(2) = (/ &
      reference_element_data_type(outward_normals_to_faces), &
      reference_element_data_type(normals_to_faces)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: outward_flux_code
  end type outward_flux_kernel_type

  public :: outward_flux_code

contains

  !> @brief Flux out of a cell through all faces.
  !> @param[in,out] out Real field on W3, overwritten.
  !> @param[in] u Real field on W2.
  subroutine outward_flux_code(nlayers, &
                               out, &
                               u, &
                               ndf_w3, undf_w3, map_w3, &
                               ndf_w2, undf_w2, map_w2, &
                               nfaces_re, outward_normals_to_faces, normals_to_faces)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w3, undf_w3, ndf_w2, undf_w2
    integer(kind=i_def), intent(in) :: nfaces_re
    real(kind=r_def), intent(inout) :: out(undf_w3)
    real(kind=r_def), intent(in) :: u(undf_w2)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    real(kind=r_def), intent(in) :: outward_normals_to_faces(3, nfaces_re)
    real(kind=r_def), intent(in) :: normals_to_faces(3, nfaces_re)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      out(map_w3(1)+k) = sum(outward_normals_to_faces(1, :)) * u(map_w2(1)+k) &
          + sum(normals_to_faces(2, :))
    end do

  end subroutine outward_flux_code

end module outward_flux_kernel_mod
