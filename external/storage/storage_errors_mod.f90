!> Central error reporting of the library.
!>
!> A caller that passes `status` gets a code there, `no_error` for success, and can request the
!> message, which is stored per thread. Without `status`, the program stops.
module storage_errors_mod

  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: error_unit

  implicit none
  private

  public :: report_error, last_error

  character(:), allocatable, save :: last_sentence
  !$omp threadprivate(last_sentence)

contains

  !> Report an error: set `status` to `code` if it is present, otherwise stop the program with
  !> `sentence`.
  subroutine report_error(code, sentence, status)
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: sentence
    integer(c_int), optional, intent(out) :: status

    if (present(status)) then
      status = code
      last_sentence = sentence
    else
      write (error_unit, '(a, i0, 2a)') 'storage error R', code, ': ', sentence
      error stop 1
    end if
  end subroutine report_error

  !> Return the message of the last error that was reported through a status; empty without one.
  function last_error() result(sentence)
    character(:), allocatable :: sentence

    sentence = ''
    if (allocated(last_sentence)) sentence = last_sentence
  end function last_error

end module storage_errors_mod
