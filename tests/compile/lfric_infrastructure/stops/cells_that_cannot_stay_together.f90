! stops: partition_type: 6 x 5 cells do not consist of squares of 2 x 2 that are to stay together
program cells_that_cannot_stay_together

  use partition_mod, only: partition_type
  use plane_mod, only: plane_type

  implicit none

  type(partition_type) :: partition

  partition = partition_type(plane_type(6, 5), 1, 0, 2, 1)

end program cells_that_cannot_stay_together
