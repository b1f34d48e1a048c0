!> The names of the function spaces and where each is continuous.
module fs_continuity_mod

  use constants_mod, only: i_def, l_native, str_short

  implicit none
  private

  public :: name_from_functionspace, functionspace_from_name
  public :: is_fs_horizontally_continuous, is_fs_vertically_continuous

  ! The values are places in the tables below.
  integer(i_def), parameter, public :: W0 = 1
  integer(i_def), parameter, public :: W1 = 2
  integer(i_def), parameter, public :: W2 = 3
  integer(i_def), parameter, public :: W2V = 4
  integer(i_def), parameter, public :: W2H = 5
  integer(i_def), parameter, public :: W2broken = 6
  integer(i_def), parameter, public :: W2Hbroken = 7
  integer(i_def), parameter, public :: W2trace = 8
  integer(i_def), parameter, public :: W2Vtrace = 9
  integer(i_def), parameter, public :: W2Htrace = 10
  integer(i_def), parameter, public :: W3 = 11
  integer(i_def), parameter, public :: Wtheta = 12
  integer(i_def), parameter, public :: Wchi = 13

  character(str_short), parameter :: space_names(13) = [character(str_short) :: &
    'W0', 'W1', 'W2', 'W2V', 'W2H', 'W2broken', 'W2Hbroken', 'W2trace', 'W2Vtrace', &
    'W2Htrace', 'W3', 'Wtheta', 'Wchi']

  integer(i_def), parameter :: horizontally_continuous(6) = [W0, W1, W2, W2H, W2trace, W2Htrace]
  integer(i_def), parameter :: vertically_continuous(7) = &
    [W0, W1, W2, W2V, W2trace, W2Vtrace, Wtheta]

contains

  !> Return the name of a function space; stops the program if there is no such space.
  function name_from_functionspace(fs)
    integer(i_def), intent(in) :: fs
    character(str_short) :: name_from_functionspace

    if (fs < 1 .or. fs > size(space_names)) error stop 'name_from_functionspace: unknown space'
    name_from_functionspace = space_names(fs)
  end function name_from_functionspace

  !> Return the function space of this name, in its usual spelling; stops the program if there
  !> is none.
  function functionspace_from_name(name)
    character(*), intent(in) :: name
    integer(i_def) :: functionspace_from_name

    integer(i_def) :: fs

    do fs = 1, size(space_names)
      if (space_names(fs) == name) exit
    end do
    if (fs > size(space_names)) error stop 'functionspace_from_name: unknown name'
    functionspace_from_name = fs
  end function functionspace_from_name

  !> Return whether dofs are shared between neighbouring columns.
  function is_fs_horizontally_continuous(fs) result(continuous)
    integer(i_def), intent(in) :: fs
    logical(l_native) :: continuous

    continuous = any(horizontally_continuous == fs)
  end function is_fs_horizontally_continuous

  !> Return whether dofs are shared between the cells of a column.
  function is_fs_vertically_continuous(fs) result(continuous)
    integer(i_def), intent(in) :: fs
    logical(l_native) :: continuous

    continuous = any(vertically_continuous == fs)
  end function is_fs_vertically_continuous

end module fs_continuity_mod
