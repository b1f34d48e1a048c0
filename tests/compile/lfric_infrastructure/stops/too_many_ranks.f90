! stops: partition_type: 3 x 5 cells cannot be cut into 7 parts, rows by columns; 6 ranks can have it
program too_many_ranks

  use partition_mod, only: partition_type
  use plane_mod, only: plane_type

  implicit none

  type(partition_type) :: partition

  partition = partition_type(plane_type(3, 5), 7, 0, 1, 1)

end program too_many_ranks
