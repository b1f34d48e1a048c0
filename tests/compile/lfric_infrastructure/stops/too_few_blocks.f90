! stops: partition_type: 4 x 4 cells, in squares of 2 x 2, cannot be cut into 6 parts, rows by columns; 4 ranks can have it
program too_few_blocks

  use partition_mod, only: partition_type
  use plane_mod, only: plane_type

  implicit none

  type(partition_type) :: partition

  partition = partition_type(plane_type(4, 4), 6, 0, 2, 1)

end program too_few_blocks
