program main
  use constants_mod, only: r_def
  use field_mod, only: field_type, field_proxy_type
  use fs_continuity_mod, only: W3
  use function_space_mod, only: function_space_type
  use mesh_mod, only: mesh_type
  use names_mod, only: elements, fields, pointers
  use operator_mod, only: operator_type
  use small_plane_mod, only: check, new_mesh, space
  implicit none
  type(mesh_type), pointer :: mesh
  type(function_space_type), pointer :: dofs
  type(field_type), target :: f(2), a, b, c
  type(field_type), pointer :: p, q
  type(operator_type) :: m(2)
  type(field_proxy_type) :: values

  mesh => new_mesh('plane', 6, 4)
  dofs => space(mesh, W3)
  call f(1)%initialise(dofs)
  call f(2)%initialise(dofs)
  call a%initialise(dofs)
  call b%initialise(dofs)
  call c%initialise(dofs)
  call m(1)%initialise(dofs, dofs)
  call m(2)%initialise(dofs, dofs)
  values = a%get_proxy()
  values%data(:) = 10.0_r_def
  p => f(1)
  q => f(1)

  call clear()
  call elements(m, 1, 1, a, b, c)
  call check(values%data(1) == 43.0_r_def, 'two elements of an array of operators are one')
  call clear()
  call pointers(p, q, a, b, c)
  call check(values%data(1) == 43.0_r_def, 'two pointers are one field')
  call clear()
  call fields(f, 2, 2, a, b)
  call check(values%data(1) == 43.0_r_def, 'two elements of an array of fields are one')

contains

  subroutine clear()
    values = f(1)%get_proxy()
    values%data(:) = 0.0_r_def
    values = b%get_proxy()
    values%data(:) = 0.0_r_def
  end subroutine clear

end program main
