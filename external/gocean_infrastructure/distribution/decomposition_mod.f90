!> Decomposition of a domain into one part for each rank.
module decomposition_mod

  use region_mod, only: region_type

  implicit none
  private

  !> Part of one rank: its position in the domain and its internal region.
  type, public :: subdomain_type
    type(region_type) :: global
    type(region_type) :: internal
  end type subdomain_type

  !> All parts of a domain of global_nx by global_ny points.
  type, public :: decomposition_type
    integer :: global_nx = 0, global_ny = 0
    integer :: nx = 0, ny = 0
    integer :: ndomains = 0
    integer :: max_width = 0, max_height = 0
    type(subdomain_type), allocatable :: subdomains(:)
  end type decomposition_type

end module decomposition_mod
