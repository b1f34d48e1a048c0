"""Loop nests of known truth: those that may run in parallel, with clauses, and those that may not.

Each is the body of a subroutine with the dummies of `DECLARED`; locals are declared in it. The
values are small integers, so that sums are exact in any order.
"""

from __future__ import annotations

from psyclone_storage.base.records import dataclass
from support.work_array_nests import PRIVATE, SHARED

DECLARED = """integer, intent(in) :: n, idx(n)
logical, intent(in) :: flag
integer, intent(inout) :: k
real(8), intent(inout) :: s, z
real(8), intent(inout) :: a(0:2*n+1), b(0:2*n+1), m(0:n+1, 0:n+1), q(0:n+1, 0:n+1)
type(pair), intent(inout) :: p
real(8), pointer, intent(in) :: x(:), y(:)
integer :: i, j, l, e
real(8) :: t, u, v(5), w(0:n+1)"""


@dataclass(frozen=True, slots=True)
class LoopNest:
    """A nest whose first loop is parallel or not; `clauses` are words that its directive has."""

    name: str
    body: str
    parallel: bool
    clauses: tuple[str, ...] = ()


def _nest(name: str, body: str, *clauses: str, parallel: bool = True) -> LoopNest:
    lines = (line.strip() for part in body.split("\n") for line in part.split(" ; "))
    return LoopNest(name, "\n".join(lines), parallel, clauses)


def _trap(name: str, body: str) -> LoopNest:
    return _nest(name, body, parallel=False)


NESTS = (
    *(_nest(name, f"do j = 1, n ; {body} ; end do", "private") for name, body in PRIVATE.items()),
    _nest("copy", "do i = 1, n ; a(i) = b(i) ; end do"),
    _nest("scaled", "do i = 1, n ; a(i) = 2.0d0 * a(i) ; end do"),
    _nest(
        "two_deep", "do j = 1, n ; do i = 1, n ; m(i, j) = q(j, i) ; end do ; end do", "private(i)"
    ),
    _nest(
        "column_recurrence",
        "do j = 1, n ; do i = 2, n ; m(i, j) = m(i - 1, j) + q(i, j) ; end do ; end do",
    ),
    _nest("stencil", "do i = 1, n ; a(i) = b(i - 1) + b(i + 1) ; end do"),
    _nest("scalar", "do i = 1, n ; t = b(i) ; a(i) = t * t ; end do", "private(t)"),
    _nest(
        "two_scalars", "do i = 1, n ; t = b(i) ; u = t + 1 ; a(i) = u - t ; end do", "private(t, u)"
    ),
    _nest(
        "both_branches",
        "do i = 1, n ; if (b(i) > 2) then ; t = 1 ; else ; t = 2 ; end if ; a(i) = t ; end do",
        "private(t)",
    ),
    _nest("last_value", "do i = 1, n ; t = b(i) ; a(i) = t ; end do ; s = t", "lastprivate(t)"),
    _nest(
        "last_value_without_iterations",
        "t = 7 ; do i = n, 1 ; t = b(i) ; a(i) = t ; end do ; s = t",
        "firstprivate(t)",
        "lastprivate(t)",
    ),
    _nest(
        "last_counter_without_iterations",
        "j = 7 ; do i = n, 1 ; do j = 1, n ; m(j, i) = 2 ; end do ; end do ; k = j",
        "firstprivate(j)",
        "lastprivate(j)",
    ),
    _nest("last_of_dummy", "do i = 1, n ; z = b(i) ; a(i) = z ; end do", "lastprivate(z)"),
    _nest(
        "guarded",
        "do i = 1, n ; if (flag) z = 3 ; a(i) = b(i) * z ; end do",
        "firstprivate(z)",
        "lastprivate(z)",
    ),
    _nest(
        "guarded_local",
        "t = 1 ; do i = 1, n ; if (flag) t = b(i) ; a(i) = t ; end do",
        "firstprivate(t)",
    ),
    _nest("total", "do i = 1, n ; s = s + b(i) ; end do", "reduction(+:s)"),
    _nest("difference", "do i = 1, n ; s = s - b(i) ; end do", "reduction(+:s)"),
    _nest("sum_of_three", "do i = 1, n ; s = s + b(i) + a(i) ; end do", "reduction(+:s)"),
    _nest("maximum", "do i = 1, n ; s = max(s, b(i)) ; end do", "reduction(max:s)"),
    _nest("minimum_by_if", "do i = 1, n ; if (b(i) < s) s = b(i) ; end do", "reduction(min:s)"),
    _nest("tally", "do i = 1, n ; if (b(i) > 2) k = k + 1 ; end do", "reduction(+:k)"),
    _nest("even_and_odd", "do i = 1, n ; a(2 * i) = a(2 * i - 1) ; end do"),
    _nest("outside_of_range", "do i = 2, n ; a(i) = a(1) ; end do"),
    _nest("halves", "do i = 1, n ; a(i) = a(i + n) ; end do"),
    _nest("index_scalar", "do i = 1, n ; j = i + 1 ; a(j) = b(j) ; end do", "private(j)"),
    _nest("triangular", "do j = 1, n ; do i = 1, j ; m(i, j) = 1 ; end do ; end do"),
    _nest(
        "private_array",
        "do i = 1, n ; do l = 1, 5 ; v(l) = b(i) * l ; end do ; a(i) = v(1) + v(5) ; end do",
        "private(l, v)",
    ),
    _nest("component", "do i = 1, n ; p%f(i) = p%g(i) ; end do"),
    _nest("section", "do i = 1, n ; m(:, i) = q(:, i) ; end do"),
    _nest("where", "do i = 1, n ; where (q(:, i) > 2) m(:, i) = 0 ; end do"),
    _nest("pure_call", "do i = 1, n ; call double_it(a(i)) ; end do"),
    _nest("pure_function", "do i = 1, n ; a(i) = twice(b(i)) ; end do"),
    _nest("cycle", "do i = 1, n ; if (b(i) > 2) cycle ; a(i) = 1 ; end do"),
    _nest("label", "do 10 i = 1, n ; a(i) = b(i) ; 10 continue"),
    _nest("statement_with_label", "do 10 i = 1, n ; 10 a(i) = b(i)"),
    _nest("one_label", "do 10 j = 1, n ; do 10 i = 1, n ; 10 m(i, j) = q(j, i)", "private(i)"),
    _nest("jump_to_end", "do 10 i = 1, n ; if (b(i) > 2) go to 10 ; a(i) = 1 ; 10 continue"),
    _nest(
        "hidden_counter",
        "do i = 1, n ; a(i) = 2 ; end do ; do concurrent (i = 1:n) ; b(i) = a(i) ; end do",
    ),
    _nest(
        "hidden_counter_in_mask",
        "do i = 1, n ; a(i) = 2 ; end do ; forall (i = 1:n, b(i) > 2) b(i) = 1",
    ),
    _nest(
        "hidden_counter_in_constructor",
        "do i = 1, n ; a(i) = 2 ; end do ; b(1:3) = [(i * 2.0d0, i = 1, 3)]",
    ),
    _nest(
        "select",
        "do i = 1, n ; select case (int(b(i))) ; case (1) ; a(i) = 1 ; case default ; a(i) = 2"
        " ; end select ; end do",
    ),
    _nest(
        "inner_exit",
        "do i = 1, n ; do j = 1, n ; if (q(j, i) > 2) exit ; m(j, i) = 9 ; end do ; end do",
    ),
    _nest("backwards", "do i = n, 1, -1 ; a(i) = b(i) ; end do"),
    _nest("strided", "do i = 1, 2 * n, 2 ; a(i) = a(i + 1) ; end do"),
    _nest("linearised", "do i = 0, 3 ; do j = 0, 1 ; a(2 * i + j) = b(j) ; end do ; end do"),
    _nest("coupled", "do i = 1, n ; m(i, i) = q(i, 1) ; end do"),
    _nest("offset_by_symbol", "do i = 1, n ; a(i + k) = b(i) ; end do"),
    _nest(
        "flag_of_any",
        "l1 = b(1) > 4 ; do i = 1, n ; if (b(i) > 3) l1 = .true. ; end do ; if (l1) k = k + 1",
        "reduction(.or.:l1)",
    ),
    _nest(
        "flag_of_all",
        "l1 = flag ; do i = 1, n ; do j = 1, n ; if (q(i, j) < 2) then ; l1 = .false. ; a(i) = 1"
        " ; end if ; end do ; end do ; if (l1) k = k + 1",
        "reduction(.and.:l1)",
    ),
    _nest("logical_and", "do i = 1, n ; a(i) = merge(1, 0, flag .and. b(i) > 2) ; end do"),
    _nest("elements_of_fixed_row", "do i = 1, n ; m(3, i) = m(2, i) ; end do"),
    _nest("factor", "do i = 1, 4 ; s = s * b(i) ; end do", "reduction(*:s)"),
    _nest("intrinsic_of_line", "do i = 1, n ; a(i) = sum(q(:, i)) ; end do"),
    _nest(
        "bound_of_inquired_section",
        "do i = 1, n ; l = idx(n + 1 - i) ; a(i) = size(b(l:)) ; end do ; k = size(b(1:l))",
        "lastprivate(l)",
    ),
    _nest(
        "inquiry_in_inner_bound",
        "do i = 1, n ; l = idx(i) ; do j = 1, size(q(1:l, 1)) ; m(j, i) = 2 ; end do ; end do",
        "private(j, l)",
    ),
    _nest(
        "allocated_anew",
        "do i = 1, n ; w1 = b(1:i) ; l = size(w1) ; w1(1) = l ; a(i) = sum(w1) ; end do",
        "private(l, w1)",
    ),
    _nest(
        "reallocated_components",
        "do i = 1, n ; g(i)%c = b(1:i) ; do j = 1, size(g(i)%c) ; g(i)%c(j) = j ; end do"
        " ; a(i) = sum(g(i)%c) ; end do",
        "private(j)",
    ),
    _nest(
        "shape_that_stays",
        "allocate(w1(n)) ; do i = 1, n ; w1(i) = size(w1) - i ; end do ; a(1:n) = w1",
    ),
    _nest(
        "common_members",
        "do i = 1, n ; c1(i) = b(i) ; c2(i) = c1(i) + a(i + n) ; end do ; a(1:n) = c2(1:n)",
    ),
    _nest(
        "allocated_again_later",
        "do i = 1, n ; w1 = b(1:i) ; a(i) = sum(w1) ; end do ; w1 = b(1:3) ; w1(2) = 5"
        " ; a(n + 1) = sum(w1)",
        "private(w1)",
    ),
    _nest(
        "deallocated_later",
        "allocate(w1(n)) ; do i = 1, n ; do j = 1, n ; w1(j) = q(j, i) ; end do"
        " ; a(i) = w1(n + 1 - i) ; end do ; deallocate(w1) ; allocate(w1(2))",
        "private(j, w1)",
    ),
    _nest(
        "sum_in_allocatable",
        "allocate(one, source=s) ; do i = 1, n ; one = one + b(i) ; end do ; s = one",
        "reduction(+:one)",
    ),
    _nest("triangular_upper", "do i = 1, n ; do j = i, n ; m(j, i) = q(i, j) ; end do ; end do"),
)

TRAPS = (
    _trap(
        "flag_of_last",
        "l1 = flag ; do i = 1, n ; if (b(i) > 3) l1 = .true. ; if (b(i) < 2) l1 = .false."
        " ; end do ; if (l1) k = k + 1",
    ),
    _trap(
        "flag_that_is_read",
        "l1 = flag ; do i = 1, n ; if (l1) a(i) = 1 ; if (b(i) > 3) l1 = .true. ; end do",
    ),
    *(_trap(name, f"do j = 1, n ; {body} ; end do") for name, body in SHARED.items()),
    _trap(
        "array_read_later_by_another_name",
        "associate (g => w) ; do j = 1, n ; w(1:n) = q(1:n, j) ; m(1:n, j) = w(1:n) ; end do"
        " ; a(1:n) = g(1:n) ; end associate",
    ),
    _trap(
        "scalar_read_first_by_another_name",
        "associate (g => t) ; do i = 1, n ; s = s + g ; t = b(i) ; s = s + t ; end do"
        " ; end associate",
    ),
    _trap(
        "reduction_read_by_another_name",
        "associate (g => z) ; do i = 1, n ; z = max(z, b(i)) ; if (g > 2) s = s + 1 ; end do"
        " ; end associate",
    ),
    _trap(
        "set_in_the_other_branch",
        "if (flag) then ; do i = 1, n ; w(1) = b(i) ; a(i) = w(1) ; end do ; else ; w(1) = 2"
        " ; end if ; s = w(1)",
    ),
    _trap(
        "allocated_by_its_loop",
        "do i = 1, n ; w1 = b(1:i) ; a(i) = w1(i) ; end do ; deallocate(w1)",
    ),
    _trap(
        "source_of_an_allocation",
        "allocate(w1(2)) ; do i = 1, n ; w1(:) = b(i:i + 1) ; a(i) = w1(2) ; end do"
        " ; allocate(w2(2), source=w1) ; s = w2(1)",
    ),
    _trap(
        "jump_out", "do 10 i = 1, n ; if (b(i) > 2) go to 20 ; a(i) = 1 ; 10 continue ; 20 k = 1"
    ),
    _trap("label_recurrence", "do 10 i = 1, n ; 10 a(i) = a(i - 1) + b(i)"),
    _trap(
        "counter_after_concurrent",
        "do i = 1, n ; a(i) = 2 ; if (b(i) > 1) exit ; end do ; do concurrent (i = 1:n) ; b(i) = 1"
        " ; end do ; k = i",
    ),
    _trap("sum_in_optional", "do i = 1, n ; if (present(o)) o = o + b(i) ; end do"),
    _trap(
        "private_optional",
        "do i = 1, n ; if (present(o)) then ; o = b(i) ; a(i) = o ; end if ; end do",
    ),
    _trap("recurrence", "do i = 2, n ; a(i) = a(i - 1) ; end do"),
    _trap("anti_dependence", "do i = 1, n ; a(i) = a(i + 1) ; end do"),
    _trap("integer_division", "do i = 1, n ; a(i / 2) = b(i) ; end do"),
    _trap("modulo", "do i = 1, n ; a(mod(i, 3)) = b(i) ; end do"),
    _trap("square_of_difference", "do i = 1, n ; a((i - 2) * (i - 2)) = b(i) ; end do"),
    _trap("indirect", "do i = 1, n ; a(idx(i)) = b(i) ; end do"),
    _trap("pointers", "do i = 1, n ; x(i) = y(i) ; end do"),
    _trap("last_if", "do i = 1, n ; if (b(i) > 2) k = i ; end do"),
    _trap("swapped_difference", "do i = 1, n ; s = b(i) - s ; end do"),
    _trap("carried_scalar", "t = 0 ; do i = 1, n ; a(i) = t ; t = b(i) ; end do"),
    _trap("carried_under_if", "t = 0 ; do i = 1, n ; if (b(i) > 2) t = b(i) ; a(i) = t ; end do"),
    _trap("guard_that_changes", "do i = 1, n ; if (k > 3) z = b(i) ; a(i) = z ; k = 4 ; end do"),
    _trap("counter_read_later", "do i = 1, n ; a(i) = b(i) ; end do ; k = i"),
    _trap("running_index", "do i = 1, n ; k = k + 1 ; a(k) = b(i) ; end do"),
    _trap("one_element", "do i = 1, n ; a(1) = a(1) + a(i) ; end do"),
    _trap("exit", "do i = 1, n ; if (b(i) > 2) exit ; a(i) = 1 ; end do"),
    _trap("return", "do i = 1, n ; if (b(i) > 2) return ; a(i) = 1 ; end do"),
    _trap("stop", "do i = 1, n ; if (b(i) > 90) stop ; a(i) = 1 ; end do"),
    _trap("print", "do i = 1, n ; print *, b(i) ; end do"),
    _trap("impure_call", "do i = 1, n ; call impure_one(a(i)) ; end do"),
    _trap("module_scalar", "do i = 1, n ; shared = b(i) ; a(i) = user() ; end do"),
    _trap("saved", "do i = 1, n ; kept = kept + b(i) ; a(i) = kept ; end do"),
    _trap(
        "array_read_later",
        "do i = 1, n ; do l = 1, 5 ; v(l) = b(i) * l ; end do ; end do ; s = v(1)",
    ),
    _trap(
        "array_partly_set",
        "v = 0 ; do i = 1, n ; do l = 1, 4 ; v(l) = b(i) ; end do ; a(i) = v(5) + v(1)"
        " ; v(5) = 1 ; end do",
    ),
    _trap("zero_trip_inner", "do i = 1, n ; do j = 1, k ; t = b(j) ; end do ; a(i) = t ; end do"),
    _trap("component_and_whole", "do i = 1, n ; call set_pair(p) ; p%f(i) = 1 ; end do"),
    _trap(
        "associated_name",
        "associate (c => a(2:)) ; do i = 1, n ; c(i) = a(i) ; end do ; end associate",
    ),
    _trap(
        "minimum_and_place", "do i = 1, n ; if (b(i) < s) then ; s = b(i) ; k = i ; end if ; end do"
    ),
    _trap("wavefront", "do i = 2, n ; do j = 2, n ; m(i, j) = m(i - 1, j + 1) ; end do ; end do"),
    _trap("targets_of_components", "do i = 1, n ; call raise(c(i)) ; end do"),
    _trap("targets_that_a_function_reads", "do i = 2, n ; tgt(i) = first_of(c(i)) ; end do"),
    _trap("targets_of_a_module", "do i = 2, n ; tgt(i) = of_module(i - 1) ; end do"),
    _trap("defined_assignment", "do i = 1, n ; f(i) = b(i) ; end do"),
    _trap("defined_operator", "do i = 1, n ; a(i) = f(i) + b(i) ; end do"),
    _trap("two_targets", "do i = 2, n ; t1(i) = t2(i - 1) ; end do"),
    _trap("target_of_the_module", "do i = 2, n ; t1(i) = wide(i - 1) ; end do"),
    _trap("bound_that_is_last", "do i = 1, k ; k = i ; a(i) = k ; end do"),
    _trap("start_that_is_private", "l = 3 ; do i = l, n ; l = 2 * i ; a(i) = l ; end do"),
    _trap("step_that_is_private", "l = 3 ; do i = 1, n, l ; l = 2 ; a(i) = l ; end do"),
    _trap("bound_that_is_reduced", "do i = 1, k ; k = k - 1 ; a(i) = 2 ; end do"),
    _trap("bound_that_is_the_counter", "i = 3 ; do i = i, n ; a(i) = 2 ; end do"),
    _trap(
        "bound_of_an_inner_counter",
        "j = 3 ; do i = 1, j ; do j = 1, 2 ; m(j, i) = 1 ; end do ; end do",
    ),
    _trap("sum_of_assumed_size", "do i = 1, n ; s1(idx(i)) = s1(idx(i)) + 1 ; end do"),
    _trap("sum_of_a_type", "do i = 1, n ; g = g + f(i) ; end do"),
    _trap("maximum_of_text", "do i = 1, n ; word = max(word, words(i)) ; end do"),
    _trap("threadprivate_last", "do i = 1, n ; own = b(i) ; a(i) = own * 2 ; end do"),
    _trap("threadprivate_read", "do i = 1, n ; a(i) = own ; end do"),
    _trap("threadprivate_of_the_module", "do i = 1, n ; a(i) = copied ; end do"),
    _trap("carried_section", "l = 3 ; do i = 1, n ; a(i) = size(b(1:l)) ; l = idx(i) ; end do"),
    _trap(
        "carried_dimension",
        "l = 1 ; do i = 1, n ; a(i) = ubound(m, l) ; l = 1 + mod(i, 2) ; end do",
    ),
    _trap(
        "carried_word",
        "l = 1 ; do i = 1, n ; a(i) = size(q(1:3, :), dim=l) ; l = 1 + mod(i, 2) ; end do",
    ),
    _trap(
        "carried_implied_do",
        "l = 1 ; do i = 1, n ; a(i) = size([(b(j), j = 1, l)]) ; l = idx(i) ; end do",
    ),
    _trap(
        "inquiry_of_changed_section",
        "do i = 1, n ; a(i) = size(q(1:int(a(i + 1)), 1)) ; end do",
    ),
    _trap("carried_shape", "w1 = b(1:3) ; do i = 1, n ; a(i) = size(w1) ; w1 = b(1:i) ; end do"),
    _trap(
        "carried_status",
        "do i = 1, n ; a(i) = 1 ; if (allocated(w1)) a(i) = 2 ; w1 = b(1:i) ; end do",
    ),
    _trap("shape_read_later", "do i = 1, n ; w1 = b(1:i) ; a(i) = w1(i) ; end do ; k = size(w1)"),
    _trap(
        "status_read_later",
        "do i = 1, n ; one = i ; a(i) = one ; end do ; if (allocated(one)) k = 7",
    ),
    _trap("element_set_later", "do i = 1, n ; w1 = b(1:i) ; a(i) = w1(i) ; end do ; w1(2) = 1"),
    _trap(
        "element_set_earlier",
        "w1 = b(1:n) ; do i = 1, n ; w1(1) = i ; a(i) = w1(1) ; w1 = b(1:n - i) ; end do",
    ),
    _trap(
        "lower_bound_that_stays",
        "allocate(w1(0:1)) ; do i = 1, n ; w1 = b(1:1 + mod(i, 3)) ; a(i) = w1(1) ; end do",
    ),
    _trap(
        "shapes_of_components",
        "do i = 1, n ; a(i) = size(g(i + 1)%c) ; g(i)%c = b(1:i) ; end do",
    ),
    _trap(
        "shapes_through_a_pointer",
        "h => g ; do i = 1, n ; a(i) = size(g(i + 1)%c) ; h(i)%c = b(1:i) ; end do",
    ),
    _trap(
        "perhaps_allocated_again",
        "do i = 1, n ; w1 = b(1:i) ; a(i) = w1(1) ; end do ; if (flag) w1 = b(1:3) ; w1(1) = 5",
    ),
    _trap("sum_if_allocated", "do i = 1, n ; if (allocated(one)) one = one + b(i) ; end do"),
    _trap("common_in_equivalence", "do i = 1, n ; c1(i) = i ; a(i) = c3(i + 1) ; end do"),
    _trap("common_in_function", "do i = 1, n ; c1(i) = i ; a(i) = of_block(i + 1) ; end do"),
    _trap("scalar_in_common", "do i = 1, n ; c4 = b(i) ; a(i) = c4 ; end do"),
    _trap("equivalence", "do i = 1, 4 ; e1(i) = e2(i) ; end do ; s = e1(1)"),
)

_FILES = "type(filed), intent(inout) :: f(2 * n), g"
_OWN = "real(8), save :: own\n!$omp threadprivate(own)"
_ALLOCATED = "real(8), allocatable :: w1(:), w2(:), one"
_GROWING = "type(growing) :: g(2 * n)"
_MORE = {
    **dict.fromkeys(
        (
            *("allocated_anew", "shape_that_stays", "carried_shape", "carried_status"),
            *("shape_read_later", "status_read_later", "element_set_later"),
            *("element_set_earlier", "lower_bound_that_stays", "sum_in_allocatable"),
            *("sum_if_allocated", "allocated_again_later", "perhaps_allocated_again"),
            *("deallocated_later", "allocated_by_its_loop", "source_of_an_allocation"),
        ),
        _ALLOCATED,
    ),
    **dict.fromkeys(
        ("flag_of_any", "flag_of_all", "flag_of_last", "flag_that_is_read"), "logical :: l1"
    ),
    **dict.fromkeys((*PRIVATE, *SHARED), "real(8) :: w2(n, 3)"),
    **dict.fromkeys(("reallocated_components", "shapes_of_components"), _GROWING),
    "shapes_through_a_pointer": "type(growing), target :: g(2 * n)\ntype(growing), pointer :: h(:)",
    "targets_of_components": "type(holder), intent(inout) :: c(n)",
    "targets_that_a_function_reads": "type(holder) :: c(n)\nreal(8), target :: tgt(n)",
    "targets_of_a_module": "real(8), target :: tgt(n)",
    **dict.fromkeys(("defined_assignment", "defined_operator"), _FILES),
    "sum_of_a_type": _FILES,
    "two_targets": "real(8), target :: t1(:), t2(:)",
    "target_of_the_module": "real(8), target :: t1(:)",
    "sum_of_assumed_size": "real(8) :: s1(*)",
    "maximum_of_text": "character(len=3) :: word, words(n)",
    "threadprivate_last": _OWN,
    "threadprivate_read": _OWN,
    **dict.fromkeys(
        ("sum_in_optional", "private_optional"), "real(8), intent(inout), optional :: o"
    ),
    "common_members": "integer :: c1(99), c2(99)\ncommon /block_a/ c1, c2",
    "common_in_equivalence": "real(8) :: c1(99), c2(99), c3(99)\n"
    "equivalence (c2, c3)\ncommon /block_b/ c1, c2",
    "common_in_function": "real(8) :: c1(99)\ncommon /block_c/ c1",
    "scalar_in_common": "real(8) :: c4\ncommon /block_d/ c4",
    "saved": "real(8), save :: kept = 0",
    "equivalence": "real(8) :: e1(5), e2(5), e3(6)\nequivalence (e1(1), e3(1)), (e2(1), e3(2))",
}
_DUMMIES = {
    "targets_of_components": ", c",
    "defined_assignment": ", f, g",
    "defined_operator": ", f, g",
    "sum_of_a_type": ", f, g",
    "two_targets": ", t1, t2",
    "target_of_the_module": ", t1",
    "sum_of_assumed_size": ", s1",
    **dict.fromkeys(("sum_in_optional", "private_optional"), ", o"),
}


def module_text(nests: tuple[LoopNest, ...]) -> str:
    """Return a module with a subroutine for each nest."""
    parts = [_HEAD]
    for nest in nests:
        declared = "\n".join((DECLARED, _MORE.get(nest.name, "")))
        others = _DUMMIES.get(nest.name, "")
        parts.append(
            f"  subroutine {nest.name}(n, idx, flag, k, s, z, a, b, m, q, p, x, y{others})\n"
            + "".join(f"    {line}\n" for line in (*declared.splitlines(), *nest.body.splitlines()))
            + f"  end subroutine {nest.name}\n"
        )
    return "".join((*parts, _FOOT))


_HEAD = """module nests_mod
  implicit none
  type :: holder
    real(8), pointer :: p
  end type holder
  type :: growing
    real(8), allocatable :: c(:)
  end type growing
  type :: filed
    real(8) :: value
  end type filed
  interface assignment(=)
    module procedure file_real
  end interface assignment(=)
  interface operator(+)
    module procedure add_real, add_filed
  end interface operator(+)
  real(8), pointer :: at(:)
  real(8), target :: wide(100)
  real(8) :: copied = 0
  !$omp threadprivate(copied)
  type :: pair
    real(8) :: f(0:100) = 1, g(0:100) = 2
  end type pair
  real(8) :: shared = 0
contains
"""
_FOOT = """  pure subroutine double_it(v)
    real(8), intent(inout) :: v
    v = 2 * v
  end subroutine double_it
  pure function twice(v) result(r)
    real(8), intent(in) :: v
    real(8) :: r
    r = 2 * v
  end function twice
  subroutine impure_one(v)
    real(8), intent(inout) :: v
    shared = shared + 1
    v = shared
  end subroutine impure_one
  pure subroutine set_pair(v)
    type(pair), intent(inout) :: v
    v%f = v%f + 1
  end subroutine set_pair
  pure subroutine raise(v)
    type(holder), intent(inout) :: v
    v%p = v%p + 1
  end subroutine raise
  pure function first_of(v) result(r)
    type(holder), intent(in) :: v
    real(8) :: r
    r = v%p
  end function first_of
  pure function of_module(at_place) result(r)
    integer, intent(in) :: at_place
    real(8) :: r
    r = at(at_place)
  end function of_module
  pure function of_block(at_place) result(r)
    integer, intent(in) :: at_place
    real(8) :: c5(99), r
    common /block_c/ c5
    r = c5(at_place)
  end function of_block
  subroutine file_real(left, right)
    type(filed), intent(out) :: left
    real(8), intent(in) :: right
    shared = shared + 1
    left%value = right + shared
  end subroutine file_real
  function add_real(left, right) result(r)
    type(filed), intent(in) :: left
    real(8), intent(in) :: right
    real(8) :: r
    shared = shared + 1
    r = left%value + right
  end function add_real
  pure function add_filed(left, right) result(r)
    type(filed), intent(in) :: left, right
    type(filed) :: r
    r%value = left%value + right%value
  end function add_filed
  pure function user() result(r)
    real(8) :: r
    r = shared
  end function user
end module nests_mod
"""


def program_text(nests: tuple[LoopNest, ...]) -> str:
    """Return a program that runs each nest on the same values and prints all bits."""
    calls = "".join(
        f"  call fill()\n  call {one.name}(n, idx, flag, k, s, z, a, b, m, q, p, x, y)\n"
        f"  call show('{one.name}')\n"
        for one in nests
    )
    return f"""program run_nests
  use nests_mod
  implicit none
  integer, parameter :: n = 40
  integer :: idx(n), k, round
  logical :: flag
  real(8) :: s, z, a(0:2*n+1), b(0:2*n+1), m(0:n+1, 0:n+1), q(0:n+1, 0:n+1)
  type(pair) :: p
  real(8), target :: space(2*n)
  real(8), pointer :: x(:), y(:)
  x => space(:n)
  y => space(n+1:)
  do round = 0, 1
  flag = round == 1
{calls}
  end do
contains
  subroutine fill()
    integer :: i, j
    idx = [(i, i = 1, n)]
    k = 2
    s = 3
    z = 5
    a = [(mod(7 * i, 5), i = 0, 2 * n + 1)]
    b = [(mod(3 * i, 4) + 1, i = 0, 2 * n + 1)]
    m = reshape([((mod(i + 3 * j, 5), i = 0, n + 1), j = 0, n + 1)], shape(m))
    q = reshape([((mod(2 * i + j, 4) + 1, i = 0, n + 1), j = 0, n + 1)], shape(q))
    p = pair()
    space = [(mod(i, 3), i = 1, 2 * n)]
  end subroutine fill
  subroutine show(name)
    character(len=*), intent(in) :: name
    integer :: i, j
    print *, name, k
    print '(4z17)', s, z, (a(i), b(i), i = 0, 2 * n + 1), ((m(i, j), i = 0, n + 1), j = 0, n + 1), &
      p%f(0:n)
  end subroutine show
end program run_nests
"""
