module damp_alg_mod

  use constants_mod, only : i_def
  use damp_rows_kernel_mod, only : damp_rows_kernel_type
  use field_mod, only : field_type
  use operator_mod, only : operator_type
  use damp_alg_mod_psy, only: invoke_0

  implicit none

contains

  subroutine damp(tracer, rows, levels)

    type(field_type), intent(inout) :: tracer
    type(operator_type), intent(in) :: rows
    integer(i_def), intent(in) :: levels

    call invoke_0(tracer, rows, levels)

  end subroutine damp

end module damp_alg_mod
