!-----------------------------------------------------------------------------
! Invokes in three routines of one module.
!-----------------------------------------------------------------------------
module several_invokes_several_routines_alg_mod

  use constants_mod, only : r_def
  use field_mod, only : field_type
  use laplacian_kernel_mod, only : laplacian_kernel_type
  use several_invokes_several_routines_alg_mod_psy, only: invoke_0, &
      invoke_1_laplacian_kernel_type, invoke_2

  implicit none

  private
  public :: several_invokes_several_routines_alg
  public :: second_part
  public :: third_part

contains

  !> @brief Invokes in three routines of one module.
  subroutine several_invokes_several_routines_alg(x, y)

    implicit none

    type(field_type), intent(inout) :: x, y

    call invoke_0(x, y)

  end subroutine several_invokes_several_routines_alg

  !> @brief The second routine.
  subroutine second_part(lap, x)

    implicit none

    type(field_type), intent(inout) :: lap, x

    call invoke_1_laplacian_kernel_type(lap, x)

  end subroutine second_part

  !> @brief The third routine.
  subroutine third_part(a, b, total)

    implicit none

    type(field_type), intent(inout) :: a, b
    real(kind=r_def), intent(out) :: total

    call invoke_2(total, a, b)

  end subroutine third_part

end module several_invokes_several_routines_alg_mod
