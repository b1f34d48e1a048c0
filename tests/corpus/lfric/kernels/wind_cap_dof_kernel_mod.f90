!-----------------------------------------------------------------------------
! Corpus kernel: wind cap dof.
!-----------------------------------------------------------------------------
!> @brief Cap the wind at each dof of a continuous space.
module wind_cap_dof_kernel_mod

  use argument_mod, only : arg_type, DOF, GH_FIELD, GH_REAL, GH_READWRITE, GH_INTEGER, &
                           GH_WRITE, GH_SCALAR, GH_READ, GH_LOGICAL
  use constants_mod, only : i_def, l_def, r_def
  use fs_continuity_mod, only : W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: wind_cap_dof_kernel_type
    private
    type(arg_type) :: meta_args(4) = (/ &
      arg_type(gh_field, gh_real, gh_readwrite, W2), &
      arg_type(gh_field, gh_integer, gh_write, W2), &
      arg_type(gh_scalar, gh_real, gh_read), &
      arg_type(gh_scalar, gh_logical, gh_read)  &
      /)
    integer :: operates_on = DOF
  contains
    procedure, nopass :: wind_cap_dof_code
  end type wind_cap_dof_kernel_type

  public :: wind_cap_dof_code

contains

  !> @brief Cap the wind at each dof of a continuous space.
  !> @param[in,out] u Real field on W2, updated.
  !> @param[in,out] hits Integer field on W2, overwritten.
  !> @param[in] cap Real scalar.
  !> @param[in] count_hits Logical scalar.
  subroutine wind_cap_dof_code(u, &
                               hits, &
                               cap, &
                               count_hits)

    implicit none

    real(kind=r_def), intent(inout) :: u
    integer(kind=i_def), intent(inout) :: hits
    real(kind=r_def), intent(in) :: cap
    logical(kind=l_def), intent(in) :: count_hits


    hits = 0_i_def
    if (count_hits .and. abs(u) > cap) hits = 1_i_def
    u = min(u, cap)

  end subroutine wind_cap_dof_code

end module wind_cap_dof_kernel_mod
