!> Kinds, string lengths and numerical constants of all modules.
!>
!> The kinds that a build can choose come from precision_kinds_mod; the others are fixed.
module constants_mod

  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use precision_kinds_mod, only: r_def, r_solver, r_tran, r_bl

  implicit none
  private

  public :: r_def, r_solver, r_tran, r_bl

  ! Real kinds
  integer, parameter, public :: r_single = real32
  integer, parameter, public :: r_double = real64
  integer, parameter, public :: r_second = real64
  integer, parameter, public :: r_um = real64
  integer, parameter, public :: r_phys = real64
  integer, parameter, public :: r_ncdf = real64
  integer, parameter, public :: r_native = kind(1.0)
  integer, parameter, public :: dp_native = kind(1.0d0)

  ! Integer kinds
  integer, parameter, public :: i_def = int32
  integer, parameter, public :: i_byte = int8
  integer, parameter, public :: i_short = int16
  integer, parameter, public :: i_medium = int32
  integer, parameter, public :: i_long = int64
  integer, parameter, public :: i_native = kind(1)
  integer, parameter, public :: i_timestep = int32
  integer, parameter, public :: i_um = int32
  integer, parameter, public :: i_ncdf = int32
  integer, parameter, public :: i_halo_index = int64

  ! Logical and character kinds
  integer, parameter, public :: l_def = kind(.true.)
  integer, parameter, public :: l_native = kind(.true.)
  integer, parameter, public :: c_def = kind('a')
  integer, parameter, public :: c_native = kind('a')

  ! Codes for the type of a field's data
  integer, parameter, public :: real_type = 1
  integer, parameter, public :: r_solver_real_type = 1
  integer, parameter, public :: r_tran_real_type = 1
  integer, parameter, public :: integer_type = 2
  integer, parameter, public :: logical_type = 3

  ! String lengths
  integer, parameter, public :: str_short = 16
  integer, parameter, public :: str_def = 128
  integer, parameter, public :: str_long = 255
  integer, parameter, public :: str_longlong = 512
  integer, parameter, public :: str_max_filename = 1024

  ! Names of the precisions, in bits
  character(3), parameter, public :: PRECISION_REAL = &
    merge('32 ', '64 ', r_def == real32)
  character(3), parameter, public :: PRECISION_R_SOLVER = &
    merge('32 ', '64 ', r_solver == real32)
  character(3), parameter, public :: PRECISION_R_TRAN = &
    merge('32 ', '64 ', r_tran == real32)

  ! Limits
  real(r_def), parameter, public :: EPS = epsilon(1.0_r_def)
  real(r_def), parameter, public :: tiny_eps = 1.0e-30_r_def
  real(r_tran), parameter, public :: EPS_R_TRAN = epsilon(1.0_r_tran)
  real(r_tran), parameter, public :: SMALL_R_TRAN = 1.0e-30_r_tran
  real(r_def), parameter, public :: LARGE_REAL_POSITIVE = huge(1.0_r_def)
  real(r_def), parameter, public :: LARGE_REAL_NEGATIVE = -huge(1.0_r_def)
  real(r_double), parameter, public :: LARGE_DP_NEGATIVE = -huge(1.0_r_double)

  ! Angles
  real(r_def), parameter, public :: PI = acos(-1.0_r_def)
  real(r_def), parameter, public :: degrees_to_radians = PI / 180.0_r_def
  real(r_def), parameter, public :: radians_to_degrees = 180.0_r_def / PI

  ! Values that mean "not given"
  real(r_def), parameter, public :: RMDI = -2.0_r_def**30
  integer(i_def), parameter, public :: IMDI = -32768
  integer(i_def), parameter, public :: EMDI = -1
  character(str_short), parameter, public :: CMDI = 'unset'
  character(str_short), parameter, public :: UNSET_KEY = CMDI

  !> Length of the blocks that cache-aware loops use.
  integer, parameter, public :: cache_block = 256

  !> Default halo depth of a field.
  integer(i_def), parameter, public :: default_halo_depth = 1

end module constants_mod
