!-----------------------------------------------------------------------------
! Corpus kernel: seed owned dof.
!-----------------------------------------------------------------------------
!> @brief Set the dofs that this rank owns, and no others.
module seed_owned_dof_kernel_mod

  use argument_mod, only : arg_type, OWNED_DOF, GH_FIELD, GH_REAL, GH_WRITE, GH_SCALAR, &
                           GH_INTEGER, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: seed_owned_dof_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_SCALAR, GH_INTEGER, GH_READ)  &
      /)
    integer :: operates_on = OWNED_DOF
  contains
    procedure, nopass :: seed_owned_dof_code
  end type seed_owned_dof_kernel_type

  public :: seed_owned_dof_code

contains

  !> @brief Set the dofs that this rank owns, and no others.
  !> @param[in,out] noise Real field on W3, overwritten.
  !> @param[in] seed Integer scalar.
  subroutine seed_owned_dof_code(noise, seed)

    implicit none

    integer(kind=i_def), intent(in) :: seed
    real(kind=r_def), intent(inout) :: noise


    noise = real(seed, r_def)

  end subroutine seed_owned_dof_code

end module seed_owned_dof_kernel_mod
