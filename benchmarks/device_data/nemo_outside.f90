! Procedures that NEMO's tracer advection calls, for one periodic domain without output files.
module iom
  implicit none
contains
  logical function iom_use(name)
    character(*), intent(in) :: name
    iom_use = len(name) > 1000
  end function iom_use
end module iom
module lib_mpp
  implicit none
contains
  subroutine ctl_stop(message)
    character(*), intent(in) :: message
    print *, message
    error stop
  end subroutine ctl_stop
end module lib_mpp
module trdtra
  implicit none
  integer, parameter, private :: wp = selected_real_kind(12, 307)
contains
  subroutine trd_tra(kt, Kmm, Krhs, ctype, ktra, ktrd, ptrd, pu, ptra)
    integer, intent(in) :: kt, Kmm, Krhs, ktra, ktrd
    character(3), intent(in) :: ctype
    real(wp), intent(in) :: ptrd(:, :, :), pu(:, :, :), ptra(:, :, :)
    print '(a,4i5,3z17.16)', ctype, kt, ktra, ktrd, Kmm + Krhs, inner(ptrd), inner(pu), inner(ptra)
  end subroutine trd_tra
  real(wp) function inner(values)
    real(wp), intent(in) :: values(:, :, :)
    inner = sum(values(2:size(values, 1) - 1, 2:size(values, 2) - 1, :))
  end function inner
end module trdtra
module diaptr
  implicit none
  integer, parameter, private :: wp = selected_real_kind(12, 307)
  logical :: l_diaptr = .false.
contains
  subroutine dia_ptr_hst(ktra, cptr, pvflx)
    integer, intent(in) :: ktra
    character(3), intent(in) :: cptr
    real(wp), intent(in) :: pvflx(:, :, :)
    print '(a,i5,z17.16)', cptr, ktra, sum(pvflx)
  end subroutine dia_ptr_hst
end module diaptr
module diaar5
  implicit none
  integer, parameter, private :: wp = selected_real_kind(12, 307)
  logical :: l_diaar5 = .false.
contains
  subroutine dia_ar5_hst(ktra, cptr, puflx, pvflx)
    integer, intent(in) :: ktra
    character(3), intent(in) :: cptr
    real(wp), intent(in) :: puflx(:, :, :), pvflx(:, :, :)
    print '(a,i5,2z17.16)', cptr, ktra, sum(puflx), sum(pvflx)
  end subroutine dia_ar5_hst
end module diaar5
module lbclnk
  implicit none
  integer, parameter, private :: wp = selected_real_kind(12, 307)
  integer, parameter, private :: nn_hls = 2
  interface lbc_lnk
    module procedure lbc_lnk_3, lbc_lnk_4
  end interface lbc_lnk
contains
  subroutine lbc_lnk_3(cdname, p1, c1, s1, p2, c2, s2, p3, c3, s3)
    character(*), intent(in) :: cdname, c1, c2, c3
    real(wp), intent(inout) :: p1(:, :, :), p2(:, :, :), p3(:, :, :)
    real(wp), intent(in) :: s1, s2, s3
    call periodic(p1)
    call periodic(p2)
    call periodic(p3)
  end subroutine lbc_lnk_3
  subroutine lbc_lnk_4(cdname, p1, c1, s1, p2, c2, s2, p3, c3, s3, p4, c4, s4)
    character(*), intent(in) :: cdname, c1, c2, c3, c4
    real(wp), intent(inout) :: p1(:, :, :), p2(:, :, :), p3(:, :, :), p4(:, :, :)
    real(wp), intent(in) :: s1, s2, s3, s4
    call lbc_lnk_3(cdname, p1, c1, s1, p2, c2, s2, p3, c3, s3)
    call periodic(p4)
  end subroutine lbc_lnk_4
  subroutine periodic(p)
    real(wp), intent(inout) :: p(:, :, :)
    integer :: i, j, n, m
    n = size(p, 1)
    m = size(p, 2)
    !$acc parallel loop present(p)
    do j = 1, m
      do i = 1, nn_hls
        p(i, j, :) = p(n - 2 * nn_hls + i, j, :)
        p(n - nn_hls + i, j, :) = p(nn_hls + i, j, :)
      end do
    end do
    !$acc end parallel loop
    !$acc parallel loop present(p)
    do i = 1, n
      do j = 1, nn_hls
        p(i, j, :) = p(i, m - 2 * nn_hls + j, :)
        p(i, m - nn_hls + j, :) = p(i, nn_hls + j, :)
      end do
    end do
    !$acc end parallel loop
  end subroutine periodic
end module lbclnk
