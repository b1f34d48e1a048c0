"""Each distinct actual argument of an invoke is one dummy with a name of its own."""

from __future__ import annotations

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.domains.data import ArgumentUse, DataTable
from psyclone_storage.ir.kernel import Access, ArgKind
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.languages.fortran.parse.reader import read_expression
from unit.domains.small import bound, data_names


@pytest.mark.parametrize(
    ("actual", "name"),
    [
        ("wind", "wind"),
        ("Wind", "wind"),
        ("self%state%wind", "self_state_wind"),
        ("fields(3)%chi(level)", "fields_3_chi_level"),
        ("fields(n+1)", "fields_n_1"),
        ("state ( 2 , j ) % f", "state_2_j_f"),
    ],
)
def test_a_name_recalls_the_text(actual: str, name: str) -> None:
    assert data_names(bound(f"setval_c({actual}, 0.0)")) == [name]


def test_texts_that_differ_in_blanks_and_case_are_one() -> None:
    found = bound("setval_c(f(1), 0.0), setval_c( F( 1 ), 1.0), setval_c(f(2), 1.0)")
    assert data_names(found) == ["f_1", "f_2"]


def test_texts_that_give_one_name_are_told_apart() -> None:
    found = bound("setval_c(a_b, 0.0), setval_c(a%b, 0.0), setval_c(a(b), 0.0)")
    assert len(set(data_names(found))) == 3
    assert data_names(found)[0] == "a_b"


def test_no_datum_is_called_like_a_kernel() -> None:
    assert data_names(bound("drag_type(drag_code, wind)"))[0] != "drag_code"


def test_an_expression_has_a_name_too() -> None:
    assert data_names(bound("scale_type(f, -dt, 1)")) == ["f", "dt"]
    (_, value) = bound("scale_type(f, 2*dt, 1)").data.in_order()
    assert value.name == "arg_2_dt"


def test_long_names_fit_fortran() -> None:
    text = "%".join(["a_long_component_name"] * 6)
    (name,) = data_names(bound(f"setval_c({text}, 0.0)"))
    assert len(name) <= 63


def aliases(invoke: str) -> dict[str, tuple[str, ...]]:
    return {datum.name: datum.may_alias for datum in bound(invoke).data.in_order()}


@pytest.mark.parametrize(
    ("first", "second", "may"),
    [
        ("f(i)", "f(j)", True),
        ("f(1)", "f(j)", True),
        ("f(1)", "f(2)", False),
        ("f(1, i)", "f(2, j)", False),
        ("f(1, i)", "f(j, 2)", True),
        ("f(i)", "g(i)", False),
        ("f", "g", False),
        ("self%f(i)", "self%f(i+1)", True),
        ("st(i)%f", "st(j)%f", True),
        ("st(1)%f", "st(2)%f", False),
        ("st(i)%f(1)", "st(j)%f(2)", False),
        ("st(1)%f(i)", "st(j)%f(2)", True),
        ("st(i)%f", "st(j)%g", False),
        ("a%st(i)%f", "b%st(j)%f", False),
    ],
)
def test_elements_at_unknown_places_may_be_one(first: str, second: str, may: bool) -> None:
    found = aliases(f"setval_c({first}, 0.0), setval_c({second}, 0.0)")
    one, two = found
    assert (found[one], found[two]) == (((two,), (one,)) if may else ((), ()))


INDICES = """
integer, parameter :: k1 = 1, k2 = k1 + 1, last = 2*k2 - 1
integer :: i, j, start = 1, some(3)
real :: x
type(box_type) :: box
type my_type
integer :: at
end type
type(my_type) :: boxes(3)
"""


@pytest.mark.parametrize(
    ("first", "second", "may"),
    [
        ("f(k1)", "f(k2)", False),
        ("f(K1)", "f(1)", True),
        ("f(k2)", "f(last - 1)", True),
        ("f(k2)", "f(last)", False),
        ("f(1 + 1)", "f(3 - 1)", True),
        ("f(1 + 1)", "f(3)", False),
        ("f(-1)", "f(0)", False),
        ("f(start)", "f(2)", True),
        ("f(i)", "f(i + 1)", False),
        ("f(i + k1)", "f(i + 1)", True),
        ("f(2*i + 1)", "f(i + i - k1)", False),
        ("f(i)", "f(j + 1)", True),
        ("f(some(i))", "f(some(i) + 1)", False),
        ("f(some)", "f(some + 1)", True),
        ("f(some(1:2))", "f(some(1:2) + 1)", True),
        ("f(some(some))", "f(some(some) + 1)", True),
        ("f(boxes%at)", "f(boxes%at + 1)", True),
        ("f(boxes(i)%at)", "f(boxes(i)%at + 1)", False),
        ("f(boxes(some)%at)", "f(boxes(some)%at + 1)", True),
        ("f(number(i))", "f(number(i) + 1)", True),
        ("f(some(number(i)))", "f(some(number(i)) + 1)", True),
        ("f(unknown)", "f(unknown + 1)", True),
        ("f(i/2)", "f(i/2 + 1)", True),
        ("f(box%i)", "f(box%i + 1)", True),
        ("f(1:2)", "f(3)", False),
        ("f(1:2)", "f(k2)", True),
        ("f(i:i+1)", "f(i+2:i+3)", False),
        ("f(i:i+2)", "f(i+2)", True),
        ("f(:2)", "f(3)", False),
        ("f(2:)", "f(3)", True),
        ("f(5:1:-1)", "f(3)", True),
        ("s(k1)%f", "s(k2)%f", False),
        ("s(i)%f", "s(i + 1)%f", False),
    ],
)
def test_indices_that_always_differ_are_told_apart(first: str, second: str, may: bool) -> None:
    found = bound(f"setval_c({first}, 0.0), setval_c({second}, 0.0)", INDICES).data.in_order()
    assert [bool(datum.may_alias) for datum in found] == [may, may]


@pytest.mark.parametrize("kind", [ArgKind.OPERATOR, ArgKind.COLUMNWISE_OPERATOR])
@pytest.mark.parametrize(
    ("first", "second", "may"),
    [
        ("m(i) write", "m(j) read", True),
        ("m(i) read", "m(j) readwrite", True),
        ("m(i) read", "m(j) read", False),
        ("m(1) write", "m(2) write", False),
        ("m(i) write", "n(i) read", False),
        ("s(i)%m write", "s(j)%m read", True),
    ],
)
def test_operators_at_unknown_places_may_be_one_if_one_is_written(
    kind: ArgKind, first: str, second: str, may: bool
) -> None:
    table = DataTable()
    for text in (first, second):
        actual, access = text.split()
        at = SourceText("alg.x90", actual).span(0, len(actual))
        table.add(
            ArgumentUse(
                read_expression(actual),
                DerivedType("operator_type"),
                at,
                kind=kind,
                access=Access(access),
            )
        )
    one, two = table.in_order()
    assert (one.may_alias, two.may_alias) == (((two.name,), (one.name,)) if may else ((), ()))


@pytest.mark.parametrize(
    ("invoke", "access"),
    [
        ("setval_c(f, 0.0)", Access.WRITE),
        ("setval_c(f, 0.0), setval_X(f, g)", Access.WRITE),
        ("setval_c(f, 0.0), setval_X(g, f)", Access.READWRITE),
        ("setval_X(g, f), sum_X(a, f)", Access.READ),
    ],
)
def test_the_accesses_of_all_calls_come_together(invoke: str, access: Access) -> None:
    found = bound(invoke).data
    assert next(datum for datum in found.in_order() if datum.name == "f").access is access


def test_a_reduction_that_is_read_afterwards_stays_one() -> None:
    found = bound("sum_X(total, f), a_times_X(g, total, f)").data
    assert next(datum for datum in found.in_order() if datum.name == "total").access is (
        Access.REDUCTION
    )
