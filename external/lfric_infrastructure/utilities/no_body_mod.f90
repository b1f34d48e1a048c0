!> Owns the way in which a procedure that is an interface only says so.
!>
!> Such a procedure exists so that callers can be compiled and checked; running it is a mistake.
module no_body_mod

  use, intrinsic :: iso_fortran_env, only: error_unit

  implicit none
  private

  public :: no_body

contains

  !> Stop the program because `procedure_name` (as `type%binding`) is an interface without a body.
  subroutine no_body(procedure_name)
    character(*), intent(in) :: procedure_name

    write (error_unit, '(3a)') 'lfric infrastructure interface: ', procedure_name, ' has no body'
    error stop 1
  end subroutine no_body

end module no_body_mod
