!> Exchanges between two halves of an LFRic plane. In a periodic one each half has the other on both
!> sides, so that what it sends and receives lies in several places of its fields.
program lfric

  use, intrinsic :: iso_fortran_env, only: int64, real64
  use bare_mod, only: most_bytes, report
  use constants_mod, only: i_def, l_def, r_def
  use extrusion_mod, only: PRIME_EXTRUSION, uniform_extrusion_type
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: W0, W1, W2, W2H, W3, Wtheta
  use function_space_collection_mod, only: function_space_collection, &
      function_space_collection_type
  use joint_exchange_mod, only: exchange_fields
  use lfric_mpi_mod, only: create_comm, destroy_comm, global_mpi, lfric_comm_type
  use local_mesh_mod, only: local_mesh_type
  use mesh_collection_mod, only: mesh_collection, mesh_collection_type
  use mesh_mod, only: mesh_type

  implicit none

  type(lfric_comm_type) :: comm
  type(field_type) :: fields(6)
  type(field_proxy_type) :: proxies(6)
  integer :: meshes = 0, number

  call create_comm(comm)
  call global_mpi%initialise(comm)
  allocate (mesh_collection, source=mesh_collection_type())
  allocate (function_space_collection, source=function_space_collection_type())
  call measure('W3, one side', [W3], 32_i_def, .false.)
  call measure('W3', [W3], 32_i_def, .true.)
  call measure('Wtheta', [Wtheta], 32_i_def, .true.)
  call measure('W0', [W0], 32_i_def, .true.)
  call measure('W1', [W1], 32_i_def, .true.)
  call measure('W2H', [W2H], 32_i_def, .true.)
  call measure('W2', [W2], 32_i_def, .true.)
  call measure('W2, 1 layer', [W2], 1_i_def, .true.)
  call measure('vector of 3, W3', [W3, W3, W3], 32_i_def, .true.)
  call measure('6 fields, W3, one side', [W3, W3, W3, W3, W3, W3], 32_i_def, .false.)
  call measure('W2, W3 and Wtheta', [W2, W3, Wtheta], 32_i_def, .true.)
  call destroy_comm()

contains

  !> Time exchanges of a field on each of these spaces, on wider and wider planes.
  subroutine measure(name, spaces, layers, periodic)
    character(*), intent(in) :: name
    integer(i_def), intent(in) :: spaces(:), layers
    logical(l_def), intent(in) :: periodic
    type(mesh_type), pointer :: mesh
    integer(int64) :: bytes
    integer(i_def) :: n

    number = size(spaces)
    do n = 1, 8
      mesh => new_mesh(2_i_def**n, layers, periodic)
      call set_fields(mesh, spaces)
      if (number == 1) then
        call report('lfric ' // name, bytes, exchange_apart, get, put)
      else
        call report('lfric ' // name, bytes, exchange_together, get, put, exchange_apart)
      end if
      if (bytes > most_bytes / 2) exit
    end do
  end subroutine measure

  !> Return a mesh of so many cells in x, and of more in y, so that the cut is across y.
  function new_mesh(cells, layers, periodic) result(mesh)
    integer(i_def), intent(in) :: cells, layers
    logical(l_def), intent(in) :: periodic
    type(mesh_type), pointer :: mesh
    type(local_mesh_type), pointer :: plane
    character(32) :: name

    meshes = meshes + 1
    write (name, '(a, i0)') 'plane', meshes
    allocate (plane)
    plane = local_mesh_type(trim(name), cells, max(cells, 4_i_def), 1.0_r_def, 1.0_r_def, &
        .false., periodic, halo_depth=1_i_def)
    mesh => mesh_collection%get_mesh(mesh_collection%add_new_mesh(mesh_type(plane, &
        uniform_extrusion_type(0.0_r_def, real(layers, r_def), layers, PRIME_EXTRUSION))))
  end function new_mesh

  !> Make a field on each of these spaces.
  subroutine set_fields(mesh, spaces)
    type(mesh_type), pointer, intent(in) :: mesh
    integer(i_def), intent(in) :: spaces(:)
    integer :: m

    do m = 1, number
      call fields(m)%initialise(function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, spaces(m)), &
          halo_depth=1_i_def)
      proxies(m) = fields(m)%get_proxy()
    end do
  end subroutine set_fields

  subroutine exchange_apart()
    integer :: m

    do m = 1, number
      call proxies(m)%set_dirty()
      call proxies(m)%halo_exchange(depth=1)
    end do
  end subroutine exchange_apart

  subroutine exchange_together()
    integer :: m

    do m = 1, number
      call proxies(m)%set_dirty()
    end do
    call exchange_fields(proxies(:number), 1)
  end subroutine exchange_together

  function get() result(values)
    real(real64), allocatable :: values(:)
    integer :: m

    values = [(proxies(m)%data, m=1, number)]
  end function get

  subroutine put(values)
    real(real64), contiguous, intent(in) :: values(:)
    integer :: m, next

    next = 1
    do m = 1, number
      proxies(m)%data = values(next:next + size(proxies(m)%data) - 1)
      next = next + size(proxies(m)%data)
    end do
  end subroutine put

end program lfric
