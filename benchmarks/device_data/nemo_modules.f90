! The variables of NEMO's modules that its tracer advection uses.
module par_oce
  implicit none
  integer, parameter :: sp = selected_real_kind(6, 37), dp = selected_real_kind(12, 307)
  integer, parameter :: wp = dp, jpt = 3
  integer :: nn_hls = 2
  integer :: jpi, jpj, jpk, jpkm1
  integer :: ntile = 0, ntsi, ntei, ntsj, ntej
end module par_oce
module oce
  use par_oce
  implicit none
  real(wp), allocatable, save, dimension(:, :, :) :: wi
end module oce
module dom_oce
  use par_oce
  implicit none
  logical :: l_istiled = .false., lk_linssh = .false., ln_isfcav = .false.
  real(wp), allocatable, dimension(:, :) :: e1e2t, r1_e1e2t
  real(wp), allocatable, dimension(:, :, :) :: e3t_3d, r3t
  real(wp), allocatable, dimension(:, :, :), target :: tmask, umask, vmask, wmask
  integer, allocatable, dimension(:, :) :: mbkt, mikt
end module dom_oce
module trc_oce
  implicit none
  logical :: l_offline = .false.
end module trc_oce
module trd_oce
  implicit none
  logical :: l_trdtra = .false., l_trdtrc = .false.
  integer, parameter :: jptra_xad = 1, jptra_yad = 2, jptra_zad = 3
end module trd_oce
module phycst
  use par_oce, only : wp
  implicit none
  real(wp) :: rho0_rcp = 1.0_wp
end module phycst
module zdf_oce
  implicit none
  logical :: ln_zad_Aimp = .false.
end module zdf_oce
module in_out_manager
  implicit none
  logical :: lwp = .true.
  integer :: numout = 6
end module in_out_manager
module lib_fortran
  implicit none
end module lib_fortran
