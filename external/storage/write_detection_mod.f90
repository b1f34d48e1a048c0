!> Detection of unreported writes to host memory: patterns that no program mistakes for values, and
!> digests.
!>
!> With an emulated device all words are checked, so that nothing is missed; with real devices, only
!> a few words, evenly distributed.
module write_detection_mod

  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int32_t, c_int64_t, c_ptr, c_size_t
  use storage_device_mod, only: device_kind

  implicit none
  private

  public :: mark_host, count_marks, digest_of

  !> All elements consist of whole words.
  integer(c_size_t), parameter :: word_bytes = 4
  integer(c_size_t), parameter :: watched_of_a_device = 16
  logical, parameter :: watches_all = device_kind == 'emulated'

  !> The pattern of `spoil_memory`: the two halves of a NaN, and the remainder at the end.
  integer(c_int32_t), parameter :: first_half = int(z'7FB4A5A5', c_int32_t)
  integer(c_int32_t), parameter :: second_half = int(z'7FF4A5A5', c_int32_t)
  integer(c_int32_t), parameter :: left_over = -1515870811_c_int32_t

contains

  !> Fill the checked words with the pattern of stale memory.
  subroutine mark_host(address, bytes)
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: bytes

    integer(c_int32_t), pointer, contiguous :: words(:)
    integer(c_size_t) :: n, place

    call c_f_pointer(address, words, [bytes / word_bytes])
    do n = 1, watched(size(words, kind=c_size_t))
      place = place_of(n, size(words, kind=c_size_t))
      words(place) = mark_at(place, size(words, kind=c_size_t))
    end do
  end subroutine mark_host

  !> Count the checked words that still have the pattern, and all checked words.
  subroutine count_marks(address, bytes, left, all_marks)
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: bytes
    integer(c_size_t), intent(out) :: left
    integer(c_size_t), intent(out) :: all_marks

    integer(c_int32_t), pointer, contiguous :: words(:)
    integer(c_size_t) :: n, place, length

    length = bytes / word_bytes
    call c_f_pointer(address, words, [length])
    all_marks = watched(length)
    if (all_marks == length) then
      left = count(words(:length - mod(length, 2_c_size_t):2) == first_half, kind=c_size_t) + &
             count(words(2::2) == second_half, kind=c_size_t)
      if (mod(length, 2_c_size_t) == 1) left = left + merge(1, 0, words(length) == left_over)
      return
    end if
    left = 0
    do n = 1, all_marks
      place = place_of(n, length)
      if (words(place) == mark_at(place, length)) left = left + 1
    end do
  end subroutine count_marks

  !> Return a digest that changes if memory changes.
  function digest_of(address, bytes) result(digest)
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: bytes
    integer(c_int64_t) :: digest

    ! A changed word changes the lowest 45 bits of the sum, because the factor is odd. No product
    ! overflows, and no remainder is computed, which takes several times as long as the product.
    integer(c_int64_t), parameter :: factor = 69069_c_int64_t
    integer(c_int64_t), parameter :: lowest = 2_c_int64_t**45 - 1
    integer(c_int32_t), pointer, contiguous :: words(:)
    integer(c_size_t) :: n, length, looked_at

    length = bytes / word_bytes
    call c_f_pointer(address, words, [length])
    looked_at = watched(length)
    digest = 1
    if (looked_at == length) then
      do n = 1, length
        digest = iand(digest * factor + words(n), lowest)
      end do
      return
    end if
    do n = 1, looked_at
      digest = iand(digest * factor + words(place_of(n, length)), lowest)
    end do
  end function digest_of

  !> Return the number of checked words.
  pure function watched(words) result(count)
    integer(c_size_t), intent(in) :: words
    integer(c_size_t) :: count

    count = words
    if (.not. watches_all) count = min(words, watched_of_a_device)
  end function watched

  !> Return the position of a checked word; they are evenly distributed, including the first and the
  !> last.
  pure function place_of(n, words) result(place)
    integer(c_size_t), intent(in) :: n, words
    integer(c_size_t) :: place

    place = n
    if (words > watched(words)) place = 1 + (n - 1) * (words - 1) / (watched_of_a_device - 1)
  end function place_of

  !> Return the pattern of a word, as `spoil_memory` writes it.
  pure function mark_at(place, words) result(mark)
    integer(c_size_t), intent(in) :: place, words
    integer(c_int32_t) :: mark

    mark = merge(first_half, second_half, mod(place, 2_c_size_t) == 1)
    if (place == words .and. mod(words, 2_c_size_t) == 1) mark = left_over
  end function mark_at

end module write_detection_mod
