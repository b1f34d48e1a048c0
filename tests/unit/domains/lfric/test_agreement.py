"""What agrees with the metadata; what does not has its folders, `tests/errors/S101` to `S108`."""

from __future__ import annotations

import pytest

from psyclone_storage.domains.declared import check_declared_bounds
from psyclone_storage.domains.lfric.builtins import builtin, builtin_names
from psyclone_storage.domains.lfric.structures import STRUCTURES
from psyclone_storage.ir.kernel import Access, ArgKind, KernelArg
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.languages.fortran.parse.scope_lookup import link_algorithm
from unit.domains.small import algorithm, bound, codes

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
real(r_def), parameter :: fixed = 1.0, fixed_list(2) = (/ 1.0, 2.0 /)
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
        "a_times_X(f, 2.0, g)",
        "a_times_X(f, 2.0 * n, g)",
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
        ("a_times_X(f, 2, g)", ["S105"]),
        ("a_times_X(f, n, g)", ["S105"]),
        ("sum_X(n, f)", ["S105"]),
        ("sum_X(fixed, f)", ["S103"]),
        ("sum_X(fixed_list(2), f)", ["S103"]),
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


_SCALARS = {
    "literal": {Intrinsic.REAL: "2.0", Intrinsic.INTEGER: "2", Intrinsic.LOGICAL: ".true."},
    "kind": {Intrinsic.REAL: "2.0_r_solver", Intrinsic.INTEGER: "2_i_def"},
    "variable": {Intrinsic.REAL: "dt", Intrinsic.INTEGER: "n", Intrinsic.LOGICAL: "flag"},
    "element": {Intrinsic.REAL: "list(2)"},
    "constant": {Intrinsic.REAL: "fixed"},
    "expression": {Intrinsic.REAL: "2.0 * dt", Intrinsic.INTEGER: "n + 1"},
    "unknown": dict.fromkeys(Intrinsic, "self%unknown"),
}
_WRITABLE = ("variable", "element", "unknown")


def test_every_scalar_of_every_built_in() -> None:
    """Values of the wrong type are refused (S105), and so is a result that cannot be stored."""
    accepted = refused = 0
    for name in builtin_names():
        formula = builtin(name)
        assert formula is not None
        for position, scalar in enumerate(formula.args):
            if scalar.kind is not ArgKind.SCALAR:
                continue
            for form, texts in _SCALARS.items():
                for intrinsic, text in texts.items():
                    given = [_passed(arg, number) for number, arg in enumerate(formula.args)]
                    given[position] = text
                    found = codes(bound(f"{name}({', '.join(given)})", DECLARATIONS))
                    writes = scalar.access is not Access.READ
                    if writes and form not in _WRITABLE:
                        assert found == ["S103"], (name, text)
                    elif form != "unknown" and intrinsic is not scalar.intrinsic:
                        assert found == ["S105"], (name, text)
                    else:
                        assert found == [], (name, text)
                    accepted += not found
                    refused += bool(found)
    assert accepted >= 200
    assert refused >= 200


def _passed(arg: KernelArg, number: int) -> str:
    if arg.kind is ArgKind.SCALAR:
        form = "literal" if arg.access is Access.READ else "variable"
        return _SCALARS[form][arg.intrinsic]
    return f"unknown_{number}"


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("many(7)", True),
        ("many(0)", True),
        ("many(-1)", True),
        ("many(3)", False),
        ("many(n)", False),
        ("many(n + 9)", False),
        ("grid(4, 1)", True),
        ("grid(1, 4)", True),
        ("grid(3, 3)", False),
        ("from_0(0)", False),
        ("from_0(-1)", True),
        ("from_0(3)", True),
        ("sized(4)", False),
        ("sized(5)", True),
        ("sized(last)", False),
        ("sized(last + 1)", True),
        ("sized(more)", True),
        ("sized(more - 1)", False),
        ("many(2:7)", True),
        ("many(2:3)", False),
        ("many(:last)", True),
        ("many(last:)", False),
        ("many(7:2)", False),
        ("sized(2:more)", True),
        ("sized(n:more)", False),
        ("open_end(99)", False),
        ("assumed(99)", False),
        ("assumed(0)", False),
        ("allocated(0)", False),
        ("pointed(-3)", False),
        ("by_name(n + 0)", False),
        ("by_name(99)", False),
        ("unknown(99)", False),
        ("ours(9)%f", True),
        ("ours(2)%f", False),
        ("unknown%f(99)", False),
        ("many(index_of(99))", False),
        ("many(numbers(9))", True),
    ],
)
def test_constant_subscripts_are_within_declared_bounds(text: str, refused: bool) -> None:
    """A subscript is refused only where both it and the bound are known."""
    declarations = """
integer, parameter :: last = 4, more = last + 1
integer :: n, size, numbers(2)
type(field_type) :: many(3), grid(3, 3), from_0(0:2), sized(last), open_end(2:*), assumed(:)
type(field_type), allocatable :: allocated(:)
type(field_type), pointer :: pointed(:)
type(field_type) :: by_name(size)
type(our_type) :: ours(2)
"""
    parsed = algorithm(f"call invoke(setval_c({text}, 0.0))", declarations)
    (invoke,) = link_algorithm(parsed, STRUCTURES).invokes
    assert [one.code for one in check_declared_bounds(invoke)] == ["S106"] * refused
