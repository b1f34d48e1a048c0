"""Whether code writes all that is its own: what metadata that say "write" leave open."""

from __future__ import annotations

import pytest

from psyclone_storage.analysis.bodies.definite_assignment import (
    ColumnNames,
    writes_columns,
    writes_once,
)
from psyclone_storage.base.source import SourceText
from psyclone_storage.coherence.check_coverage import fills_columns
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import Access
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.languages.fortran.parse.body import read_code

INTEGER, REAL = ScalarType(Intrinsic.INTEGER), ScalarType(Intrinsic.REAL)
NAMES = ColumnNames("nlayers", "ndf", "map")
DUMMIES = (
    Dummy(Role.NLAYERS, "nlayers", INTEGER),
    Dummy(Role.FIELD, "x", REAL, (), 0, space="w3", access=Access.WRITE),
    Dummy(Role.FIELD, "y", REAL, (), 1, space="w3"),
    Dummy(Role.NDF, "ndf", INTEGER, (), 0, space="w3"),
    Dummy(Role.UNDF, "undf", INTEGER, (), 0, space="w3"),
    Dummy(Role.DOFMAP, "map", INTEGER, (), 0, space="w3"),
)


def code(body: str) -> Routine:
    text = (
        "module m\ncontains\nsubroutine code(nlayers, x, y, ndf, undf, map)\n"
        "integer, intent(in) :: nlayers, ndf, undf\ninteger, intent(in) :: map(ndf)\n"
        "real, intent(inout) :: x(undf)\nreal, intent(in) :: y(undf)\ninteger :: df, k, top\n"
        f"real :: mean\n{body}\nend subroutine\nend module\n"
    )
    return read_code(SourceText("m.f90", text), "code")


def nest(first: str, second: str, *inside: str) -> str:
    return "\n".join((f"do {first}", f"do {second}", *inside, "end do", "end do"))


DOFS, LAYERS = "df = 1, ndf", "k = 0, nlayers - 1"
SET = "x(map(df) + k) = 1.0"
WHOLE = {
    "dofs outside": nest(DOFS, LAYERS, SET),
    "layers outside": nest(LAYERS, DOFS, SET),
    "another order of a sum": nest(LAYERS, DOFS, "x(k + map(df)) = 1.0"),
    "layers from 1": nest("k = 1, nlayers", DOFS, "x(map(df) + k - 1) = 1.0"),
    "a sum that begins with zero": nest(
        LAYERS, DOFS, "x(map(df) + k) = 0.0", "x(map(df) + k) = x(map(df) + k) + y(map(df) + k)"
    ),
    "conditions elsewhere": f"mean = 0.0\nif (nlayers > 3) mean = 1.0\n{nest(DOFS, LAYERS, SET)}",
    "more behind": f"{nest(DOFS, LAYERS, SET)}\nx(map(1)) = 2.0",
}
PARTLY = {
    "all levels but the lowest": nest(DOFS, "k = 1, nlayers - 1", SET),
    "all levels but the highest": nest(DOFS, "k = 0, nlayers - 2", SET),
    "every other level": nest(DOFS, "k = 0, nlayers - 1, 2", SET),
    "the lowest level": "do df = 1, ndf\nx(map(df)) = 1.0\nend do",
    "one dof": f"do {LAYERS}\nx(map(1) + k) = 1.0\nend do",
    "half of the dofs": nest("df = 1, ndf / 2", LAYERS, SET),
    "levels up to a number": f"top = 3\n{nest(DOFS, 'k = 0, top', SET)}",
    "under a condition": nest(DOFS, LAYERS, f"if (y(map(df) + k) > 0.0) {SET}"),
    "after a way out": f"if (nlayers > 3) return\n{nest(DOFS, LAYERS, SET)}",
    "a loop that is left": nest(DOFS, LAYERS, "if (k > 2) exit", SET),
    "a loop with gaps": nest(DOFS, LAYERS, "if (k > 2) cycle", SET),
    "a look before": f"mean = x(map(1))\n{nest(DOFS, LAYERS, SET)}",
    "a look at itself": nest(DOFS, LAYERS, "x(map(df) + k) = 2.0 * x(map(df) + k)"),
    "a look at the next level": nest(DOFS, LAYERS, SET, "x(map(df) + k) = x(map(df) + k + 1)"),
    "another array": nest(DOFS, LAYERS, "y(map(df) + k) = 1.0"),
    "nothing": "mean = 1.0",
}


@pytest.mark.parametrize("body", WHOLE.values(), ids=WHOLE)
def test_loops_over_all_dofs_and_layers_write_whole_columns(body: str) -> None:
    assert writes_columns(code(body), "x", NAMES)
    assert fills_columns(code(body), DUMMIES, 0)


@pytest.mark.parametrize("body", PARTLY.values(), ids=PARTLY)
def test_what_leaves_values_writes_no_whole_columns(body: str) -> None:
    assert not writes_columns(code(body), "x", NAMES)
    assert not fills_columns(code(body), DUMMIES, 0)


def test_a_dof_is_written_on_every_way() -> None:
    assert writes_once(code("mean = 1.0\nx = mean"), "x")
    assert not writes_once(code("if (nlayers > 3) x = 1.0"), "x")
    assert not writes_once(code("x = 2.0 * x"), "x")
    assert not writes_once(code("if (nlayers > 3) return\nx = 1.0"), "x")
