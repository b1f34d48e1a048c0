! Corpus kernel: metadata written by someone who likes room and comments.
module spread_metadata_kernel_mod

  use, intrinsic :: iso_fortran_env, only : real64
  use argument_mod
  use constants_mod,     only : r_def, i_def
  use fs_continuity_mod, only : w2, w3
  use kernel_mod,        only : kernel_type

  implicit none

  private

  ! Not metadata: a module variable that looks like it.
  integer, parameter :: meta_size = 3

  type, extends(kernel_type), public :: Spread_Metadata_Kernel_Type
    private
    type(arg_type), dimension(3) :: meta_args = (/                &
        ! What is written comes first,
        arg_type( GH_FIELD * 3 , GH_REAL , GH_READWRITE , W3 ),   & ! three components

        arg_type( Gh_Field     , gh_real , Gh_Read ,              &
                  w3 , stencil( Cross2D ) ),                      &
        ! then the wind, "read only".
        arg_type( gh_field     , gh_real , gh_read      , w2 )    &
        /)
    integer :: operates_on = cell_column                            ! as always
  contains
    ! The body has another name.
    procedure, nopass :: CODE => spread_it
  end type

  public :: spread_it

contains

  !> Spread a tracer over three flux components along the branches of a cross.
  subroutine spread_it(nlayers, f1, f2, f3, rho, sizes, longest, stencil_map, u, &
                       ndf_w3, undf_w3, map_w3, ndf_w2, undf_w2, map_w2)
    integer(i_def), intent(in)    :: nlayers, longest
    integer(i_def), intent(in)    :: ndf_w3, undf_w3, ndf_w2, undf_w2
    real(r_def),    intent(inout) :: f1(undf_w3), f2(undf_w3), f3(undf_w3)
    real(r_def),    intent(in)    :: rho(undf_w3), u(undf_w2)
    integer(i_def), intent(in)    :: sizes(4)
    integer(i_def), intent(in)    :: stencil_map(ndf_w3, longest, 4)
    integer(i_def), intent(in)    :: map_w3(ndf_w3), map_w2(ndf_w2)
    integer(i_def) :: k

    do k = 0, nlayers - 1
      f1(map_w3(1)+k) = u(map_w2(1)+k) * rho(stencil_map(1, sizes(1), 1)+k)
      f2(map_w3(1)+k) = u(map_w2(2)+k) * rho(stencil_map(1, sizes(2), 2)+k)
      f3(map_w3(1)+k) = f3(map_w3(1)+k) + rho(map_w3(1)+k)
    end do
  end subroutine spread_it

end module spread_metadata_kernel_mod
