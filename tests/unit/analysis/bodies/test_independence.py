"""Loops whose iterations are independent, by kind, and near misses of each kind."""

from __future__ import annotations

import pytest

from kernel_bodies import code_in, code_of, kernel_module
from psyclone_storage.analysis.bodies.accesses import written_names
from psyclone_storage.analysis.bodies.flow import flow_of
from psyclone_storage.analysis.bodies.independence import Independence, independence_of
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.routine import Routine
from psyclone_storage.languages.fortran.parse.body import code_of as code_of_scope
from psyclone_storage.languages.fortran.parse.scope_reader import read_scopes

HEAD = """type :: parts
  real :: x(9), y(9), n
  real, pointer :: p(:), o(:)
end type parts
real :: state(9)"""
DECLARED = """real :: a(99), b(9, 9), c(9), q
real, pointer :: r(:)
real, target :: s(9)
integer :: n, m, i, j, k, jiv, map(9), count
real :: t, u, tmp(9), big
logical :: any_left
type(parts) :: d, e(9)
complex, pointer :: z(:)"""
FUNCTIONS = """pure real function twice(x)
  real, intent(in) :: x
  twice = 2.0 * x + state(1)
end function twice
real function noted(x)
  real, intent(in) :: x
  state(1) = x
  noted = x
end function noted
pure subroutine halve(x, y)
  real, intent(in) :: x
  real, intent(out) :: y
  y = x / 2.0
end subroutine halve
pure subroutine spread_out(x, y)
  real, intent(in) :: x(2)
  real, intent(out) :: y(2)
  y = x
end subroutine spread_out
pure real function both(x)
  real, intent(in) :: x(2)
  both = x(1) + x(2)
end function both"""

PARALLEL = {
    "components": "d%x(i) = d%y(i + 1)",
    "blocks of a symbolic length": (
        "do j = i, min(i + m - 1, n)\na(j) = 1.0\nend do",
        "do i = 1, n, m",
    ),
    "two halves": "a(i) = a(i + n)",
    "two halves as sections": "a(i) = sum(a(n + 1:2*n))",
    "rows one behind the other": "do j = 1, m\na(m * (i - 1) + j) = 0.0\nend do",
    "a triangle": "do j = i, n\nb(j, i) = b(j, i) + 1.0\nend do",
    "a triangle's other half": "do j = i, n\nb(j, i) = b(i, j) + 1.0\nend do",
    "strides": ("a(i) = a(i + 1)", "do i = 1, n, 2"),
    "downwards": ("a(i) = c(i)", "do i = n, 1, -1"),
    "a scalar of its own": "t = c(i)\na(i) = t",
    "an array of its own": "do j = 1, n\ntmp(j) = c(j)\nend do\na(i) = tmp(n)",
    "an array of its own that a loop reads": (
        "do j = 1, n\ntmp(j) = c(j)\nend do\ndo k = 1, n\nb(k, i) = tmp(k)\nend do"
    ),
    "an array of its own that a loop reads in part": (
        "do j = 1, n\ntmp(j) = c(j)\nend do\ndo k = 2, n - 1\nb(k, i) = tmp(k + 1)\nend do"
    ),
    "an array set as a whole": "tmp = c\na(i) = tmp(3)",
    "a cycle": "if (c(i) > 0.0) cycle\na(i) = 1.0",
    "an exit of an inner loop": "do j = 1, n\nif (c(j) > 0.0) exit\nend do\na(i) = 1.0",
    "a choice": (
        "select case (map(i))\ncase (1)\nt = 1.0\ncase default\nt = 2.0\nend select\na(i) = t",
        "do i = 1, n",
    ),
    "a mask": "where (b(:, i) > 0.0)\nb(:, i) = 0.0\nend where",
    "a pure function": "a(i) = twice(c(i))",
    "a pure subroutine": "call halve(c(i), a(i))",
    "an index behind a scalar": "jiv = i + 1\na(jiv) = c(i)",
    "components of one pointer": "e(n)%p(i) = e(n)%p(i) + 1.0",
    "a component of one structure each": "e(i)%x(1) = e(i)%y(2)",
    "a section passed to a pure subroutine": "call spread_out(c(1:2), b(1:2, i))",
    "a shift that does not change": "jiv = n - m\ndo j = 1, 2\nb(j, i + jiv) = 0.0\nend do",
}
DEPENDENT = {
    "a component of itself": "d%x(i) = d%x(i + 1)",
    "a structure as a whole": "d%x(i) = 1.0\nd = d",
    "pointers among components": "d%p(i) = r(i)",
    "a pointer and a target": "r(i) = s(i)",
    "blocks that overlap": ("do j = i, min(i + m, n)\na(j) = 1.0\nend do", "do i = 1, n, m"),
    "halves that meet": "a(i) = a(i + n - 1)",
    "rows that overlap": "do j = 1, m + 1\na(m * (i - 1) + j) = 0.0\nend do",
    "a square's other half": "do j = 1, n\nb(j, i) = b(i, j) + 1.0\nend do",
    "a stride too far": ("a(i) = a(i + 2)", "do i = 1, n, 2"),
    "a step that may be anything": ("a(i) = a(i + 1)", "do i = 1, n, m"),
    "a scalar set at times": "if (c(i) > 0.0) t = c(i)\na(i) = t",
    "a scalar set behind a cycle": "if (c(i) > 0.0) cycle\nt = 1.0\nu = t\nq = u",
    "an array set in part": "do j = 2, n\ntmp(j) = c(j)\nend do\na(i) = tmp(1)",
    "an array of which a loop reads more than was set": (
        "do j = 1, n\ntmp(j) = c(j)\nend do\ndo k = 1, n + 1\nb(k, i) = tmp(k)\nend do"
    ),
    "an array set in a loop cut short": (
        "do j = 1, n\nif (c(j) > 0.0) exit\ntmp(j) = c(j)\nend do\na(i) = tmp(n)"
    ),
    "an array set up to a value that changes": (
        "do j = 1, min(n, map(1))\ntmp(j) = 0.0\nend do\na(i) = tmp(n)"
    ),
    "an array set in a loop that may be empty": (
        "do k = 1, m\ndo j = 1, n\ntmp(j) = c(j)\nend do\nend do\na(i) = tmp(n)"
    ),
    "a whole array set in a loop that may be empty": (
        "do k = 1, m\ntmp = c(k)\nend do\na(i) = tmp(n)"
    ),
    "an array set at times": "if (c(i) > 0.0) tmp = c\na(i) = tmp(3)",
    "an exit": "a(i) = 1.0\nif (c(i) > 0.0) exit",
    "a function that is not pure": "a(i) = noted(c(i))",
    "a pure function of what is written": "state(i) = twice(c(i))",
    "a pure subroutine's result": "call halve(c(i), a(1))",
    "an index that is an array": "a(map + i) = c(1)",
    "an index that is an array constructor": "a([0, 1] + i) = c(1:2)",
    "an index that is a section": "a(map(1:2) + i) = c(1)",
    "an index of unknown rank": "a(parted(n) + i) = c(1)",
    "two pointers of a structure": "d%p(i) = d%o(i + 1)",
    "pointers of structures": "e(i)%p(1) = e(i)%p(1) + 1.0",
    "pointers of structures, with subscripts": "e(i)%p(i) = e(i)%p(i) + 1.0",
    "a pointer to parts of complex numbers": "z(i) = r(i + 1)",
    "an element for an array of a pure subroutine": "call spread_out(c(1:2), a(i))",
    "an element read by a pure subroutine": "call spread_out(a(i), tmp)\na(i) = tmp(1)",
    "an element read by a pure function": "a(i) = both(a(i))",
    "an array set under a mask": "where (c > 0.0)\ntmp = c\nb(:, i) = sum(tmp)\nend where",
    "an unknown index": "a(map(i)) = c(i)",
    "an index that is a fraction": "jiv = q\na(jiv + i / 2) = c(i)",
    "a file": "print *, a(i)",
    "a sum that is read": "t = t + c(i)\na(i) = t",
    "a sum of fractions in an integer": "count = count + c(i)",
    "a product of two ways": "t = t + c(i)\nt = t * 2.0",
}
REDUCTIONS = {
    "t = t + c(i) - a(i)": ("+", "t", False),
    "t = t * c(i)": ("*", "t", False),
    "big = max(big, c(i))": ("max", "big", True),
    "if (c(i) > big) big = c(i)": ("max", "big", True),
    "if (big > c(i)) then\nbig = c(i)\nend if": ("min", "big", True),
    "any_left = any_left .or. c(i) > 0.0": (".or.", "any_left", True),
    "if (c(i) > 0.0) count = count + 1": ("+", "count", True),
    "do j = 1, n\ntmp(j) = tmp(j) + b(j, i)\nend do": ("+", "tmp", False),
}


STATEMENTS = {
    "a pointer": ("pointer :: w", "w(i) = r(i + 1)"),
    "a target": ("target :: a", "a(i) = r(i + 1)"),
    "all kept": ("save", "t = c(i)\na(i) = t"),
    "one kept": ("save t", "t = c(i)\na(i) = t"),
    "a volatile variable": ("volatile :: t", "t = c(i)\na(i) = t"),
    "a first value": ("data t /0.0/", "t = c(i)\na(i) = t"),
    "a namelist": ("namelist /group/ t", "t = c(i)\na(i) = t"),
}


OF_OTHERS = {
    "one of several is kept": "save u",
    "first values": "data u /0.0/, m /1/",
    "first values of some elements": "data (c9(j), j = 1, 9) /9 * 0.0/",
    "a common block is kept": "save /block/",
}


def function_in(text: str, name: str) -> Routine:
    file = read_scopes(SourceText("small.f90", text))
    scope = next(scope for scope in file.scopes if scope.name == name)
    return linked(code_of_scope(scope))


def found(
    body: str | tuple[str, str], after: str = "", declared: str = "", internal: str = ""
) -> Independence:
    text, head = (body, "do i = 1, n") if isinstance(body, str) else body
    loop = f"{head}\n{text}\nend do\n{after}\n{internal}"
    whole = kernel_module(loop, f"{DECLARED}\n{declared}", "a, b, c, n, m, q, d", HEAD)
    first, last = whole.rsplit("end module", 1)
    flow = flow_of(code_in(f"{first}{FUNCTIONS}\nend module{last}"))
    return independence_of(flow.loops[0], flow)


ASSOCIATED = {
    "an array": "associate (p => a)\np(i) = c(i)\nend associate",
    "an element": "associate (p => a(i), w => c(i))\np = w + 1.0\nend associate",
    "an element of a component": "associate (p => d%x)\np(i) = d%y(i)\nend associate",
    "an expression": "associate (p => n - m)\na(i) = p\nend associate",
    "one in another": (
        "associate (p => a)\nassociate (w => p(i))\nw = w * 2.0\nend associate\nend associate"
    ),
    "a scalar of its own": "associate (p => t)\np = c(i)\na(i) = p\nend associate",
    "a scalar set before it is read": (
        "associate (p => c)\nt = p(i)\nu = t * 2.0\nend associate\na(i) = u"
    ),
}
CLASHES = {
    "another element": "associate (p => a)\np(i) = p(i + 1)\nend associate",
    "one element for all": "associate (p => a(1))\np = c(i)\nend associate",
    "a sum": "associate (p => t)\np = p + c(i)\nend associate",
    "two names of one array": "associate (p => a, w => a)\np(i) = w(i + 1)\nend associate",
    "an index that changes": "associate (p => a(k))\nk = i\np = c(i)\nend associate",
    "a value that changes": "k = i\nassociate (p => (k))\nk = k + n\na(k) = p\nend associate",
    "a call": "associate (p => c(i))\na(i) = noted(p)\nend associate",
    "an index from before": "k = 1\nassociate (p => k)\np = i + n\na(k) = a(k + 1)\nend associate",
    "a pointer": "associate (p => r(i))\ns(i + 1) = p\nend associate",
    "an end of the loop": "associate (p => c(i))\nif (p > 0.0) exit\nend associate",
    "a file": "associate (p => c(i))\nprint *, p\nend associate",
    "an array set in it alone": "associate (p => tmp)\np(1) = c(i)\nend associate\na(i) = tmp(2)",
}


@pytest.mark.parametrize("body", ASSOCIATED.values(), ids=ASSOCIATED)
def test_an_associate_is_seen_through(body: str) -> None:
    assert [reason.message for reason in found(body).reasons] == []


@pytest.mark.parametrize("body", CLASHES.values(), ids=CLASHES)
def test_an_associate_hides_no_dependence(body: str) -> None:
    assert found(body).reasons


@pytest.mark.parametrize("declared", OF_OTHERS.values(), ids=OF_OTHERS)
def test_attributes_of_others_do_not_matter(declared: str) -> None:
    assert found("tmp = c\nt = tmp(1)\na(i) = t", declared=declared).reasons == ()
    assert found("t = c(i)\na(i) = t", "data t /0.0/").reasons


def test_a_statement_function_reads_its_arguments_and_variables() -> None:
    declared = "real :: f, x, g, y\nf(x) = max(x, t) * s(1)\ng(y) = f(y) + u"
    assert found("a(i) = f(c(i)) + g(q)", declared=declared).reasons == ()
    assert found("t = c(i)\na(i) = g(c(i))", declared=declared).private == ("t",)
    assert found("a(i) = g(c(i))\nt = c(i)", declared=declared).reasons
    assert found("a(int(f(c(i)))) = 0.0", declared=declared).reasons
    unknown = "real :: f, x, h\nexternal :: h\nf(x) = h(x)"
    assert found("a(i) = f(c(i))", declared=unknown).reasons


def test_the_result_of_a_function_is_read_behind_its_loops() -> None:
    for head, name in (("function small_code()", "small_code"),
                       ("function small_code() result(r)", "r"),
                       ("function small_code() Result ( r )", "R")):  # fmt: skip
        text = kernel_module(f"do i = 1, 9\n{name} = i\nend do", f"integer :: i, {name}")
        text = text.replace("subroutine small_code()", head).replace(
            "end subroutine", "end function"
        )
        flow = flow_of(function_in(text, "small_code"))
        assert independence_of(flow.loops[0], flow).reasons


@pytest.mark.parametrize("call", ["q = noise(n, x)", "call noise(n, x)"])
def test_an_argument_that_is_only_read_is_not_changed_by_who_gets_it(call: str) -> None:
    declared = "integer, intent(in) :: n\nreal, intent(in) :: x(9)\nreal :: q\nexternal noise"
    code = code_of(call, declared, "n, x")
    assert written_names(code.body, RoutineNames(code)) <= {"q"}
    code = code_of(
        call, declared.replace("(9)", "(9)").replace("intent(in) :: x", "target :: x"), "n, x"
    )
    assert "x" in written_names(code.body, RoutineNames(code))
    pointer = declared.replace("intent(in) :: x(9)", "pointer, intent(in) :: x(:)")
    code = code_of(call, pointer, "n, x")
    assert "x" in written_names(code.body, RoutineNames(code))


@pytest.mark.parametrize("body", PARALLEL.values(), ids=PARALLEL)
def test_independent_iterations(body: str) -> None:
    assert [reason.message for reason in found(body).reasons] == []


@pytest.mark.parametrize("body", DEPENDENT.values(), ids=DEPENDENT)
def test_dependent_iterations(body: str) -> None:
    assert found(body).reasons


@pytest.mark.parametrize(("declared", "body"), STATEMENTS.values(), ids=STATEMENTS)
def test_attributes_may_have_statements_of_their_own(declared: str, body: str) -> None:
    more = "real :: w(:)\n" if "w" in declared else ""
    assert found(body, declared=f"{more}{declared}").reasons


def test_variables_of_internal_procedures_are_not_private() -> None:
    internal = "contains\nsubroutine inner()\nq = t\nend subroutine inner"
    assert found("t = c(i)\na(i) = t", internal=internal).reasons


@pytest.mark.parametrize(("body", "what"), REDUCTIONS.items())
def test_reductions(body: str, what: tuple[str, str, bool]) -> None:
    verdict = found(body, "q = t + big + tmp(1) + count")
    assert verdict.reasons == ()
    (one,) = verdict.reductions
    assert (one.operator.spelling, one.name, one.exact) == what


def test_private_variables_are_named() -> None:
    assert found("t = c(i)\ntmp = t\ndo j = 1, n\na(i) = tmp(j)\nend do").private == (
        "j",
        "t",
        "tmp",
    )


@pytest.mark.parametrize(
    "after", ["q = t", "q = tmp(1)", "do j = 1, n\nq = tmp(j)\nend do", "n = i"]
)
def test_what_is_read_later_is_not_private(after: str) -> None:
    assert found("t = c(i)\ntmp = t\na(i) = tmp(2)").reasons == ()
    assert found("t = c(i)\ntmp = t\na(i) = tmp(2)", after).reasons


def test_an_array_that_is_set_again_is_not_read_later() -> None:
    again = "do j = 1, 9\ntmp(j) = 0.0\nend do\nq = tmp(3)"
    assert found("tmp = c(i)\na(i) = tmp(2)", again).reasons == ()


def test_nothing_is_private_where_a_label_is_jumped_to() -> None:
    body = "10 continue\nif (q > 1.0) goto 10"
    assert found("t = c(i)\na(i) = t", body).reasons


def test_a_refusal_names_both_accesses_and_their_places() -> None:
    (reason,) = found("b(1, i) = 2.0 * &\n   b(1, &\n i - 1)").reasons
    assert reason.code == "T062"
    assert "'b(1, i)' is written, and 'b(1, i - 1)' is read" in reason.message
    assert reason.span is not None
    assert reason.span.text == "b(1, i)"
    (related,) = reason.related
    assert related.span.text == "b(1, &\n i - 1)"
    assert related.span.line == reason.span.line + 1
