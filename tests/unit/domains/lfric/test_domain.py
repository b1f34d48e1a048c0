"""What LFRic answers when a program is built."""

from __future__ import annotations

import pytest

from lfric_schedules import field_arg, kernel, operator_arg, scalar_arg
from psyclone_storage.domains.lfric.domain import LfricDomain
from psyclone_storage.ir.kernel import Access, KernelArg, MeshRole
from unit.domains.small import bound, codes

INC, READ, WRITE, READWRITE = Access.INC, Access.READ, Access.WRITE, Access.READWRITE
COARSE, FINE = MeshRole.COARSE, MeshRole.FINE


@pytest.mark.parametrize(
    ("args", "position"),
    [
        ([field_arg("w3", WRITE), field_arg("w2", INC)], 1),
        ([field_arg("w3", WRITE), operator_arg("w3", "w2", WRITE), field_arg("w2", INC)], 1),
        ([field_arg("any_space_1", INC), field_arg("w2", INC)], 1),
        ([field_arg("w3", READWRITE), field_arg("any_space_1", INC)], 1),
        ([scalar_arg(), field_arg("w2"), field_arg("w3", READWRITE)], 2),
        ([field_arg("w3", WRITE), field_arg("w3", WRITE)], 0),
        ([field_arg("w0", WRITE, mesh=FINE), field_arg("w3", mesh=COARSE)], 1),
        ([operator_arg("w3", "w2"), field_arg("w3", WRITE)], 1),
    ],
)
def test_a_loop_takes_its_bounds_from(args: list[KernelArg], position: int) -> None:
    assert LfricDomain().bounds_from(kernel(*args)) == position


def test_meshes_are_not_mixed_with_one_another() -> None:
    found = bound("drag_type(a, b), restrict_type(c, d), setval_c(c, 0.0), drag_type(e, b)")
    assert codes(found) == ["S109", "S109"]
    assert codes(bound("restrict_type(c, d), setval_c(c, 0.0)")) == []


def test_calls_have_names_of_their_own() -> None:
    found = bound("setval_c(a, 0.0), drag_type(a, b), SetVal_C(b, 1.0)")
    assert [call.uid for call in found.calls] == [
        "setval_c@loop1", "drag_type@loop2", "setval_c@loop3",
    ]  # fmt: skip
