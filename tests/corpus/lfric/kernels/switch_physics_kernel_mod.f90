!-----------------------------------------------------------------------------
! Corpus kernel: switch physics.
!-----------------------------------------------------------------------------
!> @brief Apply a simple scheme, steered by one scalar of each type.
module switch_physics_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           GH_SCALAR, GH_LOGICAL, GH_READ, GH_INTEGER
  use constants_mod, only : i_def, l_def, r_def
  use fs_continuity_mod, only : Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: switch_physics_kernel_type
    private
    type(arg_type) :: meta_args(4) = (/ &
      arg_type(gh_field, gh_real, gh_readwrite, Wtheta), &
      arg_type(gh_scalar, gh_logical, gh_read), &
      arg_type(gh_scalar, gh_integer, gh_read), &
      arg_type(gh_scalar, gh_real, gh_read)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: code => switch_physics_code
  end type switch_physics_kernel_type

  public :: switch_physics_code

contains

  !> @brief Apply a simple scheme, steered by one scalar of each type.
  !> @param[in,out] theta Real field on Wtheta, updated.
  !> @param[in] use_scheme Logical scalar.
  !> @param[in] levels Integer scalar.
  !> @param[in] rate Real scalar.
  subroutine switch_physics_code(nlayers, &
                                 theta, &
                                 use_scheme, &
                                 levels, &
                                 rate, &
                                 ndf_wtheta, undf_wtheta, map_wtheta)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, levels, ndf_wtheta, undf_wtheta
    real(kind=r_def), intent(inout) :: theta(undf_wtheta)
    logical(kind=l_def), intent(in) :: use_scheme
    real(kind=r_def), intent(in) :: rate
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)

    integer(kind=i_def) :: k

    if (use_scheme) then
      do k = 0, min(levels, nlayers)
        theta(map_wtheta(1)+k) = theta(map_wtheta(1)+k) + rate
      end do
    end if

  end subroutine switch_physics_code

end module switch_physics_kernel_mod
