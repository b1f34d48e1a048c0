!> Host memory: allocation, deallocation, copies, and overwriting of stale values.
module storage_memory_mod

  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int8_t, c_int64_t, c_intptr_t, c_null_ptr, &
                                         c_ptr, c_size_t
  use storage_parts_mod, only: strip_type

  implicit none
  private

  public :: take_memory, give_memory, copy_memory, copy_strips, spoil_memory, address_in

  integer(c_size_t), parameter :: alignment = 64, word_size = 8

  !> A word that is NaN both as one 64-bit real and as two 32-bit reals, and a byte for the
  !> remainder; the storage runtime in Python uses the same ones.
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

  !> Return the address of new host memory, aligned for vector instructions; null if none is left.
  function take_memory(bytes) result(address)
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr) :: address

    address = aligned_alloc(alignment, (max(bytes, 1_c_size_t) + alignment - 1) / alignment &
                                       * alignment)
  end function take_memory

  !> Free host memory.
  subroutine give_memory(address)
    type(c_ptr), intent(inout) :: address

    call free(address)
    address = c_null_ptr
  end subroutine give_memory

  !> Copy bytes from one address to another; the two regions must not overlap.
  subroutine copy_memory(target_address, source_address, bytes)
    type(c_ptr), intent(in) :: target_address
    type(c_ptr), intent(in) :: source_address
    integer(c_size_t), intent(in) :: bytes

    type(c_ptr) :: same

    same = memcpy(target_address, source_address, bytes)
  end subroutine copy_memory

  !> Copy strips from one copy of a field to another one in different memory.
  subroutine copy_strips(target_address, source_address, strips)
    type(c_ptr), intent(in) :: target_address
    type(c_ptr), intent(in) :: source_address
    type(strip_type), intent(in) :: strips(:)

    integer(c_size_t) :: row, plane
    integer :: n

    do n = 1, size(strips)
      do plane = 0, strips(n)%planes - 1
        do row = 0, strips(n)%rows - 1
          call copy_memory(address_in(target_address, strips(n), row, plane), &
                           address_in(source_address, strips(n), row, plane), strips(n)%row_bytes)
        end do
      end do
    end do
  end subroutine copy_strips

  !> Return the address of a row of a strip; rows and planes are counted from 0.
  pure function address_in(address, strip, row, plane) result(there)
    type(c_ptr), intent(in) :: address
    type(strip_type), intent(in) :: strip
    integer(c_size_t), intent(in) :: row, plane
    type(c_ptr) :: there

    there = transfer(transfer(address, 0_c_intptr_t) + strip%start + &
                     row * strip%row_step + plane * strip%plane_step, there)
  end function address_in

  !> Overwrite bytes with a pattern that no program mistakes for values.
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
