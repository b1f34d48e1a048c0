"""Colouring, and when it is refused."""

from __future__ import annotations

import pytest

from psyclone_storage.ir.kernel import Iteration
from psyclone_storage.ir.schedule import KernelCall, Loop, Over
from psyclone_storage.ir.view import statement_text
from psyclone_storage.ir.walk import outer_loops
from psyclone_storage.transform.colour import ColourLoop
from psyclone_storage.transform.openmp import ParallelDo
from unit.analysis.small import cells, dofs, operator
from unit.transform.benches import bench, refused


def test_a_loop_over_colours_takes_the_place_of_the_loop() -> None:
    work = bench(cells("u inc w0", "v read w3 stencil 1"))
    before = work["loop1"]
    work.apply(ColourLoop("loop1"))
    outer, inner = work["loop1"], work["cells(loop1)"]
    assert isinstance(before, Loop)
    assert isinstance(outer, Loop)
    assert isinstance(inner, Loop)
    assert (outer.over, inner.over) == (Over.COLOURS, Over.CELLS_OF_COLOUR)
    assert outer.body == (inner,)
    assert inner.body == before.body
    assert outer.extent == inner.extent == before.extent


def test_exchanges_stay_as_they_were() -> None:
    work = bench(cells("u inc w0", "v read w3 stencil 1"), cells("w write w3", "u read w0"))
    before = [item for item in work.schedule.body if not isinstance(item, Loop)]
    work.apply(ColourLoop("loop1"))
    assert [item for item in work.schedule.body if not isinstance(item, Loop)] == before


@pytest.mark.parametrize("access", ["inc", "readinc", "write"])
def test_any_change_of_shared_dofs_can_be_coloured(access: str) -> None:
    work = bench(cells(f"u {access} w0"))
    work.apply(ColourLoop("loop1"))
    assert [loop.over for loop in outer_loops(work.schedule)] == [Over.COLOURS]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (dofs("u write w0"), ["T005"]),
        (cells("u write w3", "v read w0"), ["T006"]),
        (cells(operator("op", "write"), "v read w0"), ["T006"]),
        (cells("u readwrite w3", iteration=Iteration.HALO_CELL_COLUMN, depth="1"),
         ["T006", "T005"]),
    ],
)  # fmt: skip
def test_loops_that_gain_nothing_are_refused(call: KernelCall, expected: list[str]) -> None:
    assert refused(bench(call), ColourLoop("loop1")) == expected


def test_all_reasons_are_given_at_once() -> None:
    work = bench(cells("u write w3"))
    work.apply(ParallelDo("loop1"))
    assert refused(work, ColourLoop("loop1")) == ["T007", "T006"]


def test_a_loop_is_coloured_once() -> None:
    work = bench(cells("u inc w0"))
    work.apply(ColourLoop("loop1"))
    assert refused(work, ColourLoop("loop1")) == ["T005"]
    assert refused(work, ColourLoop("cells(loop1)")) == ["T005"]


def test_what_is_no_loop_is_refused() -> None:
    work = bench(cells("u inc w0"), cells("v write w3", "u read w0"))
    assert refused(work, ColourLoop("loop7")) == ["T003"]
    assert refused(work, ColourLoop("call1")) == ["T004"]


@pytest.mark.parametrize("tiling", [False, True])
def test_colours_for_threads_are_a_property_of_the_outermost_loop(tiling: bool) -> None:
    work = bench(cells("u inc w0"))
    work.apply(ColourLoop("loop1", tiling, for_threads=True))
    (outer,) = outer_loops(work.schedule)
    assert outer.for_threads
    assert not work["cells(loop1)"].for_threads  # type: ignore[union-attr]
    assert "in mesh order on one thread" in statement_text(outer)
