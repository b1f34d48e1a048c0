"""Operators in halo cells: nothing exchanges them, so that they have values where computed only."""

from __future__ import annotations

import pytest

from psyclone_storage.domains.lfric.domain import LfricDomain
from psyclone_storage.ir.kernel import Iteration
from psyclone_storage.ir.schedule import KernelCall, Schedule
from unit.analysis.small import cells, operator, schedule

OWNED_CELLS = Iteration.OWNED_CELL_COLUMN
TO_A_DEPTH = Iteration.OWNED_AND_HALO_CELL_COLUMN


def problems(made: Schedule) -> list[str]:
    return [one.message for one in LfricDomain().check_schedule(made)]


def writer(name: str = "op", access: str = "write", *, owned: bool = True) -> KernelCall:
    iteration = OWNED_CELLS if owned else Iteration.CELL_COLUMN
    return cells(operator(name, access), iteration=iteration)


def reader(name: str = "op") -> KernelCall:
    return cells("u inc w2", operator(name, "read"))


def test_what_owned_cells_hold_is_not_read_in_the_halo() -> None:
    (found,) = LfricDomain().check_schedule(schedule(writer(), reader()))
    assert found.code == "S001"
    assert found.message == (
        "Kernel 'k2_type' reads the operator 'op' in halo cells, where 'k1_type' has not computed"
        " it."
    )
    assert "'k1_type' with 'operates_on = CELL_COLUMN'" in found.hint


@pytest.mark.parametrize(
    "made",
    [
        schedule(writer(owned=False), reader()),
        schedule(writer(), writer(owned=False), reader()),
        schedule(writer(), cells("a write w3", operator("op", "read"))),
        schedule(writer("other"), reader()),
        schedule(reader(), writer()),
        schedule(writer(), reader(), distributed=False),
    ],
)
def test_values_that_are_there_are_read(made: Schedule) -> None:
    assert problems(made) == []


def test_an_update_of_owned_cells_leaves_the_halo_behind() -> None:
    assert len(problems(schedule(writer(owned=False), writer(access="readwrite"), reader()))) == 1


@pytest.mark.parametrize(("depth", "found"), [("1", 0), ("2", 1), ("reach", 0)])
@pytest.mark.parametrize("access", ["read", "write"])
def test_a_kernel_is_called_as_far_as_there_are_values(depth: str, found: int, access: str) -> None:
    call = cells("a write w3", operator("op", access), iteration=TO_A_DEPTH, depth=depth)
    assert len(problems(schedule(call))) == found
