! Prints, from the first rank, the part of each rank of some domains, as the infrastructure has it.
program print_parts
  use gocean_mod, only: gocean_finalise, gocean_initialise
  use parallel_mod, only: decomposition_type, go_decompose, on_master
  implicit none
  integer, parameter :: sizes(2, 5) = reshape([10, 10, 20, 10, 7, 13, 100, 6, 6, 100], [2, 5])
  type(decomposition_type) :: made
  integer :: n, rank

  call gocean_initialise()
  do n = 1, size(sizes, 2)
    made = go_decompose(sizes(1, n), sizes(2, n), halo_width=2)
    if (.not. on_master()) cycle
    do rank = 1, made%ndomains
      associate (part => made%subdomains(rank)%global, own => made%subdomains(rank)%internal)
        print '(12(i0, 1x))', sizes(:, n), part%xstart, part%xstop, part%ystart, part%ystop, &
            part%nx, part%ny, own%xstart, own%xstop, own%ystart, own%ystop
      end associate
    end do
  end do
  call gocean_finalise()
end program print_parts
