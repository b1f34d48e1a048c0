!> Sums of fields of all magnitudes, by generated code; answers with their bits.
program sums

  use checks_mod, only: answer, finish_checks, new_mesh, space, start_checks
  use constants_mod, only: i_def, i_halo_index, r_def, r_solver
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: W2
  use function_space_mod, only: function_space_type
  use mesh_mod, only: mesh_type
  use r_solver_field_mod, only: r_solver_field_proxy_type, r_solver_field_type
  use sums_alg_mod, only: sum_up

  implicit none

  type(function_space_type), pointer :: fs
  type(mesh_type), pointer :: mesh
  type(field_type) :: x, y
  type(r_solver_field_type) :: narrow
  type(r_solver_field_proxy_type) :: narrow_proxy
  real(r_def) :: total, product_sum, square
  real(r_solver) :: narrow_sum
  integer(i_halo_index), allocatable :: ids(:)

  call start_checks()
  mesh => new_mesh('plane', .true., 12_i_def, 8_i_def)
  fs => space(mesh, W2)
  call fs%get_global_dof_id(ids)
  call set_field(x, 1.3_r_def)
  call set_field(y, 0.7_r_def)
  call narrow%initialise(fs)
  narrow_proxy = narrow%get_proxy()
  narrow_proxy%data = real(sin(1.1_r_def * real(ids(:size(narrow_proxy%data)), r_def)), r_solver)

  call sum_up(x, y, narrow, total, product_sum, square, narrow_sum)
  call answer('total', total)
  call answer('product_sum', product_sum)
  call answer('square', square)
  call answer('narrow_sum', real(narrow_sum, r_def))
  if (command_argument_count() > 0) call answer('differing', real(differing(), r_def))
  call finish_checks()

contains

  !> Sum as often as the argument of the command says; return how often the bits were others.
  integer(i_def) function differing()
    character(len=10) :: text
    integer(i_def) :: again, times
    real(r_def) :: sums(3)
    real(r_solver) :: narrow_again

    call get_command_argument(1, text)
    read (text, *) times
    differing = 0
    do again = 1, times
      call sum_up(x, y, narrow, sums(1), sums(2), sums(3), narrow_again)
      if (any(sums /= [total, product_sum, square]) .or. narrow_again /= narrow_sum) then
        differing = differing + 1
      end if
    end do
  end function differing

  !> Make a field of values of all magnitudes that do not depend on the ranks, nor on a library.
  subroutine set_field(field, seed)
    type(field_type), intent(inout) :: field
    real(r_def), intent(in) :: seed

    type(field_proxy_type) :: proxy

    call field%initialise(fs)
    proxy = field%get_proxy()
    associate (own => ids(:size(proxy%data)))
      proxy%data = scale(real(modulo(7919 * own, 1009_i_halo_index) - 504, r_def) / seed, &
                         int(modulo(own, 73_i_halo_index) - 36, i_def))
    end associate
  end subroutine set_field

end program sums
