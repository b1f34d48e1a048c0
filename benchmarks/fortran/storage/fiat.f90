!> The names of ECMWF's library that FIELD_API uses of it, for programs of one process.
module ec_parkind

  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64

  implicit none

  integer, parameter :: jpim = int32, jpib = int64, jprm = real32, jprd = real64
  integer, parameter :: jplm = kind(.true.)

end module ec_parkind

module oml_mod

  use omp_lib, only: omp_get_max_threads, omp_get_thread_num

  implicit none

contains

  integer function oml_max_threads()
    oml_max_threads = omp_get_max_threads()
  end function oml_max_threads

  integer function oml_my_thread()
    oml_my_thread = omp_get_thread_num() + 1
  end function oml_my_thread

end module oml_mod

subroutine abor1(text)
  character(*), intent(in) :: text

  error stop text
end subroutine abor1
