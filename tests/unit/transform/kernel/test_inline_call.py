"""When the statements of a kernel may take the place of its call, and what becomes of names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from psyclone_storage.ir.interface import Dummy, Role, shape_of_extents
from psyclone_storage.ir.kernel import Access
from psyclone_storage.ir.schedule import KernelCall
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.languages.fortran.parse.reader import read_expression
from psyclone_storage.languages.fortran.print.printer import emit_lines
from psyclone_storage.lowering.routine_builder import ModuleImports, Workspace
from psyclone_storage.passes.inline.block import inlined_block
from psyclone_storage.transform.kernel.inline import InlineCall, InlinePointCall
from unit.analysis.small import cells, dofs, schedule
from unit.transform.benches import refused
from unit.transform.kernel.kernel_benches import bench, module

STEP = InlineCall("call1")
DUMMIES = (
    Dummy(Role.NDF, "ndf_w0", ScalarType(Intrinsic.INTEGER)),
    Dummy(
        Role.FIELD,
        "data",
        ScalarType(Intrinsic.REAL),
        shape_of_extents("ndf_w0"),
        access=Access.INC,
    ),
)


def call() -> KernelCall:
    return replace(cells("u inc w0"), dummies=DUMMIES)


def inlined(text: str, *passed: str) -> list[str]:
    """Return the lines that stand for a call with what is `passed`."""
    work = bench(text, call())
    work.apply(STEP)
    node = work["call1"]
    assert isinstance(node, KernelCall)
    place = Workspace(ModuleImports(), (), lambda _: "kinds_mod")
    actual = tuple(map(read_expression, passed))
    lines = inlined_block(node.codes[0], actual, place.imported_kind)
    return [line.strip() for line in emit_lines(lines, 0)]


def test_dummies_become_what_is_passed() -> None:
    assert inlined(module("a(n) = a(1) * 2.0"), "ndf", "f%data(:, cell)") == [
        "f%data(ndf, cell) = f%data(1, cell) * 2.0"
    ]


def test_an_expression_keeps_its_brackets() -> None:
    assert inlined(module("a(1) = 2 * n"), "m + 1", "f") == ["f(1) = 2 * (m + 1)"]


def test_own_variables_get_other_names_where_they_would_hide_what_is_passed() -> None:
    lines = inlined(module("f = 1.0\na(1) = f", "real :: f"), "n", "f")
    assert lines == ["block", "real :: f_1", "f_1 = 1.0", "f(1) = f_1", "end block"]


def test_constants_of_the_module_and_imports_come_along() -> None:
    text = module("a(1) = g * two", above="use physics, only: g\nreal, parameter :: two = 2.0")
    assert inlined(text, "n", "f") == [
        "block",
        "use physics, only: g",
        "real, parameter :: two = 2.0",
        "f(1) = g * two",
        "end block",
    ]


def test_an_import_that_would_hide_what_is_passed_is_renamed() -> None:
    text = module("a(1) = g", above="use physics, only: g")
    assert inlined(text, "n", "g")[1:3] == ["use physics, only: g_1 => g", "g(1) = g_1"]


def test_a_dummy_that_starts_elsewhere_is_shifted() -> None:
    text = module("b(0) = b(n - 1)").replace("a(n)", "b(0:n-1)").replace("(n, a)", "(n, b)")
    assert inlined(text, "ndf", "f") == ["f(0 - 0 + 1) = f(ndf - 1 - 0 + 1)"]


def test_other_statements_have_their_arguments_exchanged() -> None:
    text = "do while (a(1) > n)\nwrite (*, *) a(1)\nselect case (n)\ncase (1)\nexit\n"
    text += "end select\nend do"
    assert inlined(module(text), "ndf", "f") == [
        "do while (f(1) > ndf)",
        "write(*, *) f(1)",
        "select case (ndf)",
        "case (1)",
        "exit",
        "end select",
        "end do",
    ]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("if (n < 0) return\na(1) = 0.0", ["if (.not. ndf < 0) then", "f(1) = 0.0", "end if"]),
        (
            "if (n < 0 .or. n > 3) return\nif (n == 1) then\na(1) = 1\nreturn\nend if\na(1) = 2",
            ["if (.not. (ndf < 0 .or. ndf > 3)) then", "if (ndf == 1) then", "f(1) = 1", "else",
             "f(1) = 2", "end if", "end if"],
        ),
        (
            "if (n < 0) then\na(1) = 1\nelseif (n < 3) then\nreturn\nelse\nreturn\nendif\na(1) = 2",
            ["if (ndf < 0) then", "f(1) = 1", "f(1) = 2", "else if (ndf < 3) then", "end if"],
        ),
        ("a(1) = 1\nif (n < 0) then\na(1) = 2\nreturn\nend if\nreturn",
         ["f(1) = 1", "if (ndf < 0) then", "f(1) = 2", "end if"]),
    ],
)  # fmt: skip
def test_an_early_return_becomes_a_choice(body: str, lines: list[str]) -> None:
    assert inlined(module(body), "ndf", "f") == lines


def test_the_last_return_is_left_out() -> None:
    assert inlined(module("a(1) = 0.0\nreturn"), "n", "f") == ["f(1) = 0.0"]


@pytest.mark.parametrize(
    ("body", "specification", "code"),
    [
        ("do while (n < 0)\nif (a(1) < 0) return\nend do\na(1) = 0.0", "", "T052"),
        ("if (n < 0) then\nif (n < -1) return\nelse\na(1) = 1\nend if\na(1) = 0.0", "", "T052"),
        ("associate (x => a(1))\nx = 0.0\nend associate", "real :: x", "T052"),
        (
            "rows: do i = 1, n\nif (a(i) > 0) cycle rows\na(i) = 1\nend do rows",
            "integer :: i",
            "T052",
        ),
        ("10 continue\na(1) = 0.0", "", "T052"),
        ("do concurrent (integer :: j = 1:3)\na(j) = 0.0\nend do", "integer :: j", "T052"),
        ("forall (n = 1:3) a(n) = 0.0", "", "T065"),
        ("a(1) = x", "real, save :: x", "T065"),
        ("a(1) = x", "real :: x = 1.0", "T065"),
        ("allocate(x(3))", "real, allocatable :: x(:)", "T065"),
        ("x => a", "real, pointer :: x(:)", "T065"),
        ("n = 3\na(1) = n", "", "T065"),
    ],
)
def test_what_is_refused(body: str, specification: str, code: str) -> None:
    text = module(body, specification)
    if body.startswith("n ="):
        text = text.replace("intent(in) :: n", "intent(inout) :: n")
    assert refused(bench(text, call()), STEP) == [code]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (module("call helper(a)", below="subroutine helper(a)\nend subroutine helper"), "calls"),
        (module("a(1) = g", above="use one\nuse two"), "comes from"),
        (module().replace("a(n)", "a(n, 2)"), "another shape"),
        (module("a(1) = lbound(a, 1)").replace("a(n)", "a(0:n-1)"), "bounds"),
        (module("a = sum(a(2:))").replace("a(n)", "a(3)"), "bounds"),
        (module("f(x) = 2 * x\na(1) = f(2.0)", "real :: f, x"), "'f(x) = 2 * x'"),
        ("#define one 1.0\n" + module("a(1) = one", above="use two"), "'#define one 1.0'"),
    ],
)
def test_reasons(text: str, reason: str) -> None:
    problem, *stay = bench(text, call()).check(STEP)
    assert problem.code == "T065"
    assert [one.code for one in stay] == ["T070"] * (reason == "calls")
    assert reason in problem.message


def test_a_function_that_has_the_name_of_a_field_is_refused() -> None:
    of_field = replace(cells("max inc w0"), dummies=DUMMIES)
    assert refused(bench(module("a(1) = max(a(1), 0.0)"), of_field), STEP) == ["T065"]
    assert not bench(module("a(1) = max(a(1), 0.0)"), call()).check(STEP)


def test_bounds_do_not_matter_where_only_elements_are_used() -> None:
    text = module("a(0) = size(a) + a(1)").replace("a(n)", "a(0:n-1)")
    assert not bench(text, call()).check(STEP)
    text = module("a(2:3) = a(1)").replace("a(n)", "a(3)")
    assert not bench(text, call()).check(STEP)


def test_another_number_of_arguments_is_refused() -> None:
    assert refused(bench(module()), STEP) == ["T065"]


def test_it_happens_once() -> None:
    work = bench(module(), call())
    work.apply(STEP)
    assert refused(work, STEP) == ["T065"]


def test_everywhere_is_where_a_kernel_is_called_for_every_point() -> None:
    made = schedule(dofs("x write w3"), cells("y write w3"), dofs("z write w3"))
    assert [place["call"] for place in InlinePointCall.places(made)] == ["call1", "call3"]
