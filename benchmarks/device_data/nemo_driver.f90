! A time loop around NEMO's tracer advection.
module fct_driver
  use par_oce
  use oce
  use dom_oce
  use traadv_fct, only : tra_adv_fct
  implicit none
contains
  subroutine set_up()
    integer :: i, j, k
    jpi = 12
    jpj = 11
    jpk = 8
    jpkm1 = jpk - 1
    ntsi = 1 + nn_hls
    ntei = jpi - nn_hls
    ntsj = 1 + nn_hls
    ntej = jpj - nn_hls
    allocate(wi(jpi, jpj, jpk))
    allocate(e1e2t(jpi, jpj), r1_e1e2t(jpi, jpj), mbkt(jpi, jpj), mikt(jpi, jpj))
    allocate(e3t_3d(jpi, jpj, jpk), r3t(jpi, jpj, jpt))
    allocate(tmask(jpi, jpj, jpk), umask(jpi, jpj, jpk), vmask(jpi, jpj, jpk))
    allocate(wmask(jpi, jpj, jpk))
    do j = 1, jpj
      do i = 1, jpi
        e1e2t(i, j) = 1.0e4_wp + 10 * i + j
        r1_e1e2t(i, j) = 1.0_wp / e1e2t(i, j)
        mikt(i, j) = 1
        mbkt(i, j) = jpkm1 - mod(i * j, 3)
        r3t(i, j, :) = 0.01_wp * mod(i + 2 * j, 5)
        do k = 1, jpk
          wi(i, j, k) = 1.0e-4_wp * sin(0.3_wp * (i + j + k))
          e3t_3d(i, j, k) = 10.0_wp + k
          tmask(i, j, k) = merge(1.0_wp, 0.0_wp, k <= mbkt(i, j))
        end do
      end do
    end do
    umask(:, :, :) = tmask
    vmask(:, :, :) = tmask
    wmask(:, :, :) = tmask
    do k = 2, jpk
      wmask(:, :, k) = tmask(:, :, k) * tmask(:, :, k - 1)
    end do
  end subroutine set_up
  subroutine steps(number, order, implicit_kind)
    integer, intent(in) :: number, order, implicit_kind
    real(wp), allocatable :: pu(:, :, :), pv(:, :, :), pw(:, :, :), pt(:, :, :, :, :)
    integer :: i, j, k, n, kt, kbb, kmm, kaa
    allocate(pu(jpi, jpj, jpk), pv(jpi, jpj, jpk), pw(jpi, jpj, jpk), pt(jpi, jpj, jpk, 2, jpt))
    do n = 1, 2
      do k = 1, jpk
        do j = 1, jpj
          do i = 1, jpi
            pt(i, j, k, n, :) = 10.0_wp * n + sin(0.1_wp * (i * j - k))
          end do
        end do
      end do
    end do
    kbb = 1
    kmm = 2
    kaa = 3
    do kt = 1, number
      do k = 1, jpk
        do j = 1, jpj
          do i = 1, jpi
            pu(i, j, k) = 30.0_wp * sin(0.2_wp * (j + k) + kt) * umask(i, j, k)
            pv(i, j, k) = 20.0_wp * cos(0.3_wp * (i - k) + kt) * vmask(i, j, k)
            pw(i, j, k) = 5.0_wp * sin(0.4_wp * (i + j + k)) * wmask(i, j, k)
          end do
        end do
      end do
      do n = 1, 2
        do k = 1, jpk
          do j = 1, jpj
            do i = 1, jpi
              pt(i, j, k, n, kaa) = 0.0_wp
            end do
          end do
        end do
      end do
      call tra_adv_fct(kt, 1, 'TRA', 100.0_wp, pu, pv, pw, kbb, kmm, kaa, pt, 2, kaa, &
                       order, order, implicit_kind)
      do n = 1, 2
        do k = 1, jpk
          do j = 1, jpj
            do i = 1, jpi
              pt(i, j, k, n, kbb) = pt(i, j, k, n, kmm) + 100.0_wp * pt(i, j, k, n, kaa)
            end do
          end do
        end do
      end do
      n = kbb
      kbb = kmm
      kmm = n
    end do
    print '(a,2z17.16)', 'tracers', sum(pt(:, :, :, 1, kmm)), sum(pt(:, :, :, 2, kmm))
  end subroutine steps
end module fct_driver
program fct
  use fct_driver, only : set_up, steps
  use zdf_oce, only : ln_zad_Aimp
  use dom_oce, only : lk_linssh
  implicit none
  integer :: number
  character(20) :: words
  call get_environment_variable('IT', words)
  read (words, *) number
  call set_up()
  lk_linssh = .true.
  ln_zad_Aimp = .true.
  call steps(number, 4, 2)
end program fct
