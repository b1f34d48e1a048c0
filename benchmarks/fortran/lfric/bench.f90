!> Times the invokes of `bench_alg_mod` and prints, for each, the least milliseconds of a run, by the
!> clock and of processors, and a number that follows from all it has computed. Then the same for a
!> triad over as many bytes as the invoke works on. Usage: bench cells layers runs
program bench

  use, intrinsic :: iso_fortran_env, only: real64
  use bench_alg_mod, only: five_built_ins, matvec, stencils
  use bench_mesh_mod, only: finish_bench, start_bench
  use constants_mod, only: i_def, r_def
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: W2, W3
  use function_space_collection_mod, only: function_space_collection
  use function_space_mod, only: function_space_type
  use lfric_mpi_mod, only: global_mpi
  use mesh_mod, only: mesh_type
  use operator_mod, only: operator_proxy_type, operator_type
  use timing_mod, only: now, number, report, time_triad

  implicit none

  integer(i_def), parameter :: reach = 2
  type(mesh_type), pointer :: mesh
  integer :: runs

  runs = number(3)
  call start_bench(int(number(1), i_def), int(number(2), i_def), reach, mesh)
  call time_matvec()
  call time_stencils()
  call time_built_ins()
  call finish_bench()

contains

  !> Return a space of lowest order.
  function space_of(fs) result(space)
    integer(i_def), intent(in) :: fs
    type(function_space_type), pointer :: space

    space => function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, fs)
  end function space_of

  !> Make a field whose values lie between 0 and 1 and do not repeat soon.
  subroutine make(field, fs, seed)
    type(field_type), intent(inout) :: field
    integer(i_def), intent(in) :: fs, seed
    type(field_proxy_type) :: proxy
    integer(i_def) :: dof

    call field%initialise(space_of(fs), name='field', halo_depth=reach)
    proxy = field%get_proxy()
    do dof = 1, int(size(proxy%data), i_def)
      proxy%data(dof) = real(modulo(31 * dof + 7 * seed, 1009), r_def) / 1009.0_r_def
    end do
    call proxy%set_dirty()
  end subroutine make

  !> Return how many values a field has.
  integer function size_of(field)
    type(field_type), intent(in) :: field
    type(field_proxy_type) :: proxy

    proxy = field%get_proxy()
    size_of = size(proxy%data)
  end function size_of

  !> Return the sum of what all ranks own.
  function total_of(field) result(total)
    type(field_type), intent(in) :: field
    real(r_def) :: total
    type(field_proxy_type) :: proxy

    proxy = field%get_proxy()
    call global_mpi%global_sum(sum(proxy%data(:proxy%vspace%get_last_dof_owned())), total)
  end function total_of

  !> Time the matrix-vector product.
  subroutine time_matvec()
    type(field_type) :: x, y
    type(operator_type) :: matrix
    type(operator_proxy_type) :: proxy
    real(real64) :: start(2), least(2)
    integer :: run

    call make(x, W2, 1)
    call make(y, W2, 2)
    call matrix%initialise(space_of(W2), space_of(W2))
    proxy = matrix%get_proxy()
    proxy%local_stencil = 0.5_r_def
    least = huge(least)
    do run = 1, runs
      start = now()
      call matvec(y, x, matrix)
      least = min(least, now() - start)
    end do
    call report('matvec', least, total_of(y))
    call time_triad('matvec', size(proxy%local_stencil) + 2 * size_of(y), runs)
  end subroutine time_matvec

  !> Time two stencils.
  subroutine time_stencils()
    type(field_type) :: x, y
    real(real64) :: start(2), least(2)
    integer :: run

    call make(x, W3, 1)
    call make(y, W3, 2)
    least = huge(least)
    do run = 1, runs
      start = now()
      call stencils(x, y)
      least = min(least, now() - start)
    end do
    call report('stencils', least, total_of(x) + total_of(y))
    call time_triad('stencils', 2 * size_of(x), runs)
  end subroutine time_stencils

  !> Time five built-ins.
  subroutine time_built_ins()
    type(field_type) :: x, y, z, w
    real(r_def) :: dot, total
    real(real64) :: start(2), least(2)
    integer :: run

    call make(x, W2, 1)
    call make(y, W2, 2)
    call make(z, W2, 3)
    call make(w, W2, 4)
    least = huge(least)
    do run = 1, runs
      start = now()
      call five_built_ins(x, y, z, w, 0.01_r_def, dot, total)
      least = min(least, now() - start)
    end do
    call report('five built-ins', least, dot + total)
    call time_triad('five built-ins', 4 * size_of(x), runs)
  end subroutine time_built_ins

end program bench
