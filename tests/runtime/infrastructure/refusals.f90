!> Does one thing that the infrastructure refuses: the first word of the command line says which.
!>
!> A second word is there if there are ranks; without it, MPI is not started.
program refusals

  use checks_mod, only: deepest, new_mesh, space, start_checks
  use columnwise_operator_mod, only: columnwise_operator_type
  use constants_mod, only: i_def, i_halo_index, i_timestep, r_def, r_double, r_second
  use domain_mod, only: domain_type
  use field_array_mod, only: field_array_type
  use field_collection_iterator_mod, only: field_collection_iterator_type
  use field_collection_mod, only: field_collection_type
  use field_mod, only: field_proxy_type, field_type
  use field_parent_mod, only: field_parent_type
  use field_real32_mod, only: field_real32_proxy_type, field_real32_type
  use field_vector_mod, only: field_vector_type
  use fs_continuity_mod, only: functionspace_from_name, name_from_functionspace, W0, W2broken, &
                               W2V, W3
  use function_space_collection_mod, only: function_space_collection, &
                                           function_space_collection_type
  use function_space_mod, only: function_space_type
  use halo_routing_mod, only: halo_routing_type
  use integer_field_mod, only: integer_field_proxy_type, integer_field_type
  use joint_exchange_mod, only: exchange_fields, joint_exchange_type
  use lfric_mpi_mod, only: global_mpi
  use log_mod, only: log_event, LOG_LEVEL_ALWAYS, LOG_LEVEL_ERROR, LOG_LEVEL_WARNING
  use matrix_invert_mod, only: matrix_invert_lu
  use mesh_collection_mod, only: mesh_collection, mesh_collection_type
  use mesh_colouring_mod, only: colours_of_tiles
  use mesh_map_mod, only: mesh_map_type
  use mesh_mod, only: mesh_type
  use model_clock_mod, only: model_clock_type
  use pure_abstract_field_mod, only: pure_abstract_field_type
  use quadrature_rule_gauss_lobatto_mod, only: quadrature_rule_gauss_lobatto_type
  use r_solver_field_vector_mod, only: r_solver_field_vector_type
  use stencil_2D_dofmap_mod, only: stencil_2D_dofmap_type

  implicit none

  type, extends(pure_abstract_field_type) :: no_field_type
  end type no_field_type

  type(mesh_type), pointer :: mesh
  type(function_space_type), pointer :: fs
  character(48) :: what

  call get_command_argument(1, what)
  if (command_argument_count() > 1) then
    call start_checks()
  else
    allocate (mesh_collection, source=mesh_collection_type())
    allocate (function_space_collection, source=function_space_collection_type())
  end if
  mesh => new_mesh('plane', .true., 6, 4)
  fs => space(mesh, W3)
  call misuse_fields()
  call misuse_joint_exchanges()
  call misuse_ranks()
  call misuse_collections()
  call misuse_vectors()
  call misuse_meshes()
  call misuse_spaces()
  call misuse_columns()
  call misuse_the_rest()
  print '(2a)', 'nobody refuses: ', what

contains

  subroutine misuse_fields()
    type(field_type) :: field
    type(field_proxy_type) :: proxy
    real(r_def), allocatable, target :: steps(:)

    allocate (steps(2 * fs%get_undf()))
    call field%initialise(fs)
    proxy = field%get_proxy()
    select case (what)
    case ('data in steps')
      call field%initialise(fs, override_data=steps(::2))
    case ('a halo beyond that of the mesh')
      call field%initialise(fs, halo_depth=deepest + 1)
    case ('output without a procedure')
      call field%write_field()
    case ('input without a procedure')
      call field%read_field('name')
    case ('a checkpoint without a procedure')
      call field%write_checkpoint('name', 'file')
    case ('a checkpoint read without a procedure')
      call field%read_checkpoint('name', 'file')
    case ('an exchange started twice')
      call proxy%halo_exchange_start(1)
      call proxy%halo_exchange_start(1)
    case ('an exchange of depth 0')
      call proxy%halo_exchange_start(0)
    case ('an exchange beyond the halo')
      call field%initialise(fs, halo_depth=2)
      proxy = field%get_proxy()
      call proxy%halo_exchange_start(3)
    case ('an exchange that was not started')
      call proxy%halo_exchange_finish(1)
    case ('an exchange finished at another depth')
      call proxy%halo_exchange_start(1)
      call proxy%halo_exchange_finish(2)
    end select
  end subroutine misuse_fields

  subroutine misuse_joint_exchanges()
    type(field_type) :: reals(1)
    type(field_real32_type) :: short_reals(1)
    type(integer_field_type) :: integers(1)
    type(field_proxy_type) :: of_reals(1)
    type(field_real32_proxy_type) :: of_short_reals(1)
    type(integer_field_proxy_type) :: of_integers(1)
    type(joint_exchange_type) :: exchange

    call reals(1)%initialise(fs)
    call short_reals(1)%initialise(fs)
    call integers(1)%initialise(fs)
    of_reals(1) = reals(1)%get_proxy()
    of_short_reals(1) = short_reals(1)%get_proxy()
    of_integers(1) = integers(1)%get_proxy()
    select case (what)
    case ('reals started twice')
      call exchange%start(of_integers, [1])
      call exchange%start(of_reals, [1])
    case ('short reals started twice')
      call exchange%start(of_reals, [1])
      call exchange%start(of_short_reals, [1])
    case ('integers started twice')
      call exchange%start(of_short_reals, [1])
      call exchange%start(of_integers, [1])
    case ('a field of a joint exchange exchanged alone')
      call exchange%start(of_reals, [1])
      call of_reals(1)%halo_exchange_start(1)
    case ('a field under way exchanged with others')
      call of_reals(1)%halo_exchange_start(1)
      call exchange%start(of_reals, [1])
    case ('a joint exchange that was not started')
      call exchange%finish()
    case ('a joint exchange finished twice')
      call exchange%start(of_reals, [1])
      call exchange%finish()
      call exchange%finish()
    case ('more depths than fields')
      call exchange_fields(of_reals, [1, 1])
    case ('a joint exchange of depth 0')
      call exchange_fields(of_reals, 0)
    case ('a joint exchange beyond the halo')
      call exchange_fields(of_reals, deepest + 1)
    end select
  end subroutine misuse_joint_exchanges

  subroutine misuse_ranks()
    integer(i_def) :: numbers(2)

    numbers = 0
    select case (what)
    case ('a broadcast of more than there is')
      call global_mpi%broadcast(numbers, 3, 0)
    case ('no room for what all ranks have')
      call global_mpi%all_gather(numbers, numbers(:1), 2)
    end select
  end subroutine misuse_ranks

  subroutine misuse_collections()
    type(field_collection_type) :: collection
    type(field_collection_iterator_type) :: iterator
    type(field_array_type), target :: array
    type(field_array_type), pointer :: found_array
    type(field_type) :: field
    type(field_type), pointer :: found
    type(field_real32_type), pointer :: found_short
    type(integer_field_type) :: whole
    type(integer_field_type), pointer :: found_whole
    type(no_field_type) :: nothing
    class(field_parent_type), pointer :: visited
    class(pure_abstract_field_type), pointer :: item

    call field%initialise(fs, 'field')
    call whole%initialise(fs, 'whole')
    call array%initialise(1_i_def, 'array')
    call collection%initialise()
    call collection%add_field(field)
    call collection%add_field(whole)
    call collection%add_field(array)
    select case (what)
    case ('a name twice')
      call collection%add_field(field)
    case ('a reference to an array')
      item => array
      call collection%add_reference_to_field(item)
    case ('what is no field')
      call collection%add_field(nothing)
    case ('removing what is not there')
      call collection%remove_field('other')
    case ('looking for what is not there')
      call collection%get_field('other', found)
    case ('a place that is not there')
      item => collection%get_item(4_i_def)
    case ('reals that are integers')
      call collection%get_field('whole', found)
    case ('short reals that are reals')
      call collection%get_field('field', found_short)
    case ('integers that are reals')
      call collection%get_field('field', found_whole)
    case ('an array that is a field')
      call collection%get_field('field', found_array)
    case ('walking over an array')
      call iterator%initialise(collection)
      do while (iterator%has_next())
        visited => iterator%next()
      end do
    end select
  end subroutine misuse_collections

  subroutine misuse_vectors()
    type(field_vector_type) :: vector
    type(r_solver_field_vector_type) :: other

    vector = field_vector_type(0)
    other = r_solver_field_vector_type(0)
    select case (what)
    case ('adding a vector of another kind')
      call vector%axpy(1.0_r_def, other)
    case ('copying a vector of another kind')
      call vector%copy(other)
    case ('the product with a vector of another kind')
      print *, vector%dot(other)
    end select
  end subroutine misuse_vectors

  subroutine misuse_meshes()
    type(mesh_type), pointer :: other
    type(mesh_map_type), pointer :: map
    type(domain_type) :: plane, sphere
    integer(i_def) :: n

    plane = domain_type(reshape([0.0_r_def, 1.0_r_def], [2, 1]), 0.0_r_def, 1.0_r_def, .false.)
    sphere = domain_type(reshape([0.0_r_def, 1.0_r_def], [2, 1]), 0.0_r_def, 1.0_r_def, .true.)
    select case (what)
    case ('a mesh without a cell in x')
      other => new_mesh('other', .true., 0, 4)
    case ('a mesh without a cell in y')
      other => new_mesh('other', .true., 4, 0)
    case ('tiles without a cell')
      other => new_mesh('other', .true., 6, 4, tile_size=[2, 0])
    case ('more colours than bits')
      print *, colours_of_tiles([(n, n=1, 65)], reshape([(1, n=1, 65)], [1, 65]))
    case ('an unknown mesh')
      print *, mesh_collection%get_mesh_id('other')
    case ('meshes that are not nested')
      other => new_mesh('other', .true., 4, 4)
      call mesh%add_mesh_map(other)
    case ('meshes that are cut elsewhere')
      other => new_mesh('other', .true., 3, 4)
      call mesh%add_mesh_map(other)
    case ('a map that was not added')
      other => new_mesh('other', .true., 3, 2)
      map => mesh%get_mesh_map(other)
    case ('the least longitude in a plane')
      print *, plane%minimum_lonlat(1_i_def)
    case ('the greatest longitude in a plane')
      print *, plane%maximum_lonlat(1_i_def)
    case ('the least x on a sphere')
      print *, sphere%minimum_xy(1_i_def)
    case ('the greatest x on a sphere')
      print *, sphere%maximum_xy(1_i_def)
    end select
  end subroutine misuse_meshes

  subroutine misuse_spaces()
    type(stencil_2D_dofmap_type) :: stencil
    type(function_space_type), pointer :: other

    select case (what)
    case ('a cross of another shape')
      stencil = stencil_2D_dofmap_type(1_i_def, 1_i_def, mesh, reshape([1_i_def], [1, 1]))
    case ('an order below 0')
      other => space(mesh, W3, [-1, 0])
    case ('an order below 0 in the vertical')
      other => space(mesh, W3, [0, -1])
    case ('neither basis')
      print *, fs%call_function(3_i_def, 1_i_def, [0.5_r_def, 0.5_r_def, 0.5_r_def])
    case ('a space below all')
      print *, name_from_functionspace(0_i_def)
    case ('a space above all')
      print *, name_from_functionspace(1000_i_def)
    case ('the name of no space')
      print *, functionspace_from_name('W5')
    end select
  end subroutine misuse_spaces

  subroutine misuse_columns()
    type(columnwise_operator_type) :: one, other, result
    type(function_space_type), pointer :: broken, coarse, many, shared, vertical

    broken => space(mesh, W2broken)
    shared => space(mesh, W0)
    vertical => space(mesh, W2V)
    coarse => space(new_mesh('coarse', .true., 3, 2), W3)
    many => function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, W3, 2_i_def)
    call one%initialise(fs, vertical)
    call other%initialise(vertical, fs)
    select case (what)
    case ('a band without a direction')
      call result%initialise(fs, vertical, 0, 1, 1, 1)
    case ('a band without a width')
      call result%initialise(fs, vertical, 1, 1, 1, -2)
    case ('columns of two meshes')
      call result%initialise(fs, coarse)
    case ('columns that share dofs')
      call result%initialise(fs, shared)
    case ('columns with several values')
      call result%initialise(many, fs)
    case ('a product that does not fit')
      result = one%columnwise_operator_product(one)
    case ('a sum that does not fit')
      result = one%columnwise_operator_sum(other)
    case ('a sum of two directions')
      call other%initialise(fs, vertical, 1, 7, 1, 1)
      result = one%columnwise_operator_sum(other)
    end select
  end subroutine misuse_columns

  subroutine misuse_the_rest()
    type(quadrature_rule_gauss_lobatto_type) :: rule
    type(model_clock_type) :: clock
    type(halo_routing_type) :: routing
    real(r_double) :: inverse(2, 2), singular(2, 2)

    select case (what)
    case ('a rule of one point')
      print *, rule%quadrature_rule(1_i_def)
    case ('a clock that runs backwards')
      clock = model_clock_type(2_i_timestep, 1_i_timestep, 1.0_r_second, 0.0_r_second)
    case ('a clock that stands still')
      clock = model_clock_type(1_i_timestep, 2_i_timestep, 0.0_r_second, 0.0_r_second)
    case ('a singular matrix')
      singular = 1.0_r_double
      call matrix_invert_lu(singular, inverse, 2_i_def)
    case ('a dof without an owner')
      routing = halo_routing_type([1_i_halo_index, 2_i_halo_index], [0_i_def, 0_i_def], 1_i_def)
    case ('an error in the log')
      call log_event('a warning', LOG_LEVEL_WARNING)
      call log_event('always', LOG_LEVEL_ALWAYS)
      call log_event('an error', LOG_LEVEL_ERROR)
    end select
  end subroutine misuse_the_rest

end program refusals
