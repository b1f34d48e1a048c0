!-----------------------------------------------------------------------------
! Corpus kernel: normal components.
!-----------------------------------------------------------------------------
!> @brief Project the wind on the normals of the horizontal and vertical faces.
module normal_components_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ, &
                           reference_element_data_type, normals_to_horizontal_faces, &
                           normals_to_vertical_faces
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: normal_components_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2)  &
      /)
    type(reference_element_data_type) :: meta_reference_element(2) = (/ &
      reference_element_data_type(normals_to_horizontal_faces), &
      reference_element_data_type(normals_to_vertical_faces)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: normal_components_code
  end type normal_components_kernel_type

  public :: normal_components_code

contains

  !> @brief Project the wind on the normals of the horizontal and vertical faces.
  !> @param[in,out] u_n Real field on W2, incremented.
  !> @param[in] u Real field on W2.
  subroutine normal_components_code(nlayers, &
                                    u_n, &
                                    u, &
                                    ndf_w2, undf_w2, map_w2, &
                                    nfaces_re_h, nfaces_re_v, &
                                    normals_to_horizontal_faces, &
                                    normals_to_vertical_faces)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2, undf_w2, nfaces_re_h
    integer(kind=i_def), intent(in) :: nfaces_re_v
    real(kind=r_def), intent(inout) :: u_n(undf_w2)
    real(kind=r_def), intent(in) :: u(undf_w2)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    real(kind=r_def), intent(in) :: normals_to_horizontal_faces(3, nfaces_re_h)
    real(kind=r_def), intent(in) :: normals_to_vertical_faces(3, nfaces_re_v)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      u_n(map_w2(1)+k) = u_n(map_w2(1)+k) + u(map_w2(1)+k) &
          * normals_to_horizontal_faces(1, nfaces_re_h) &
        + normals_to_vertical_faces(3, nfaces_re_v)
    end do

  end subroutine normal_components_code

end module normal_components_kernel_mod
