! stops: partition_type: 6 panels of 2 x 2 cells cannot be cut into 5 parts, rows by columns; 4 ranks can have it
program too_many_ranks_for_panels

  use cubed_sphere_mod, only: cubed_sphere_type
  use partition_mod, only: partition_type

  implicit none

  type(partition_type) :: partition

  partition = partition_type(cubed_sphere_type(2), 5, 0, 1, 1)

end program too_many_ranks_for_panels
