"""Loops in procedures of their own: which may be, and what other steps then leave alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gocean_programs import READ, WRITE, kernel
from gocean_programs import schedule as of_grids
from psyclone_storage.base.source import SourceText
from psyclone_storage.domains.gocean.rules import GoceanRules
from psyclone_storage.ir.routine import KernelModule, KernelUse, Routine
from psyclone_storage.ir.schedule import KernelCall, Loop, Schedule
from psyclone_storage.ir.walk import kernel_calls, outer_loops, replaced
from psyclone_storage.transform.colour import ColourLoop
from psyclone_storage.transform.fuse import FuseLoops
from psyclone_storage.transform.openmp import OpenParallelRegion, ParallelDo, ShareLoop
from psyclone_storage.transform.outline import OutlineLoop, about_names
from psyclone_storage.transform.swap import SwapLoops
from psyclone_storage.transform.workbench import Workbench
from unit.analysis.small import built_in, cells, dofs, field, operator, scalar
from unit.transform.benches import bench, refused

GRIDS = GoceanRules()
COPY = {"copy": kernel(WRITE, READ, name="copy"),
        "mean": kernel(WRITE, "go_readwrite, go_r_scalar, go_pointwise", name="mean")}  # fmt: skip
TEXT = SourceText("copy_mod.f90", "")
MODULE = KernelModule("copy_mod", TEXT.span(0, 0), TEXT.span(0, 0))
IN_PLACE = Routine("copy_code", (), (), (), MODULE, kernel_use=KernelUse(in_place=True))


def grids(calls: str, *, in_place: bool = True) -> Workbench:
    made = of_grids(COPY, calls, distributed=False)
    for call in kernel_calls(made) if in_place else ():
        made = replaced(made, call.uid, replace(call, codes=(IN_PLACE,)))
    return Workbench(made, GRIDS)


def whys(work: Workbench, loop: str) -> list[str]:
    found = work.check(OutlineLoop(loop))
    assert {one.code for one in found} <= {"T059"}
    start = f"'{loop}' cannot stand in a procedure of its own: "
    return [one.message.removeprefix(start) for one in found]


def outer(schedule: Schedule) -> list[Loop]:
    return list(outer_loops(schedule))


def test_loops_over_points_and_dofs_are_outlined() -> None:
    for work in (grids("copy(a, b)"), bench(built_in("u write w3", "v read w3")),
                 bench(built_in(scalar("s"), "u read w3"))):  # fmt: skip
        work.apply(OutlineLoop("loop1"))
        assert [loop.outlined for loop in outer(work.schedule)] == [True]
        assert refused(work, OutlineLoop("loop1")) == ["T082"]


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (cells("u write w3"), "it calls 'k1_type'."),
        (dofs("u write w3"), "it calls 'k1_type'."),
        (built_in("u write w3", operator("op", "read")),
         "'k1_type' takes what is no field and no single number."),
    ],
)  # fmt: skip
def test_what_is_not(call: KernelCall, why: str) -> None:
    assert why in whys(bench(call), "loop1")


def test_a_kernel_has_to_be_in_its_place() -> None:
    work = grids("copy(a, b)", in_place=False)
    (found,) = work.check(OutlineLoop("loop1"))
    assert found.hint == "Apply 'inline-call' to 'copy@loop1'."


def test_loops_over_cells_are_outlined_with_their_colours_and_directives() -> None:
    work = bench(cells("u inc w0", operator("op", "read")))
    work.apply(ColourLoop("loop1"))
    work.apply(ParallelDo("cells(loop1)"))
    (call,) = kernel_calls(work.schedule)
    put = replaced(work.schedule, call.uid, replace(call, codes=(IN_PLACE,)))
    done = Workbench(put, work.rules)
    assert "it is inside of 'loop1'." in whys(done, "cells(loop1)")
    done.apply(OutlineLoop("loop1"))
    assert [loop.outlined for loop in outer(done.schedule)] == [True]


def test_a_scalar_that_changes_is_not_passed() -> None:
    assert whys(grids("mean(a, s)"), "loop1") == ["'mean' changes a scalar."]


def test_inner_loops_go_with_outer_ones() -> None:
    assert whys(grids("copy(a, b)"), "columns@loop1") == ["it is inside of 'loop1'."]


def test_fields_that_may_be_one_are_not_told_to_be_apart() -> None:
    work = bench(built_in("u write w3", "v read w3"))
    data = tuple(
        replace(datum, may_alias=("u",) if datum.name == "v" else ("v",))
        for datum in work.schedule.data
    )
    same = Workbench(replace(work.schedule, data=data), work.rules)
    assert whys(same, "loop1") == ["'u' and 'v' may be the same object, and one is written."]


def test_read_only_fields_may_be_one() -> None:
    work = bench(built_in("u write w3", "v read w3", "x read w3"))
    data = tuple(
        replace(datum, may_alias={"v": ("x",), "x": ("v",)}.get(datum.name, ()))
        for datum in work.schedule.data
    )
    assert whys(Workbench(replace(work.schedule, data=data), work.rules), "loop1") == []


def test_directives_are_put_around_outlined_loops_or_inside() -> None:
    before = grids("copy(a, b)")
    before.apply(ShareLoop("loop1"))
    before.apply(OpenParallelRegion("omp-do(loop1)", "omp-do(loop1)"))
    before.apply(OutlineLoop("loop1"))
    assert outer(before.schedule)[0].outlined


def test_what_changes_loops_comes_first() -> None:
    work = grids("copy(a, b), copy(c, a)")
    work.apply(OutlineLoop("loop1"))
    assert refused(work, FuseLoops("loop1", "loop2")) == ["S007"]
    assert refused(work, SwapLoops("loop1")) == ["T007"]


def about(*calls: KernelCall) -> list[str]:
    return [why.removesuffix(" may be one object by two names") for why, _ in about_names(calls)]


def test_names_are_apart_if_a_kernel_that_is_called_gets_both() -> None:
    one, other = cells("u write w3", "v read w3"), cells("w write w3", "v read w3")
    assert about(one) == []
    assert about(one, other) == ["'u' and 'w'"] * 2
    both = cells("u write w3", "w read w3")
    assert about(one, other, both) == []
    first, *rest = both.kernel.args
    masked = replace(both.kernel, args=(first, *(replace(arg, is_mask=True) for arg in rest)))
    assert "'u' and 'w'" in about(one, other, replace(both, kernel=masked))


def test_names_of_other_kinds_and_of_what_is_read_are_apart() -> None:
    reads = cells("u write w3", "v read w3"), cells("u readwrite w3", "w read w3")
    assert about(*reads) == []
    assert about(cells("u write w3"), cells("u readwrite w3", operator("m", "read"))) == []
    assert about(cells(operator("m", "write")), cells("u write w3", operator("n", "read"))) == [
        "'m' and 'n'"
    ]


def test_parts_of_a_vector_are_apart_and_told_from_others_each() -> None:
    first, second = field("x read w3", component=1), field("x read w3", component=2)
    assert about(cells(field("x write w3", component=1)), cells("u read w3", second)) == [
        "'u' and 'x'"
    ]
    assert about(cells("u write w3", first), cells("v read w3", first)) == ["'u' and 'v'"]
    assert "'u' and 'x'" in about(cells("u write w3", first), cells("v read w3", second))
