! Corpus kernel: two kernel types share a module, and neither is named after it.
module two_steps_kernel_mod

  use argument_mod,      only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READ, &
                                GH_READWRITE, GH_WRITE
  use constants_mod,     only : i_def, r_def
  use fs_continuity_mod, only : Wtheta
  use kernel_mod,        only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: forward_step_type
    private
    type(arg_type) :: meta_args(2) = (/ arg_type(GH_FIELD, GH_REAL, GH_WRITE, Wtheta), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, Wtheta) /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: forward_code
  end type forward_step_type

  type, public, extends(kernel_type) :: backward_step_type
    private
    type(arg_type) :: meta_args(2) = (/                  &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, Wtheta), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, Wtheta)       &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: backward_code
  end type backward_step_type

  public :: forward_code, backward_code

contains

  !> Step forward.
  subroutine forward_code(nlayers, next, now, ndf, undf, map)
    integer(i_def), intent(in)    :: nlayers, ndf, undf, map(ndf)
    real(r_def),    intent(inout) :: next(undf)
    real(r_def),    intent(in)    :: now(undf)

    next(map(1):map(1)+nlayers) = now(map(1):map(1)+nlayers)
  end subroutine forward_code

  !> Step backward.
  subroutine backward_code(nlayers, before, now, ndf, undf, map)
    integer(i_def), intent(in)    :: nlayers, ndf, undf, map(ndf)
    real(r_def),    intent(inout) :: before(undf)
    real(r_def),    intent(in)    :: now(undf)

    before(map(1):map(1)+nlayers) = 2.0_r_def * before(map(1):map(1)+nlayers) &
                                  - now(map(1):map(1)+nlayers)
  end subroutine backward_code

end module two_steps_kernel_mod
