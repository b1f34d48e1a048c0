!> The names of the library that LFRic reads and writes files with. Nothing is read or written here:
!> each function says that it has failed.
module netcdf

  implicit none

  integer, parameter :: nf90_max_name = 256, nf90_write = 1, nf90_nowrite = 0, nf90_noerr = 0
  integer, parameter :: nf90_int = 4, nf90_double = 6, nf90_clobber = 0, nf90_64bit_offset = 512

contains

  function nf90_open(path, mode, ncid) result(s)
    character(*), intent(in) :: path
    integer, intent(in) :: mode
    integer, intent(out) :: ncid
    integer :: s
    ncid = 0
    s = 1
  end function nf90_open

  function nf90_create(path, cmode, ncid) result(s)
    character(*), intent(in) :: path
    integer, intent(in) :: cmode
    integer, intent(out) :: ncid
    integer :: s
    ncid = 0
    s = 1
  end function nf90_create

  function nf90_strerror(code) result(s)
    integer, intent(in) :: code
    character(80) :: s
    s = 'no files'
  end function nf90_strerror

  function nf90_close(ncid) result(s)
    integer, intent(in) :: ncid
    integer :: s
    s = 1
  end function nf90_close

  function nf90_enddef(ncid) result(s)
    integer, intent(in) :: ncid
    integer :: s
    s = 1
  end function nf90_enddef

  function nf90_redef(ncid) result(s)
    integer, intent(in) :: ncid
    integer :: s
    s = 1
  end function nf90_redef

  function nf90_put_var(ncid, varid, values) result(s)
    integer, intent(in) :: ncid, varid
    type(*), intent(in) :: values(..)
    integer :: s
    s = 1
  end function nf90_put_var

  function nf90_get_var(ncid, varid, values) result(s)
    integer, intent(in) :: ncid, varid
    type(*) :: values(..)
    integer :: s
    s = 1
  end function nf90_get_var

  function nf90_get_att(ncid, varid, name, values) result(s)
    integer, intent(in) :: ncid, varid
    character(*), intent(in) :: name
    type(*) :: values(..)
    integer :: s
    s = 1
  end function nf90_get_att

  function nf90_put_att(ncid, varid, name, values) result(s)
    integer, intent(in) :: ncid, varid
    character(*), intent(in) :: name
    type(*), intent(in) :: values(..)
    integer :: s
    s = 1
  end function nf90_put_att

  function nf90_inquire(ncid, nDimensions, nVariables) result(s)
    integer, intent(in) :: ncid
    integer, optional :: nDimensions, nVariables
    integer :: s
    s = 1
  end function nf90_inquire

  function nf90_inquire_variable(ncid, varid, name, xtype, ndims, dimids, natts) result(s)
    integer, intent(in) :: ncid, varid
    character(*), optional :: name
    integer, optional :: xtype, ndims, dimids(:), natts
    integer :: s
    s = 1
  end function nf90_inquire_variable

  function nf90_inquire_attribute(ncid, varid, name, xtype, len, attnum) result(s)
    integer, intent(in) :: ncid, varid
    character(*), intent(in) :: name
    integer, optional :: xtype, len, attnum
    integer :: s
    s = 1
  end function nf90_inquire_attribute

  function nf90_inq_attname(ncid, varid, attnum, name) result(s)
    integer, intent(in) :: ncid, varid, attnum
    character(*) :: name
    integer :: s
    s = 1
  end function nf90_inq_attname

  function nf90_inq_varid(ncid, name, varid) result(s)
    integer, intent(in) :: ncid
    character(*), intent(in) :: name
    integer :: varid
    integer :: s
    s = 1
  end function nf90_inq_varid

  function nf90_inq_dimid(ncid, name, dimid) result(s)
    integer, intent(in) :: ncid
    character(*), intent(in) :: name
    integer :: dimid
    integer :: s
    s = 1
  end function nf90_inq_dimid

  function nf90_inquire_dimension(ncid, dimid, name, len) result(s)
    integer, intent(in) :: ncid, dimid
    character(*), optional :: name
    integer, optional :: len
    integer :: s
    s = 1
  end function nf90_inquire_dimension

  function nf90_def_dim(ncid, name, len, dimid) result(s)
    integer, intent(in) :: ncid, len
    character(*), intent(in) :: name
    integer :: dimid
    integer :: s
    s = 1
  end function nf90_def_dim

  function nf90_def_var(ncid, name, xtype, dimids, varid) result(s)
    integer, intent(in) :: ncid, xtype
    integer, intent(in), optional :: dimids(..)
    character(*), intent(in) :: name
    integer :: varid
    integer :: s
    s = 1
  end function nf90_def_var

end module netcdf
