"""Bodies of loops over columns whose work arrays may be private, and of those that must not.

The columns are `q(:, j)` and `m(:, j)`; `w` and `w2` are local arrays.
"""

from __future__ import annotations

_USE = " ; m(1:n, j) = w(1:n)"
_CHOICE = "if (q(i, j) > 2) then ; w(i) = 1 ; else{} ; w(i) = 2 ; end if"
_RECURRENCE = "w(i) = w(i - 1) + q(i, j) ; m(i, j) = w(i) ; end do"
_WHERE = "where (q(1:n, j) > 2) ; w(1:n) = 1 ; elsewhere{} ; w(1:n) = 2 ; end where"
_LOOPS = (
    "if (q(1, j) > 2) then ; l = n ; do i = 1, l ; w(i) = 1 ; end do"
    " ; else ; l = n{} ; do i = 1, l ; w(i) = 2 ; end do ; end if"
)

PRIVATE = {
    "column": (
        "do i = 1, n ; w(i) = q(i, j) ; end do ; do i = 1, n ; m(i, j) = w(n + 1 - i) ; end do"
    ),
    "recurrence_upwards": (
        "w(1) = q(1, j) ; do i = 2, n ; w(i) = w(i - 1) + q(i, j) ; end do"
        " ; do i = n, 1, -1 ; m(i, j) = w(i) ; end do"
    ),
    "recurrence_downwards": (
        "w(n:n + 1) = q(1, j) ; do i = n - 1, 1, -1 ; m(i, j) = w(i + 2) + w(i + 1)"
        " ; w(i) = q(i, j) ; end do"
    ),
    "recurrence_of_lines": (
        "w2(:, 1) = q(1:n, j) ; do l = 2, 3 ; do i = 1, n ; w2(i, l) = w2(i, l - 1) + 1 ; end do"
        " ; m(l, j) = sum(w2(:, l - 1)) ; end do"
    ),
    "recurrence_in_branches": (
        "w(1) = j ; do i = 2, n ; if (q(i, j) > 2) then ; w(i) = w(i - 1) + 1 ; else"
        " ; w(i) = w(i - 1) + 2 ; end if ; m(i, j) = w(i) ; end do"
    ),
    "two_parts": "w(1) = 0 ; w(2:n) = q(2:n, j)" + _USE,
    "three_parts": "w(1) = 0 ; w(2:n - 1) = q(2:n - 1, j) ; w(n) = j" + _USE,
    "two_starts": (
        "w(1) = j ; w(2) = q(2, j) ; do i = 3, n ; w(i) = w(i - 1) + w(i - 2) ; end do" + _USE
    ),
    "start_of_unknown_length": (
        "do i = 0, idx(j) ; w(i) = j ; end do ; do i = idx(j) + 1, n ; w(i) = w(i - 1) + 1"
        " ; end do" + _USE
    ),
    "bound_of_a_maximum": (
        "do i = max(1, idx(j)), n ; w(i) = q(i, j) ; end do"
        " ; do i = max(1, idx(j)), n ; m(i, j) = w(i) ; end do"
    ),
    "two_branches": f"do i = 1, n ; {_CHOICE.format('')} ; end do" + _USE,
    "inner_branches": (
        f"do i = 1, n ; if (q(i, j) > 1) then ; {_CHOICE.format('')} ; else ; w(i) = 0"
        " ; end if ; end do" + _USE
    ),
    "loops_in_branches": _LOOPS.format("") + _USE,
    "all_cases": (
        "do i = 1, n ; select case (int(q(i, j))) ; case (2) ; w(i) = 1 ; case default ; w(i) = 2"
        " ; end select ; end do" + _USE
    ),
    "all_masks": _WHERE.format("") + _USE,
}
"""Bodies that set all elements of the work array before they read them."""

SHARED = {
    "start_later": f"do i = 2, n ; {_RECURRENCE} ; w(1) = j",
    "start_too_far": f"w(1) = j ; do i = 3, n ; {_RECURRENCE} ; w(2) = j",
    "start_perhaps": f"if (q(1, j) > 2) w(1) = j ; do i = 2, n ; {_RECURRENCE}",
    "recurrence_with_gaps": (
        "w(1) = j ; do i = 2, n ; m(i, j) = w(i - 1) ; if (q(i, j) > 2) w(i) = j ; end do"
    ),
    "recurrence_with_step": f"w(1) = j ; do i = 2, n, 2 ; {_RECURRENCE} ; w = 3 * j",
    "recurrence_the_other_way": (
        "w(1) = j ; do i = 2, n ; w(i - 1) = q(i, j) ; m(i, j) = w(i) ; end do ; w = 3 * j"
    ),
    "recurrence_of_shorter_lines": (
        "w2(:, 1) = q(1:n, j) ; do l = 2, 3 ; do i = 1, l ; w2(i, l) = j ; end do"
        " ; m(l, j) = sum(w2(1:l, l - 1)) ; end do ; w2 = 3 * j"
    ),
    "one_of_two_starts": (
        "w(2) = j ; do i = 3, n ; w(i) = w(i - 2) + 1 ; m(i, j) = w(i) ; end do ; w(1) = j"
    ),
    "gap_between_starts": (
        "w(1) = j ; w(3) = j ; do i = 4, n ; w(i) = w(i - 2) + 1 ; m(i, j) = w(i) ; end do"
        " ; w(2) = j"
    ),
    "two_of_three_parts": "w(1) = j ; w(2:n - 2) = j ; w(n) = j" + _USE + " ; w = 3 * j",
    "three_parts_in_two_dimensions": (
        "w2(1, :) = j ; w2(2:n, 1) = j ; w2(2:n, 3) = j ; m(1, j) = sum(w2) ; w2 = 3 * j"
    ),
    "two_of_three_branches": (
        f"do i = 1, n ; {_CHOICE.format(' if (q(i, j) > 1) then')} ; end do" + _USE
    ),
    "shorter_loop_in_a_branch": _LOOPS.format(" - 1") + _USE,
    "other_branch_of_a_read": (
        f"if (q(1, j) > 2) then ; w(1:n) = j{_USE} ; else{_USE} ; w(1:n) = j ; end if"
    ),
    "two_of_three_cases": (
        "do i = 1, n ; select case (int(q(i, j))) ; case (2) ; w(i) = 1 ; case (3) ; w(i) = 2"
        " ; end select ; end do" + _USE
    ),
    "two_of_three_masks": _WHERE.format(" (q(1:n, j) > 1)") + _USE,
}
"""Bodies that may read elements that another iteration has set."""
