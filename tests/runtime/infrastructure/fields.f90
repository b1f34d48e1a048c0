!> Procedures for the input and output of a field, which note what they are asked for.
module notes_mod

  use checks_mod, only: check
  use field_parent_mod, only: field_parent_proxy_type

  implicit none
  private

  public :: note_read, note_restore, note_save, note_write

  character(32), public :: said

contains

  subroutine note_write(field_name, field_proxy)
    character(*), intent(in) :: field_name
    class(field_parent_proxy_type), intent(in) :: field_proxy

    call check(associated(field_proxy%vspace), 'a field to be written')
    said = 'write ' // field_name
  end subroutine note_write

  subroutine note_read(field_name, field_proxy)
    character(*), intent(in) :: field_name
    class(field_parent_proxy_type), intent(inout) :: field_proxy

    call check(associated(field_proxy%vspace), 'the field to be read')
    said = 'read ' // field_name
  end subroutine note_read

  subroutine note_save(field_name, file_name, field_proxy)
    character(*), intent(in) :: field_name
    character(*), intent(in) :: file_name
    class(field_parent_proxy_type), intent(in) :: field_proxy

    call check(associated(field_proxy%vspace), 'the field of a checkpoint to be written')
    said = 'save ' // field_name // ' ' // file_name
  end subroutine note_save

  subroutine note_restore(field_name, file_name, field_proxy)
    character(*), intent(in) :: field_name
    character(*), intent(in) :: file_name
    class(field_parent_proxy_type), intent(inout) :: field_proxy

    call check(associated(field_proxy%vspace), 'the field of a checkpoint to be read')
    said = 'restore ' // field_name // ' ' // file_name
  end subroutine note_restore

end module notes_mod

!> Fields on many ranks: what copies share, what is written and read, reductions, vectors and
!> collections.
program fields

  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use checks_mod, only: check, deepest, finish_checks, new_mesh, space, start_checks
  use constants_mod, only: i_def, i_halo_index, l_def, r_def
  use field_array_mod, only: field_array_type
  use field_collection_iterator_mod, only: field_collection_iterator_type
  use field_collection_mod, only: field_collection_type
  use field_mod, only: field_proxy_type, field_type
  use field_parent_mod, only: checkpoint_read_interface, checkpoint_write_interface, &
                              field_parent_proxy_type, field_parent_type, read_interface, &
                              write_interface
  use field_real32_mod, only: field_real32_proxy_type, field_real32_type
  use field_real64_mod, only: field_real64_pointer_type
  use field_vector_mod, only: field_vector_type
  use fs_continuity_mod, only: W0, W3
  use function_space_mod, only: function_space_type
  use integer_field_mod, only: integer_field_proxy_type, integer_field_type
  use integer_scalar_mod, only: integer_scalar_type
  use lfric_mpi_mod, only: global_mpi
  use notes_mod, only: note_read, note_restore, note_save, note_write, said
  use operator_mod, only: operator_proxy_type, operator_type
  use pure_abstract_field_mod, only: pure_abstract_field_type
  use scalar_mod, only: scalar_type
  use vector_mod, only: abstract_vector_type

  implicit none

  type(function_space_type), pointer :: fs

  call start_checks()
  fs => space(new_mesh('plane', .true., 8, 6), W0)
  call copies_have_flags_of_their_own()
  call copies_have_the_properties()
  call input_and_output_go_to_what_was_set()
  call reductions_are_over_all_ranks()
  call vectors_are_combined()
  call collections_find_fields()
  call operators_are_copied()
  call finish_checks()

contains

  !> Check that a copy is as clean as the field was, and does not follow it.
  subroutine copies_have_flags_of_their_own()
    type(field_type) :: field, copy, empty
    type(field_proxy_type) :: proxy, copy_proxy

    call field%initialise(fs, 'field', halo_depth=deepest)
    proxy = field%get_proxy()
    call check(all(is_dirty(proxy)), 'a new field is dirty')
    call check(.not. proxy%is_dirty(0), 'but not at depth 0, which has no dofs')
    call proxy%halo_exchange(2)
    call check(all(is_dirty(proxy) .eqv. [.false., .false., .true.]), 'an exchange cleans so far')
    proxy%data = 2.0_r_def

    copy = field
    copy_proxy = copy%get_proxy()
    call check(all(is_dirty(copy_proxy) .eqv. is_dirty(proxy)), 'a copy is as clean as the field')
    call check(all(abs(copy_proxy%data - 2.0_r_def) <= 0.0_r_def), 'and has its values')
    call check(copy%get_name() == 'field' .and. copy%get_field_halo_depth() == deepest, &
               'and its name and halo')
    call copy_proxy%set_dirty()
    copy_proxy%data = 3.0_r_def
    call check(.not. proxy%is_dirty(1), 'but flags of its own')
    call check(all(abs(proxy%data - 2.0_r_def) <= 0.0_r_def), 'and values of its own')

    call field%copy_field_serial(copy, 'other')
    copy_proxy = copy%get_proxy()
    call check(copy%get_name() == 'other', 'a copy may have another name')
    call check(all(is_dirty(copy_proxy) .eqv. is_dirty(proxy)), 'a renamed copy is as clean')
    call check(all(abs(copy_proxy%data - 2.0_r_def) <= 0.0_r_def), 'a renamed copy has the values')
    call field%copy_field_serial(copy)
    call check(copy%get_name() == 'none', 'a copy without a name')

    call check(.not. empty%is_initialised(), 'a field that was not made')
    copy = empty
    call check(.not. copy%is_initialised(), 'a copy of it is none')
    call field%field_final()
    call check(.not. field%is_initialised(), 'a field that was given back')
    call field%initialise(fs)
    call check(field%is_initialised() .and. field%get_name() == 'none', 'and made anew')
    proxy = field%get_proxy()
    call check(size(proxy%data) == fs%get_last_dof_halo(field%get_field_halo_depth()), &
               'a field has memory for its own halo only')
  end subroutine copies_have_flags_of_their_own

  !> Return the flags of a field, by depth.
  function is_dirty(proxy)
    class(field_parent_proxy_type), intent(in) :: proxy
    logical(l_def) :: is_dirty(deepest)

    integer(i_def) :: depth

    is_dirty = [(proxy%is_dirty(depth), depth=1, deepest)]
  end function is_dirty

  !> Check what a field without the values of another has from it.
  subroutine copies_have_the_properties()
    type(field_type) :: field, copy
    type(field_proxy_type) :: proxy, copy_proxy
    procedure(write_interface), pointer :: write_it
    procedure(read_interface), pointer :: read_it
    procedure(checkpoint_write_interface), pointer :: save_it
    procedure(checkpoint_read_interface), pointer :: restore_it

    call field%initialise(fs, 'field', halo_depth=deepest)
    proxy = field%get_proxy()
    proxy%data = 2.0_r_def
    call proxy%set_clean(1)
    call field%copy_field_properties(copy)
    call check(.not. (copy%can_write() .or. copy%can_read() .or. copy%can_checkpoint()), &
               'nothing is set')
    write_it => note_write
    read_it => note_read
    save_it => note_save
    restore_it => note_restore
    call field%set_write_behaviour(write_it)
    call field%set_read_behaviour(read_it)
    call field%set_checkpoint_write_behaviour(save_it)
    call check(.not. field%can_checkpoint(), 'a checkpoint is written and read')
    call field%set_checkpoint_read_behaviour(restore_it)
    call field%copy_field_properties(copy, 'copy')
    copy_proxy = copy%get_proxy()
    call check(copy%get_name() == 'copy' .and. copy%which_function_space() == W0, 'name and space')
    call check(copy%get_field_halo_depth() == deepest, 'the halo')
    call check(copy_proxy%get_field_proxy_halo_depth() == deepest, 'the halo of a proxy')
    call check(all(abs(copy_proxy%data) <= 0.0_r_def), 'no values')
    call check(copy%can_write() .and. copy%can_read() .and. copy%can_checkpoint(), 'procedures')
    call copy%get_write_behaviour(write_it)
    call copy%get_read_behaviour(read_it)
    call copy%get_checkpoint_write_behaviour(save_it)
    call copy%get_checkpoint_read_behaviour(restore_it)
    call check(associated(write_it, note_write) .and. associated(read_it, note_read) .and. &
               associated(save_it, note_save) .and. associated(restore_it, note_restore), &
               'each procedure in its place')
    call check(copy%get_mesh_id() == fs%get_mesh_id(), 'the mesh')
    call check(all([copy%get_element_order(), copy%get_element_order_h(), &
                    copy%get_element_order_v()] == 0), 'the order of the element')
    call check(.not. (copy%is_readonly() .or. copy_proxy%is_readonly()), 'what may be written')
    call check(associated(copy%get_mesh(), fs%get_mesh()), 'the mesh itself')
    call check(associated(copy%get_function_space(), fs), 'the space itself')
  end subroutine copies_have_the_properties

  !> Check which procedures are called, with which names, and what they leave.
  subroutine input_and_output_go_to_what_was_set()
    type(field_type) :: field
    type(field_proxy_type) :: proxy
    procedure(write_interface), pointer :: write_it
    procedure(read_interface), pointer :: read_it
    procedure(checkpoint_write_interface), pointer :: save_it
    procedure(checkpoint_read_interface), pointer :: restore_it

    write_it => note_write
    read_it => note_read
    save_it => note_save
    restore_it => note_restore
    call field%initialise(fs, 'field')
    call field%set_write_behaviour(write_it)
    call field%set_read_behaviour(read_it)
    call field%set_checkpoint_write_behaviour(save_it)
    call field%set_checkpoint_read_behaviour(restore_it)
    proxy = field%get_proxy()
    call proxy%set_clean(1)
    call field%write_field()
    call check(said == 'write field', 'a field is written with its name')
    call field%write_field('other')
    call check(said == 'write other', 'or with another')
    call field%write_checkpoint('name', 'file')
    call check(said == 'save name file', 'a checkpoint is written')
    call check(.not. proxy%is_dirty(1), 'writing leaves a field clean')
    call field%read_field('name')
    call check(said == 'read name', 'a field is read')
    call check(proxy%is_dirty(1), 'its halo was not')
    call proxy%set_clean(1)
    call field%read_checkpoint('name', 'file')
    call check(said == 'restore name file', 'a checkpoint is read')
    call check(proxy%is_dirty(1), 'without the halo')
  end subroutine input_and_output_go_to_what_was_set

  !> Check that reductions have what every rank owns, and no more.
  subroutine reductions_are_over_all_ranks()
    type(field_type) :: field
    type(field_proxy_type) :: proxy
    type(field_real32_type) :: narrow
    type(field_real32_proxy_type) :: narrow_proxy
    type(integer_field_type) :: whole
    type(integer_field_proxy_type) :: whole_proxy
    type(scalar_type) :: scalar
    type(integer_scalar_type) :: number
    integer(i_halo_index), allocatable :: ids(:)
    integer(i_def) :: last, rank, ranks, total

    call fs%get_global_dof_id(ids)
    last = fs%get_last_dof_owned()
    call field%initialise(fs)
    proxy = field%get_proxy()
    proxy%data = ieee_value(1.0_r_def, ieee_quiet_nan)
    proxy%data(:last) = real(ids(:last), r_def)
    total = fs%get_ndof_glob()
    call check(is(proxy%get_min(), 0) .and. is(proxy%get_max(), total - 1), 'extremes')
    call check(is(proxy%get_sum(), total * (total - 1) / 2), 'the sum')
    call narrow%initialise(fs)
    narrow_proxy = narrow%get_proxy()
    narrow_proxy%data = 1.0e6
    narrow_proxy%data(:last) = real(ids(:last) + 1)
    call check(is(real(narrow_proxy%get_min(), r_def), 1), 'the least of short reals')
    call check(is(real(narrow_proxy%get_max(), r_def), total), 'the greatest')
    call check(is(real(narrow_proxy%get_sum(), r_def), total * (total + 1) / 2), 'the sum')
    call whole%initialise(fs)
    whole_proxy = whole%get_proxy()
    whole_proxy%data = -1
    whole_proxy%data(:last) = int(ids(:last), i_def) + 1
    call check(whole_proxy%get_min() == 1, 'the least integer')
    call check(whole_proxy%get_max() == total, 'the greatest')
    call check(whole_proxy%get_sum() == total * (total + 1) / 2, 'the sum')

    rank = int(global_mpi%get_comm_rank(), i_def)
    ranks = int(global_mpi%get_comm_size(), i_def)
    call scalar%initialise(real(rank, r_def))
    call check(is(scalar%get_min(), 0) .and. is(scalar%get_max(), ranks - 1), 'scalars')
    call check(is(scalar%get_sum(), ranks * (ranks - 1) / 2), 'the sum of scalars')
    call number%initialise(rank)
    call check(number%get_min() == 0 .and. number%get_max() == ranks - 1, 'integer scalars')
    call check(number%get_sum() == ranks * (ranks - 1) / 2, 'their sum')
  end subroutine reductions_are_over_all_ranks

  !> Return whether a real is an integer.
  elemental function is(value, number)
    real(r_def), intent(in) :: value
    integer(i_def), intent(in) :: number
    logical :: is

    is = abs(value - number) <= 0.0_r_def
  end function is

  !> Check the operations of vectors; a vector may be an operand of its own.
  subroutine vectors_are_combined()
    type(field_vector_type) :: v, x, y
    class(abstract_vector_type), allocatable :: other
    type(field_type) :: field
    type(field_proxy_type) :: proxy
    integer(i_def) :: total

    total = fs%get_ndof_glob()
    call field%initialise(fs, 'field')
    v = field_vector_type(2)
    call v%import_field(field, 1)
    call v%import_field(field, 2)
    call x%copy(v)
    call y%copy(v)
    call x%set_scalar(2.0_r_def)
    call y%set_scalar(3.0_r_def)
    call v%set_scalar(ieee_value(1.0_r_def, ieee_quiet_nan))
    call v%axpby(5.0_r_def, x, 7.0_r_def, y)
    call check(holds(v, 31), 'a x + b y')
    call x%axpby(5.0_r_def, x, 7.0_r_def, y)
    call check(holds(x, 31), 'x may be itself')
    call x%set_scalar(2.0_r_def)
    call check(holds(x, 2), 'one value')
    call y%axpby(5.0_r_def, x, 7.0_r_def, y)
    call check(holds(y, 31), 'and so may y')
    call y%set_scalar(3.0_r_def)
    call v%copy(y)
    call v%axpy(4.0_r_def, x)
    call check(holds(v, 11), 'v + a x')
    call v%aypx(2.0_r_def, x)
    call check(holds(v, 24), 'a v + x')
    call v%scale(0.5_r_def)
    call check(holds(v, 12), 'a v')
    call check(is(v%dot(x), 2 * 24 * total), 'the inner product')
    call check(abs(x%norm() - sqrt(8.0_r_def * total)) < 1.0e-9_r_def, 'the norm')
    call check(abs(x%field_norm(2) - sqrt(4.0_r_def * total)) < 1.0e-9_r_def, 'that of a field')
    proxy = field%get_proxy()
    call proxy%set_clean(1)
    call v%export_field(field, 2)
    call check(all(is(proxy%data, 12)) .and. proxy%is_dirty(1), 'values of a component')
    field = v%get_field_from_position(1)
    proxy = field%get_proxy()
    call check(all(is(proxy%data, 12)), 'a component')
    call v%duplicate(other)
    call v%duplicate(other)
    call check(other%vector_size() == 2, 'a vector on the same spaces')
    call check(is(other%norm(), 0), 'without the values')
    call other%copy(v)
    call v%set_scalar(0.0_r_def)
    call v%axpy(1.0_r_def, other)
    call check(holds(v, 12), 'a copy has values of its own')
  end subroutine vectors_are_combined

  !> Return whether all values of a vector are an integer, and its halos dirty; clean them.
  function holds(vector, number)
    type(field_vector_type), intent(in) :: vector
    integer(i_def), intent(in) :: number
    logical :: holds

    type(field_proxy_type) :: proxy
    integer(i_def) :: n

    holds = .true.
    do n = 1, vector%vector_size()
      proxy = vector%vector(n)%get_proxy()
      holds = holds .and. all(is(proxy%data, number)) .and. proxy%is_dirty(1)
      call proxy%set_clean(1)
    end do
  end function holds

  !> Check collections of copies, pointers and arrays, in order and by name.
  subroutine collections_find_fields()
    type(field_collection_type) :: collection, copies
    type(field_collection_iterator_type) :: iterator
    type(field_array_type) :: array
    type(field_array_type), pointer :: found_array
    type(field_type), target :: field, referred
    type(field_type), pointer :: found
    type(field_proxy_type) :: proxy
    type(field_real64_pointer_type) :: pointer_to_field
    type(field_real32_type), target :: narrow
    type(field_real32_type), pointer :: found_narrow
    type(integer_field_type), target :: whole
    type(integer_field_type), pointer :: found_whole
    class(pure_abstract_field_type), pointer :: item
    class(field_parent_type), pointer :: visited
    character(*), parameter :: names(5) = &
      ['field   ', 'referred', 'narrow  ', 'whole   ', 'pointer ']
    integer :: n

    call field%initialise(fs, 'field')
    call referred%initialise(fs, 'referred')
    call narrow%initialise(fs, 'narrow')
    call whole%initialise(fs, 'whole')
    call check(collection%get_name() == 'unnamed_collection', 'a collection without a name')
    call check(collection%get_length() == 0, 'a collection that was not made is empty')
    call collection%add_field(field)
    call check(collection%get_length() == 1, 'and can be added to')
    call collection%initialise()
    call check(collection%get_length() == 0, 'a collection that was made anew is empty')
    call check(collection%get_name() == 'unnamed_collection', 'and keeps its name')
    call collection%initialise('fields', table_len=7_i_def)
    call check(collection%get_name() == 'fields' .and. collection%get_table_len() == 1, 'a name')
    call collection%add_field(field)
    item => referred
    call collection%add_reference_to_field(item)
    item => narrow
    call collection%add_reference_to_field(item)
    item => whole
    call collection%add_reference_to_field(item)
    proxy = field%get_proxy()
    proxy%data = 1.0_r_def
    call check(collection%field_exists('field'), 'the first field is there')
    call collection%get_field('field', found)
    call check(found%get_name() == 'field' .and. .not. associated(found, field), 'and is found')
    proxy = found%get_proxy()
    call check(all(is(proxy%data, 0)), 'what was added is a copy')
    call collection%get_field('referred', found)
    call check(associated(found, referred), 'what was referred to is not')
    call collection%get_field('narrow', found_narrow)
    call check(associated(found_narrow, narrow), 'nor is a field of short reals')
    call collection%get_field('whole', found_whole)
    call check(associated(found_whole, whole), 'nor one of integers')
    call narrow%initialise(fs, 'narrow copy')
    call whole%initialise(fs, 'whole copy')
    call copies%add_field(narrow)
    call copies%add_field(whole)
    call copies%get_field('narrow copy', found_narrow)
    call copies%get_field('whole copy', found_whole)
    call check(found_narrow%get_name() == 'narrow copy' .and. &
               .not. associated(found_narrow, narrow), 'a copy of short reals')
    call check(found_whole%get_name() == 'whole copy' .and. .not. associated(found_whole, whole), &
               'a copy of integers')
    call narrow%initialise(fs, 'narrow')
    call whole%initialise(fs, 'whole')
    call field%initialise(fs, 'pointer')
    found => field
    call pointer_to_field%initialise(found)
    call collection%add_field(pointer_to_field)
    call check(collection%get_length() == 5, 'the number of fields')
    call iterator%initialise(collection)
    do n = 1, 5
      call check(iterator%has_next(), 'there is a next field')
      visited => iterator%next()
      call check(visited%get_name() == trim(names(n)), 'fields come in order')
    end do
    call check(.not. iterator%has_next(), 'there are no more')
    call iterator%initialise(collection)
    visited => iterator%next()
    call check(visited%get_name() == trim(names(1)), 'walking starts again')

    call array%initialise(2_i_def)
    call check(size(array%bundle) == 2 .and. array%get_name() == 'none', 'an array without a name')
    call array%initialise(3_i_def, 'array')
    call collection%add_field(array)
    call collection%get_field('array', found_array)
    call check(size(found_array%bundle) == 3 .and. found_array%get_name() == 'array', 'an array')
    call collection%remove_field('narrow')
    call check(.not. collection%field_exists('narrow'), 'a field that was removed')
    call check(collection%field_exists('whole') .and. collection%field_exists('referred'), &
               'the others are there')
    call check(collection%get_length() == 5, 'there is one less')
    call collection%clear()
    call check(collection%get_length() == 0, 'an empty collection')
    call array%clear()
    call check(.not. allocated(array%bundle), 'an empty array')
  end subroutine collections_find_fields

  !> Check that operators know their spaces, and that copies have matrices of their own.
  subroutine operators_are_copied()
    type(operator_type) :: operator, copy
    type(operator_proxy_type) :: proxy, copy_proxy
    type(function_space_type), pointer :: from

    from => space(fs%get_mesh(), W3)
    call check(.not. operator%is_initialised(), 'an operator that was not made')
    copy = operator
    call check(.not. copy%is_initialised(), 'a copy of it is none')
    operator = operator_type(fs, from)
    proxy = operator%get_proxy()
    call check(proxy%ncell_3d == size(proxy%local_stencil, 1), 'a matrix for each cell')
    call check(all(is(proxy%local_stencil, 0)), 'a new operator is 0')
    call check(operator%which_fs_to() == W0 .and. operator%which_fs_from() == W3, 'to and from')
    proxy%local_stencil = 2.0_r_def
    copy = operator%deep_copy()
    copy_proxy = copy%get_proxy()
    call check(all(is(copy_proxy%local_stencil, 2)), 'matrices of a copy')
    proxy%local_stencil = 3.0_r_def
    call check(all(is(copy_proxy%local_stencil, 2)), 'are its own')
    call check(associated(copy%get_fs_to(), fs) .and. associated(copy%get_fs_from(), from), &
               'the spaces of a copy')
    call check(associated(copy_proxy%fs_to, fs) .and. associated(copy_proxy%fs_from, from), &
               'and of its proxy')
    call check(associated(copy%get_mesh(), fs%get_mesh()), 'and its mesh')
    call operator%operator_final()
    call check(.not. operator%is_initialised(), 'an operator that was given back')
  end subroutine operators_are_copied

end program fields
