!> Owns bytes of the host: taking, giving back, copying and spoiling them.
module storage_memory_mod

  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int8_t, c_int64_t, c_null_ptr, c_ptr, &
                                         c_size_t

  implicit none
  private

  public :: take_memory, give_memory, copy_memory, spoil_memory

  integer(c_size_t), parameter :: alignment = 64, word_size = 8

  !> A word that is not a number as one real of 64 bits and as two of 32, and a byte for the rest;
  !> the storage runtime in Python has the same.
  integer(c_int64_t), parameter :: spoilt_word = int(z'7FF4A5A57FB4A5A5', c_int64_t)
  integer(c_int8_t), parameter :: spoilt_byte = -91_c_int8_t

  interface
    function aligned_alloc(alignment, bytes) bind(c, name='aligned_alloc') result(address)
      import :: c_ptr, c_size_t
      integer(c_size_t), value, intent(in) :: alignment, bytes
      type(c_ptr) :: address
    end function aligned_alloc

    subroutine free(address) bind(c, name='free')
      import :: c_ptr
      type(c_ptr), value, intent(in) :: address
    end subroutine free

    function memcpy(target_address, source_address, bytes) bind(c, name='memcpy') result(address)
      import :: c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: target_address, source_address
      integer(c_size_t), value, intent(in) :: bytes
      type(c_ptr) :: address
    end function memcpy
  end interface

contains

  !> Return bytes of the host, aligned for vectors; null if there are none left.
  function take_memory(bytes) result(address)
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr) :: address

    address = aligned_alloc(alignment, (max(bytes, 1_c_size_t) + alignment - 1) / alignment &
                                       * alignment)
  end function take_memory

  !> Give bytes back that were taken.
  subroutine give_memory(address)
    type(c_ptr), intent(inout) :: address

    call free(address)
    address = c_null_ptr
  end subroutine give_memory

  !> Copy bytes from one address to another; the two do not overlap.
  subroutine copy_memory(target_address, source_address, bytes)
    type(c_ptr), intent(in) :: target_address
    type(c_ptr), intent(in) :: source_address
    integer(c_size_t), intent(in) :: bytes

    type(c_ptr) :: same

    same = memcpy(target_address, source_address, bytes)
  end subroutine copy_memory

  !> Overwrite bytes with what no program mistakes for values.
  subroutine spoil_memory(address, bytes)
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: bytes

    integer(c_int64_t), pointer, contiguous :: words(:)
    integer(c_int8_t), pointer, contiguous :: all_bytes(:)

    call c_f_pointer(address, words, [bytes / word_size])
    call c_f_pointer(address, all_bytes, [bytes])
    words = spoilt_word
    all_bytes(bytes / word_size * word_size + 1:) = spoilt_byte
  end subroutine spoil_memory

end module storage_memory_mod
