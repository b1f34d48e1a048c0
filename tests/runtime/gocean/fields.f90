!> Checks how domains are divided, what grids know, and what fields do with their values; stops
!> where one is wrong. At the end it writes to the log in every way there is.
program fields

  use decomposition_mod, only: decomposition_type
  use field_mod, only: copy_field, field_checksum, free_field, go_all_points, go_f_points, &
      go_t_points, go_u_points, go_v_points, r2d_field, set_field
  use gocean_mod, only: gocean_finalise, gocean_initialise, gocean_stop, model_write_log
  use grid_mod, only: go_arakawa_b, go_arakawa_c, go_bc_external, go_bc_none, go_bc_periodic, &
      go_offset_ne, go_offset_sw, grid_init, grid_type
  use kind_params_mod, only: go_wp
  use parallel_mod, only: get_num_ranks, get_rank, go_decompose
  use region_mod, only: region_type

  implicit none

  integer :: points

  call gocean_initialise()
  do points = 6, 14
    call check_parts(points, 9, 1 + modulo(points, 3))
  end do
  call check_parts(3, 30, 2)
  call check_parts(1, get_num_ranks(), 1)
  call check_parts(get_num_ranks(), 1, 1)
  call check_grid([go_bc_none, go_bc_periodic], go_offset_ne)
  call check_grid([go_bc_external, go_bc_none], go_offset_sw)
  call check_grid([go_bc_periodic, go_bc_none], go_offset_sw)
  call check_values()
  call write_log()
  call gocean_finalise()

contains

  !> Check that parts are as alike as can be, in order, and that no other cut is shorter.
  subroutine check_parts(nx, ny, width)
    integer, intent(in) :: nx, ny, width
    type(decomposition_type) :: decomp
    integer :: cut, last(2), part, parts_x, parts_y

    decomp = go_decompose(nx, ny, ndomains=get_num_ranks(), halo_width=width)
    call require(all([decomp%global_nx, decomp%global_ny] == [nx, ny]), 'the domain')
    call require(decomp%nx * decomp%ny == decomp%ndomains, 'the number of parts')
    call require(decomp%ndomains == get_num_ranks(), 'a part for each rank')
    cut = (decomp%nx - 1) * ny + (decomp%ny - 1) * nx
    do parts_x = 1, min(get_num_ranks(), nx)
      parts_y = get_num_ranks() / parts_x
      if (parts_x * parts_y /= get_num_ranks() .or. parts_y > ny) cycle
      if (parts_x < decomp%nx) then
        call require(cut < (parts_x - 1) * ny + (parts_y - 1) * nx, 'cuts across y go first')
      else
        call require(cut <= (parts_x - 1) * ny + (parts_y - 1) * nx, 'the cut is the shortest')
      end if
    end do
    last = 0
    do part = 1, decomp%ndomains
      associate (domain => decomp%subdomains(part)%global, &
          own => decomp%subdomains(part)%internal, column => modulo(part - 1, decomp%nx))
        if (column == 0) last(1) = 0
        call require(domain%xstart == last(1) + 1, 'parts follow each other in x')
        last(1) = domain%xstop
        call require(own%nx == nx / decomp%nx + merge(1, 0, column < modulo(nx, decomp%nx)), &
            'the first of a row have one more')
        call require(domain%ystart == last(2) + 1, 'parts follow each other in y')
        call require(own%ny == ny / decomp%ny + &
            merge(1, 0, (part - 1) / decomp%nx < modulo(ny, decomp%ny)), &
            'the first of a column have one more')
        call require(all([own%xstart, own%ystart] == width + 1), 'a halo of the width asked for')
        call require(own%xstop - own%xstart == domain%xstop - domain%xstart .and. &
            own%xstop == width + own%nx, 'points in x')
        call require(own%ystop - own%ystart == domain%ystop - domain%ystart .and. &
            own%ystop == width + own%ny, 'points in y')
        call require(all([domain%nx, domain%ny] == [own%nx, own%ny] + 2 * width), 'extents')
        if (column == decomp%nx - 1) call require(domain%xstop == nx, 'rows are complete')
        if (column == decomp%nx - 1) last(2) = domain%ystop
      end associate
    end do
    call require(last(2) == ny, 'columns are complete')
    call require(decomp%max_width == (nx - 1) / decomp%nx + 1 + 2 * width, 'the greatest width')
    call require(decomp%max_height == (ny - 1) / decomp%ny + 1 + 2 * width, 'the greatest height')
    decomp = go_decompose(nx, ny)
    call require(all(decomp%subdomains%internal%xstart == 2), 'a halo is one point wide')
  end subroutine check_parts

  !> Check the arrays of a grid, and the regions of fields of every type on it.
  subroutine check_grid(ends, offset)
    integer, intent(in) :: ends(2), offset
    integer, parameter :: types(5) = &
        [go_u_points, go_v_points, go_t_points, go_f_points, go_all_points]
    type(grid_type), target :: grid, masked
    type(r2d_field) :: field
    integer, allocatable :: mask(:, :)
    integer, pointer :: tmask(:, :)
    integer :: first(2), i, j, n

    grid = grid_type(go_arakawa_b, [ends, go_bc_none], offset)
    call require(grid%name == go_arakawa_b .and. grid%offset == offset .and. &
        all(grid%boundary_conditions == [ends, go_bc_none]), 'what kind of grid it is')
    call grid%decompose(11, 13, halo_width=2)
    masked = grid
    call grid_init(grid, 2.0_go_wp, 3.0_go_wp)
    call require(all([grid%global_nx, grid%global_ny] == [11, 13]), 'points of the domain')
    associate (domain => grid%subdomain%global, own => grid%subdomain%internal)
      call require(all([grid%nx, grid%ny] == [domain%nx, domain%ny] + 1), 'arrays have padding')
      do j = 1, grid%ny
        do i = 1, grid%nx
          call require(equal(grid%xt(i, j), 2.0_go_wp * (domain%xstart + i - own%xstart)), 'xt')
          call require(equal(grid%yt(i, j), 3.0_go_wp * (domain%ystart + j - own%ystart)), 'yt')
        end do
      end do
      call require(all(equal(grid%dx_t, 2.0_go_wp) .and. equal(grid%dx_u, 2.0_go_wp) .and. &
          equal(grid%dx_v, 2.0_go_wp) .and. equal(grid%dx_f, grid%dx)), 'distances in x')
      call require(all(equal(grid%dy_t, 3.0_go_wp) .and. equal(grid%dy_u, 3.0_go_wp) .and. &
          equal(grid%dy_v, 3.0_go_wp) .and. equal(grid%dy_f, grid%dy)), 'distances in y')
      call require(all(equal(grid%area_t, 6.0_go_wp) .and. equal(grid%area_u, 6.0_go_wp) .and. &
          equal(grid%area_v, 6.0_go_wp)), 'areas')
      call require(all(equal(grid%gphiu, 50.0_go_wp) .and. equal(grid%gphiv, 50.0_go_wp) .and. &
          equal(grid%gphif, 50.0_go_wp)), 'latitudes')
      call require(all(grid%get_tmask() == 1), 'all is sea')

      allocate (mask(2:grid%nx - 2, 3:grid%ny - 1))
      mask = reshape([(modulo(n, 7) - 3, n=1, size(mask))], shape(mask))
      call grid_init(masked, 2.0_go_wp, 3.0_go_wp, mask)
      tmask => masked%get_tmask()
      call require(all(tmask(2:grid%nx - 2, 3:grid%ny - 1) == mask), 'the mask')
      call require(all(tmask(1, 3:grid%ny - 1) == mask(2, :)), 'the mask to the west')
      call require(all(tmask(grid%nx, 3:grid%ny - 1) == mask(grid%nx - 2, :)), 'and to the east')
      call require(all(tmask(2:grid%nx - 2, 1) == mask(:, 3)), 'and to the south')
      call require(all(tmask(2:grid%nx - 2, grid%ny) == mask(:, grid%ny - 1)), 'and to the north')

      do n = 1, size(types)
        field = r2d_field(grid, types(n), do_tile=.true.)
        call require(field%defined_on == types(n) .and. associated(field%grid, grid), 'a field')
        call require(all(shape(field%data) == [grid%nx, grid%ny]), 'the extents of a field')
        call require(all(equal(field%data, 0.0_go_wp)), 'a new field is 0')
        first = 0
        if (offset == go_offset_sw) first = merge(1, 0, ends /= go_bc_periodic .and. &
            [domain%xstart, domain%ystart] == 1)
        if (all(types(n) /= [go_u_points, go_f_points])) first(1) = 0
        if (all(types(n) /= [go_v_points, go_f_points])) first(2) = 0
        first = first + [own%xstart, own%ystart]
        call require(is_region(field%internal, first, [own%xstop, own%ystop]), 'internal points')
        if (types(n) == go_all_points) then
          call require(is_region(field%whole, [1, 1], [grid%nx, grid%ny]), 'all points')
        else
          call require(is_region(field%whole, first - 1, [own%xstop, own%ystop] + 1), &
              'points and those around them')
        end if
      end do
    end associate
    call free_field(field)
    call free_field(field)
    call require(.not. allocated(field%data) .and. .not. associated(field%grid), 'a field is freed')
  end subroutine check_grid

  !> Check copies, sums and values that are set.
  subroutine check_values()
    type(grid_type), target :: grid
    type(r2d_field), target :: field, another
    real(go_wp), allocatable :: array(:, :), copied(:, :)
    real(go_wp), pointer :: seen(:, :)
    type(region_type) :: dest, src
    integer :: n

    grid = grid_type(go_arakawa_c, [go_bc_none, go_bc_none, go_bc_none], go_offset_ne)
    call grid%decompose(11, 13)
    call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
    field = r2d_field(grid, go_t_points)
    another = r2d_field(grid, go_t_points)
    allocate (array(grid%nx, grid%ny), copied(grid%nx, grid%ny))
    array = reshape([(real(n, go_wp), n=1, size(array))], shape(array))
    call require(field%set_data(array) == 0, 'setting data')
    seen => field%get_data()
    call require(all(equal(seen, array)) .and. associated(seen, field%data), 'data')
    call copy_field(field, another)
    call require(all(equal(another%data, array)), 'a copied field')
    call copy_field(array, copied)
    call require(all(equal(copied, array)), 'a copied array')

    src = region_type(2, 4, 2, 3, 1, 4)
    dest = region_type(2, 4, 1, 2, 2, 5)
    copied(1:2, 2:5) = array(2:3, 1:4)
    call copy_field(another, src, dest)
    call require(all(equal(another%data, copied)), 'a copied region of a field')
    call copy_field(array, src, dest)
    call require(all(equal(array, copied)), 'a copied region of an array')

    call set_field(field, -2.0_go_wp)
    call require(all(equal(field%data, -2.0_go_wp)), 'a field of one value')
    call require(equal(field_checksum(field), 2.0_go_wp * 11 * 13), 'a checksum of a field')
    array = 0.0_go_wp
    array(2, 3) = -5.0_go_wp
    array(1, 1) = 1.0_go_wp
    array(grid%nx, grid%ny) = 2.0_go_wp
    call require(sums_to(array, 8), 'a checksum of an array')
    call require(sums_to(array, 5, xstart=2, xstop=2, ystart=3, ystop=3), 'and of a point')
    call require(sums_to(array, 2, xstart=3), 'without the west')
    call require(sums_to(array, 1, xstop=1), 'without the east')
    call require(sums_to(array, 2, ystart=4), 'without the south')
    call require(sums_to(array, 1, ystop=2), 'without the north')
    call check_staggered_checksum()
  end subroutine check_values

  !> Check that a checksum has the internal points of a field, which do not begin with the part.
  subroutine check_staggered_checksum()
    type(grid_type), target :: grid
    type(r2d_field) :: field

    grid = grid_type(go_arakawa_c, [go_bc_none, go_bc_none, go_bc_none], go_offset_sw)
    call grid%decompose(11, 13)
    call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
    field = r2d_field(grid, go_u_points)
    call set_field(field, 1.0_go_wp)
    call require(equal(field_checksum(field), real(10 * 13, go_wp)), 'a checksum of U points')
    field = r2d_field(grid, go_v_points)
    call set_field(field, 1.0_go_wp)
    call require(equal(field_checksum(field), real(11 * 12, go_wp)), 'a checksum of V points')
  end subroutine check_staggered_checksum

  !> Return whether the checksum of part of an array has so much from each rank.
  function sums_to(array, number, xstart, xstop, ystart, ystop)
    real(go_wp), intent(in) :: array(:, :)
    integer, intent(in) :: number
    integer, optional, intent(in) :: xstart, xstop, ystart, ystop
    logical :: sums_to

    sums_to = equal(field_checksum(array, xstart, xstop, ystart, ystop), &
        real(number * get_num_ranks(), go_wp))
  end function sums_to

  !> Write lines of every kind to the log, from one rank and from all.
  subroutine write_log()
    call model_write_log('("real ", f3.1)', 1.5_go_wp)
    call model_write_log('("integer ", i1)', 2)
    call model_write_log('("both ", i1, 1x, f3.1)', 3, 4.5_go_wp)
    call model_write_log('(a)', 'text')
    call model_write_log('("real of all ", f3.1)', 1.5_go_wp, all_ranks=.true.)
    call model_write_log('("integer of all ", i1)', get_rank(), all_ranks=.true.)
    call model_write_log('("both of all ", i1, 1x, f3.1)', 3, 4.5_go_wp, all_ranks=.true.)
    call model_write_log('(a)', 'text of all', all_ranks=.true.)
    call model_write_log('(a)', 'text of one', all_ranks=.false.)
  end subroutine write_log

  !> Return whether a region goes from one point to another.
  pure function is_region(region, first, last)
    type(region_type), intent(in) :: region
    integer, intent(in) :: first(2), last(2)
    logical :: is_region

    is_region = all([region%xstart, region%ystart] == first .and. &
        [region%xstop, region%ystop] == last .and. [region%nx, region%ny] == last - first + 1)
  end function is_region

  elemental function equal(one, other)
    real(go_wp), intent(in) :: one, other
    logical :: equal

    equal = abs(one - other) <= 0.0_go_wp
  end function equal

  !> Stop unless something holds.
  subroutine require(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what

    if (.not. holds) call gocean_stop('wrong: ' // what)
  end subroutine require

end program fields
