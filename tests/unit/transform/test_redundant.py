"""Redundant computation: what it spares, and every reason against it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from psyclone_storage.ir.kernel import Iteration
from psyclone_storage.ir.region import WHOLE, Depth
from psyclone_storage.ir.schedule import KernelCall, Loop
from psyclone_storage.transform.colour import ColourLoop
from psyclone_storage.transform.openmp import ParallelDo
from psyclone_storage.transform.redundant import ComputeRedundantly
from unit.analysis.small import cells, dofs, exchanges, halo, operator, scalar
from unit.transform.benches import bench, refused


def test_the_exchange_for_the_reader_goes() -> None:
    work = bench(dofs("u write w3"), cells("v write w3", "u read w3 stencil 2"))
    assert list(exchanges(work.schedule)) == ["halo(u)@loop2"]
    work.apply(ComputeRedundantly("loop1", 2))
    assert exchanges(work.schedule) == {}


def test_the_exchange_of_what_is_read_appears_and_gets_deeper() -> None:
    work = bench(cells("u write w3", "v read w3"), cells("w write w3", "u read w3 stencil 1"))
    assert list(exchanges(work.schedule)) == ["halo(u)@loop2"]
    work.apply(ComputeRedundantly("loop1", 1))
    assert exchanges(work.schedule)["halo(v)@loop1"].depth == Depth.of(1)
    work.apply(ComputeRedundantly("loop1", 3))
    assert exchanges(work.schedule)["halo(v)@loop1"].depth == Depth.of(3)


def test_no_depth_is_the_whole_halo() -> None:
    work = bench(dofs("u write w3"))
    work.apply(ComputeRedundantly("loop1"))
    loop = work["loop1"]
    assert isinstance(loop, Loop)
    assert loop.extent.depth == WHOLE


@pytest.mark.parametrize("uid", ["loop1", "cells(loop1)"])
def test_both_levels_of_a_coloured_loop_change(uid: str) -> None:
    work = bench(cells("u inc w0"))
    work.apply(ColourLoop("loop1"))
    work.apply(ComputeRedundantly(uid, 2))
    loops = [work["loop1"], work["cells(loop1)"]]
    assert [loop.extent for loop in loops if isinstance(loop, Loop)] == [halo(2), halo(2)]


def test_an_operator_is_not_read_where_it_has_no_values_even_in_colours() -> None:
    work = bench(cells("u inc w2", operator("op", "read")))
    assert refused(work, ComputeRedundantly("loop1", 2)) == ["S001"]
    assert refused(work, ComputeRedundantly("loop1")) == ["S001"]
    work.apply(ColourLoop("loop1"))
    assert refused(work, ComputeRedundantly("loop1", 2)) == ["S001"]


def test_a_stencil_does_not_look_beyond_the_halo() -> None:
    work = bench(cells("v write w3", "u read w3 stencil 1"))
    assert refused(work, ComputeRedundantly("loop1")) == ["S002"]
    work.apply(ComputeRedundantly("loop1", 1))


@pytest.mark.parametrize(
    "call",
    [
        cells("u write w3", iteration=Iteration.OWNED_CELL_COLUMN),
        cells("u write w3", iteration=Iteration.OWNED_AND_HALO_CELL_COLUMN, depth="1"),
        dofs("u write w3", owned=True),
        dofs(scalar("s"), "u read w3"),
        cells("u write w3 coarse", "v read w3 fine"),
    ],
)
def test_loops_that_must_not_enter_the_halo_are_refused(call: KernelCall) -> None:
    assert refused(bench(call), ComputeRedundantly("loop1", 2)) == ["T011"]


def test_a_domain_has_no_halo() -> None:
    call = cells("u write w3", iteration=Iteration.DOMAIN)
    assert refused(bench(call), ComputeRedundantly("loop1", 2)) == ["T011"]


def test_a_loop_that_goes_as_far_is_refused() -> None:
    work = bench(cells("u inc w0"))
    assert refused(work, ComputeRedundantly("loop1", 1)) == ["T012"]
    work.apply(ComputeRedundantly("loop1", 3))
    assert refused(work, ComputeRedundantly("loop1", 2)) == ["T012"]
    work.apply(ComputeRedundantly("loop1"))
    assert refused(work, ComputeRedundantly("loop1")) == ["T012"]
    assert refused(work, ComputeRedundantly("loop1", -1)) == ["T014"]


def test_there_is_no_halo_without_distributed_memory() -> None:
    work = bench(dofs("u write w3"), distributed=False)
    assert refused(work, ComputeRedundantly("loop1", 1)) == ["T010"]


def test_a_loop_under_a_directive_is_refused() -> None:
    work = bench(dofs("u write w3"), cells("v inc w0"))
    work.apply(ParallelDo("loop1"))
    work.apply(ColourLoop("loop2"))
    work.apply(ParallelDo("cells(loop2)"))
    assert refused(work, ComputeRedundantly("loop1", 1)) == ["T007"]
    assert refused(work, ComputeRedundantly("loop2", 2)) == ["T007"]


def test_all_reasons_are_given_at_once() -> None:
    call = cells("u write w3", operator("op", "read"), iteration=Iteration.OWNED_CELL_COLUMN)
    work = bench(call, distributed=False)
    assert refused(work, ComputeRedundantly("loop1", 2)) == ["T010", "T011", "S001"]


def test_a_step_is_a_value() -> None:
    assert replace(ComputeRedundantly("loop1", 2), depth=3) == ComputeRedundantly("loop1", 3)
