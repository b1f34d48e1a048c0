!> Arrays on the points of a rank: copies, and sums over ranks.
module arrays_mod

  use kind_params_mod, only: go_wp
  use parallel_utils_mod, only: global_sum
  use region_mod, only: region_type

  implicit none
  private

  public :: copy_array, copy_array_patch, checksum_of_array

contains

  !> Copy all values of an array.
  subroutine copy_array(field_in, field_out)
    real(go_wp), intent(in) :: field_in(:, :)
    real(go_wp), intent(out) :: field_out(:, :)

    field_out = field_in
  end subroutine copy_array

  !> Copy the values of the region `src` of an array to the region `dest` of the same size.
  subroutine copy_array_patch(field, src, dest)
    real(go_wp), intent(inout) :: field(:, :)
    type(region_type), intent(in) :: src, dest

    field(dest%xstart:dest%xstop, dest%ystart:dest%ystop) = &
        field(src%xstart:src%xstop, src%ystart:src%ystop)
  end subroutine copy_array_patch

  !> Return the sum over all ranks of absolute values in part of an array; an absent limit is the
  !> array's own.
  function checksum_of_array(field, xstart, xstop, ystart, ystop) result(val)
    real(go_wp), intent(in) :: field(:, :)
    integer, optional, intent(in) :: xstart, xstop, ystart, ystop
    real(go_wp) :: val
    integer :: limits(4)

    limits = [1, size(field, 1), 1, size(field, 2)]
    if (present(xstart)) limits(1) = xstart
    if (present(xstop)) limits(2) = xstop
    if (present(ystart)) limits(3) = ystart
    if (present(ystop)) limits(4) = ystop
    val = sum(abs(field(limits(1):limits(2), limits(3):limits(4))))
    call global_sum(val)
  end function checksum_of_array

end module arrays_mod
