"""What agrees with the metadata; what does not has its folders, `tests/errors/S101` to `S108`."""

from __future__ import annotations

import pytest

from unit.domain.small import bound, codes

DECLARATIONS = """
type(field_type) :: f, g, many(3), grid(3, 3)
type(r_solver_field_type) :: fs
type(integer_field_type) :: mask
type(field_vector_type) :: state
type(operator_type) :: op
type(r_solver_operator_type) :: ops
type(our_type) :: ours
type(quadrature_xyoz_type) :: rule
type(quadrature_edge_type) :: edges
real(r_def) :: dt, table(4, 4), list(4)
integer(i_def) :: n
logical(l_def) :: flag
"""


@pytest.mark.parametrize(
    "call",
    [
        "drag_type(f, g)",
        "drag_type(f, fs)",
        "drag_type(many(1), many(2))",
        "drag_type(grid(1, 2), f)",
        "drag_type(state%vector(1), state%vector(n))",
        "drag_type(ours, unknown)",
        "drag_type(ours%f, f)",
        "metric_type(f, many)",
        "metric_type(f, state%vector)",
        "metric_type(many(1), state%vector)",
        "metric_type(f, grid(:, 1))",
        "metric_type(f, unknown)",
        "apply_type(f, op)",
        "apply_type(f, ops)",
        "apply_type(f, ours%op)",
        "project_type(f, g, rule, edges)",
        "project_type(f, g, ours, self%edges)",
        "table_type(f, table)",
        "scale_type(f, list(n), n)",
        "scale_type(f, 1.0, n + 1)",
        "a_times_X(f, 2, g)",
        "a_times_X(f, n, g)",
        "sum_X(dt, f)",
        "sum_X(list(1), f)",
    ],
)
def test_accepted(call: str) -> None:
    assert codes(bound(call, DECLARATIONS)) == []


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("drag_type(f, mask)", ["S105"]),
        ("drag_type(f, state)", []),
        ("drag_type(f, many)", ["S106"]),
        ("drag_type(f, grid(:, 1))", ["S106"]),
        ("drag_type(f, f)", ["S102"]),
        ("drag_type(f, F )", ["S102"]),
        ("drag_type(many(n), many( N))", ["S102"]),
        ("metric_type(many(1), many)", ["S102"]),
        ("metric_type(many(n), many)", ["S102"]),
        ("metric_type(state%vector(2), State%vector)", ["S102"]),
        ("drag_type(2.0, 3.0)", ["S104", "S104"]),
        ("drag_type(f + g, f)", ["S104"]),
        ("drag_type(f, abs(g))", ["S104"]),
        ("sum_X(abs(dt), f)", ["S103"]),
        ("drag_type(f, elsewhere(n))", []),
        ("metric_type(f, grid)", ["S106"]),
        ("metric_type(f, many(1))", ["S106"]),
        ("apply_type(f, g)", ["S105"]),
        ("apply_type(op, f)", ["S105", "S105"]),
        ("project_type(f, g, edges, rule)", ["S105", "S105"]),
        ("project_type(f, g, rule, 1)", ["S104"]),
        ("table_type(f, list)", ["S106"]),
        ("table_type(f, 1.0)", ["S104"]),
        ("scale_type(f, n, 1)", ["S105"]),
        ("scale_type(f, flag, 1.0)", ["S105", "S105"]),
        ("scale_type(f, list, n)", ["S106"]),
        ("scale_type(f, 1, n)", ["S105"]),
        ("a_times_X(f, flag, g)", ["S105"]),
        ("sum_X(n, f)", ["S105"]),
        ("sum_X(1.0, f)", ["S103"]),
        ("drag_type(f), drag_type(g, f, f)", ["S101", "S101"]),
    ],
)
def test_refused(call: str, found: list[str]) -> None:
    assert codes(bound(call, DECLARATIONS)) == found


def test_every_call_of_an_invoke_is_looked_at() -> None:
    found = bound("drag_type(f, 1.0), setval_c(mask, 1.0), scale_type(f, n, dt)", DECLARATIONS)
    assert codes(found) == ["S104", "S105", "S105", "S105"]
    assert found.calls == ()
