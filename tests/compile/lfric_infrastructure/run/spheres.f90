!> Points and vectors on a sphere, there and back; small matrices and their inverses.
program spheres

  use constants_mod, only: i_def, PI, r_def, r_double
  use coord_transform_mod, only: cart2sphere_vector, central_angle, llr2xyz, rebase_longitude_range, &
    rodrigues_rotation, sphere2cart_vector, xyz2llr
  use cross_product_mod, only: cross_product
  use matrix_invert_mod, only: determinant_3x3, matrix_invert_3x3, matrix_invert_lu
  use small_plane_mod, only: check

  implicit none

  real(r_def) :: point(3), llr(3), vector(3), angle
  real(r_double) :: matrix(3, 3), inverse(3, 3), unit(3, 3)
  real(r_def), parameter :: east(3) = [1.0_r_def, 0.0_r_def, 0.0_r_def]

  call llr2xyz(1.2_r_def, -0.4_r_def, 3.0_r_def, point(1), point(2), point(3))
  call xyz2llr(point(1), point(2), point(3), llr(1), llr(2), llr(3))
  call check(maxval(abs(llr - [1.2_r_def, -0.4_r_def, 3.0_r_def])) < 1.0e-14_r_def, 'a point')
  vector = sphere2cart_vector(east, llr)
  call check(abs(dot_product(vector, point)) < 1.0e-14_r_def, 'east is along the sphere')
  call check(abs(vector(3)) < 1.0e-14_r_def, 'east is level')
  vector = cart2sphere_vector(point, vector)
  call check(maxval(abs(vector - east)) < 1.0e-14_r_def, 'a vector')
  call central_angle(0.0_r_def, 0.0_r_def, 0.5_r_def * PI, 0.0_r_def, angle)
  call check(abs(angle - 0.5_r_def * PI) < 1.0e-14_r_def, 'a quarter of the equator')
  vector = rodrigues_rotation([1.0_r_def, 0.0_r_def, 0.0_r_def], &
                              [0.0_r_def, 0.0_r_def, 2.0_r_def], 0.5_r_def * PI)
  call check(maxval(abs(vector - [0.0_r_def, 1.0_r_def, 0.0_r_def])) < 1.0e-14_r_def, 'a turn')
  call check(all(cross_product([1.0_r_def, 0.0_r_def, 0.0_r_def], &
                               [0.0_r_def, 1.0_r_def, 0.0_r_def]) == &
                 [0.0_r_def, 0.0_r_def, 1.0_r_def]), 'x cross y is z')
  call check(abs(rebase_longitude_range(-0.5_r_def, 0.0_r_def) - (2.0_r_def * PI - 0.5_r_def)) < &
             1.0e-14_r_def, 'a longitude in the turn from 0')

  ! A row that starts with zero needs rows to be exchanged.
  matrix = reshape([0.0_r_double, 2.0_r_double, 1.0_r_double, 3.0_r_double, 1.0_r_double, &
                    0.0_r_double, 1.0_r_double, 1.0_r_double, 4.0_r_double], [3, 3])
  unit = reshape([1, 0, 0, 0, 1, 0, 0, 0, 1], [3, 3])
  call matrix_invert_lu(matrix, inverse, 3_i_def)
  call check(maxval(abs(matmul(matrix, inverse) - unit)) < 1.0e-13_r_double, 'the inverse')
  call check(all(matrix_invert_3x3(matrix) == inverse), 'the inverse of 3 by 3')
  call check(abs(determinant_3x3(matrix) + 22.0_r_double) < 1.0e-13_r_double, 'the determinant')

end program spheres
