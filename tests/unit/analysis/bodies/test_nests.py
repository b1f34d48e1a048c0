"""Sums of subscripts, scalars that hold an index, and iterations that depend on one another."""

from __future__ import annotations

import pytest

from kernel_bodies import code_of
from psyclone_storage.analysis.bodies.accesses import unknown_procedures
from psyclone_storage.analysis.bodies.flow import flow_of
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.bodies.nests import footprints_of
from psyclone_storage.analysis.footprints import check_parallel
from psyclone_storage.ir.affine import difference, simplified
from psyclone_storage.ir.expr import spell
from psyclone_storage.languages.fortran.parse.reader import read_expression

DECLARED = (
    "real :: va(9, 9), t, s\ninteger :: i, j, k, jiv, map(9)\n"
    "real, pointer :: p(:)\nreal, target :: q(9)"
)


@pytest.mark.parametrize(
    ("written", "simple"),
    [
        ("i + 2 - 1", "i + 1"),
        ("2 * (i - 1) - i", "i - 2"),
        ("1 - 1", "0"),
        ("n - n + m(i)", "m(i)"),
        ("-i - 3", "-i - 3"),
        ("3 - i", "-i + 3"),
        ("i * j + i / 2", "i * j + i / 2"),
        ("-2 * n + i", "i - 2 * n"),
    ],
)
def test_sums(written: str, simple: str) -> None:
    assert spell(simplified(read_expression(written))) == simple


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [("n + 3", "n + 1", 2), ("2 * i", "i + i", 0), ("n", "m", None), ("f(i) + 1", "f(i)", 1)],
)
def test_differences(first: str, second: str, apart: int | None) -> None:
    assert difference(read_expression(first), read_expression(second)) == apart


def through(body: str) -> str:
    flow = flow_of(code_of(body, DECLARED))
    return "; ".join(
        str(node.seen(access.path))
        for node in flow.nodes
        for access in node.accesses
        if access.path.subscripts
    )


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        ("jiv = j + 1\nva(i, jiv) = 0.0", "va(i, j + 1)"),
        ("jiv = j\nj = 3\nt = va(i, jiv)", "va(i, jiv)"),
        ("jiv = map(i)\nmap(2) = 1\nt = q(jiv)", "map(i); map(2); q(jiv)"),
        ("jiv = map(i)\nt = q(jiv)", "map(i); q(map(i))"),
        ("jiv = jiv + 1\nt = q(jiv)", "q(jiv)"),
        ("jiv = t + 1.0\nt = q(jiv)", "q(jiv)"),
        ("jiv = 1\nif (t > 0.0) then\njiv = 2\nend if\nt = q(jiv)", "q(jiv)"),
        ("jiv = 1\ndo i = 1, 3\nt = q(jiv)\njiv = i\nend do", "q(jiv)"),
        ("jiv = 1\ndo i = 1, 3\nt = q(jiv + i)\nend do", "q(1 + i)"),
        ("jiv = 1\n10 continue\nt = q(jiv)\njiv = 2\nif (t > 0.0) goto 10", "q(jiv)"),
    ],
)
def test_scalars_are_seen_through_where_that_is_right(body: str, seen: str) -> None:
    assert through(body) == seen


PARALLEL = {
    "own elements": ("va(i, j) = va(i, j + 1) + t", []),
    "a private scalar": ("s = va(1, j)\nva(1, j) = s * 2.0", []),
    "another column": ("va(1, j) = va(1, j - 1)", ["T062"]),
    "a column behind a scalar": ("jiv = j - 1\nva(1, j) = va(1, jiv)", ["T062"]),
    "even and odd": ("va(1, 2 * j) = va(1, 2 * j + 1)", []),
    "one element": ("va(1, 1) = q(j)", ["T062"]),
    "two elements": ("va(1, j) = va(2, j + 1)", []),
    "an indirection": ("q(map(j)) = q(map(j)) + 1.0", ["T062"]),
    "a pointer and a target": ("p(j) = q(j)", ["T062"]),
    "a sum": ("s = s + q(j)", ["T062"]),
    "a scalar that is set sometimes": (
        "if (t > 1.0) then\ns = 1.0\nend if\nq(j) = s",
        ["T062"],
    ),
    "a procedure": ("call somewhere(j)", ["T052"]),
    "a write": ("print *, j", ["T052"]),
}


@pytest.mark.parametrize(("body", "codes"), PARALLEL.values(), ids=PARALLEL)
def test_iterations_in_parallel(body: str, codes: list[str]) -> None:
    fixed = body.replace("va(i, j + 1)", "va(2, j)").replace("va(i, j)", "va(2, j)")
    code = code_of(f"do j = 2, 8\n{fixed}\nend do", DECLARED, "va")
    found = {reason.code for reason in check_parallel(footprints_of(code)[0])}
    assert codes == sorted(found - ({"T062"} if "somewhere" in body or "print" in body else set()))


def test_names_that_go_from_iteration_to_iteration() -> None:
    flow = flow_of(code_of("do j = 1, 3\nt = s\ns = va(1, j)\nk = 1\njiv = k\nend do", DECLARED))
    (loop,) = flow.loops
    body = flow.body(loop)
    assert body.exposed & body.written == {("s",)}


def test_what_may_be_a_function() -> None:
    code = code_of("t = max(f(s), va(1, 2))\ncall g(t)", DECLARED)
    assert unknown_procedures(code.body, RoutineNames(code)) == {"f", "g"}
