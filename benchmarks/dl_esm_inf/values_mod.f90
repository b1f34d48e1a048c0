!> Writes the values of fields as they are, halos and padding included, and what storages have moved.
module values_mod

  use field_mod, only: r2d_field
  use parallel_mod, only: get_rank
  use storage_statistics_mod, only: print_statistics

  implicit none
  private

  public :: write_values

  integer, save :: file = -1

contains

  !> Write all values of a field; a name that is empty ends it.
  subroutine write_values(name, field)
    character(*), intent(in) :: name
    type(r2d_field), intent(in) :: field
    character(16) :: path

    if (file == -1) then
      write (path, '(a, i0)') 'values_', get_rank()
      open (newunit=file, file=path, access='stream', form='unformatted', status='replace')
    end if
    if (name /= '') then
      write (file) field%data
    else
      close (file)
      if (get_rank() == 1) call print_statistics('moved')
    end if
  end subroutine write_values

end module values_mod
