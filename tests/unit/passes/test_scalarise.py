"""Array statements of whole routines as loops, and what the pass refuses."""

from __future__ import annotations

import pytest

from psyclone_storage.analysis.bodies.shapes import Triplet
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import Name, whole
from psyclone_storage.ir.routine import Routine
from psyclone_storage.languages.fortran.print.kernel import emit_code
from psyclone_storage.languages.python.translate.element_types import values_of_modules
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.passes.array_functions import scalarise
from psyclone_storage.passes.element_loops import ElementPosition, NotScalarisedError
from psyclone_storage.passes.scalarise import check_assignments, scalarise_assignments
from psyclone_storage.targets.c_printer import CPrinter
from support.file_benches import file_bench

PRINTER = CPrinter(ModuleFinder({}))
DECLARED = """
integer, parameter :: wp = kind(0.0d0)
integer, intent(in) :: n, i, m(5)
real(wp), intent(inout) :: a(60), d(5, 5), v(0:4), w(5), x, q(*), s(:)
"""


def read(body: str) -> Routine:
    """Return a subroutine with these statements."""
    head = "subroutine work(n, i, m, a, d, v, w, x, q, s)"
    text = f"module work_mod\ncontains\n{head}\n{DECLARED}\n{body}\nend subroutine\nend module\n"
    return PRINTER.read(SourceText("work_mod.f90", text), "work")


def statements(code: Routine) -> list[str]:
    found = [line.strip() for line in emit_code(code) if line.strip() and "::" not in line]
    return found[1:-1]


def scalarised(body: str) -> tuple[list[str], list[str]]:
    """Return the statements that the pass returns, and its reasons."""
    code = read(body)
    new, reasons = scalarise(code, values_of_modules(code, PRINTER.around))
    return statements(new), list(reasons.values())


def loops(head: str, line: str) -> list[str]:
    return [f"do {head}", line, "end do"]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("w = 2.0", loops("at = 1, 5", "w(at) = 2.0")),
        ("v = w", loops("at = 0, 4", "v(at) = w(at + 1)")),
        ("a(i:i + 4) = v", loops("at = 0, 4", "a(i + at) = v(at)")),
        ("w = a(m) + q(:5)", loops("at = 1, 5", "w(at) = a(m(at)) + q(at)")),
        ("d(i, :) = s", loops("at = 1, 5", "d(i, at) = s(at)")),
        ("w = -d(:, i)", loops("at = 1, 5", "w(at) = -d(at, i)")),
        ("a(1:2) = [x, 3.0_wp]", ["a(1) = x", "a(2) = 3.0_wp"]),
        ("x = x + size(d) + size(d, 2)", ["x = x + 25 + 5"]),
        (
            "x = sum(v)",
            ["total = 0.0", *loops("at = 0, 4", "total = total + v(at)"), "x = total"],
        ),
    ],
)
def test_loops(body: str, wanted: list[str]) -> None:
    assert scalarised(body) == (wanted, [])


def test_dimensions_are_nested_with_the_first_innermost() -> None:
    assert scalarised("d = transpose(d(:, :)) * 2")[0][:3] == [
        "do at_3 = 1, 5",
        "do at_2 = 1, 5",
        "values(at_2, at_3) = d(at_3, at_2) * 2",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "a(2:5) = a(1:4)",
        "w = w(5:5) + w",
        "w = matmul(d, w)",
        "a(1:5) = a(m)",
        "d = transpose(d)",
        "w = w * w(1)",
        "w = w * size(a(int(w(1)):))",
    ],
)
def test_other_elements_of_the_target_are_read_before_the_first_is_written(body: str) -> None:
    found, reasons = scalarised(body)
    assert not reasons
    target = body.partition("(")[0].partition(" ")[0]
    written = [place for place, line in enumerate(found) if line.startswith(f"{target}(")]
    read_last = [
        place for place, line in enumerate(found) if f"{target}(" in line.partition("=")[2]
    ]
    assert min(written) > max(read_last)


def test_own_elements_need_no_copy() -> None:
    assert scalarised("w = w * 2 + w(:)")[0] == loops("at = 1, 5", "w(at) = w(at) * 2 + w(at)")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("a(1:9:2) = w", "a section has a step"),
        ("x = sum(a(1:9:2))", "a section has a step"),
        ("w = matmul(transpose(d), w)", "the compiler's choice"),
        ("if (x > 0 .and. sum(w) > 1) x = 1", "only if what stands before it allows that"),
    ],
)
def test_refused_with_a_reason(body: str, reason: str) -> None:
    found, reasons = scalarised(body)
    assert found == statements(read(body))
    assert len(reasons) == 1
    assert reason in reasons[0]


@pytest.mark.parametrize(
    "body",
    [
        "s = w",
        "q(1:5) = matmul(matmul(d, d), w)",
        "w = reshape(w, [5])",
        "x = sum(w * 2)",
        "a(m) = a(m(1:5)) + s(1) + d",
        "m2 = w",
    ],
)
def test_what_is_not_certain_is_not_changed(body: str) -> None:
    assert scalarised(body) == (statements(read(body)), [])


def test_a_product_is_summed_for_each_element() -> None:
    assert scalarised("v = matmul(d, w)")[0] == [
        "do at = 0, 4",
        "total = 0.0",
        "do at_1 = 1, 5",
        "total = total + d(at + 1, at_1) * w(at_1)",
        "end do",
        "v(at) = total",
        "end do",
    ]


def test_steps_count_subscripts_and_keep_those_of_assumed_size() -> None:
    code = read("a(2:6) = q(:5) + w\nw = 2 * w")
    assert not check_assignments(code)
    assert statements(scalarise_assignments(code)) == [
        *loops("idx = 2, 6", "a(idx) = q(idx - 1) + w(idx - 1)"),
        *loops("idx_1 = 1, 5", "w(idx_1) = 2 * w(idx_1)"),
    ]


@pytest.mark.parametrize("body", ["a(2:5) = a(1:4)", "w = matmul(d, w)", "w = w(5:1:-1)"])
def test_steps_make_no_copy(body: str) -> None:
    assert check_assignments(read(body))


def test_an_element_of_another_rank_is_refused() -> None:
    position = ElementPosition((Name("i"),), (Triplet(whole(1), whole(5)),), read("x = 1"))
    with pytest.raises(NotScalarisedError):
        position.element(Name("d"))


HELD = """module held_mod
  implicit none
  real, allocatable :: w(:)
end module held_mod
module work_mod
contains
  subroutine work(b)
    use held_mod, only: v => w
    real, intent(in) :: b(9)
    {line}
  end subroutine work
end module work_mod
"""


@pytest.mark.parametrize(("line", "codes"), [("v = b", ["T060"]), ("v = 1", []), ("v(:) = b", [])])
def test_an_assignment_may_allocate_an_imported_variable(line: str, codes: list[str]) -> None:
    """Only the assignment of an array to the whole variable may change its extents."""
    found = check_assignments(file_bench(HELD.format(line=line)).code("work"))
    assert [one.code for one in found] == codes
