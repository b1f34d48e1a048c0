"""Elements of one array of fields that may be the same object at run time."""

from __future__ import annotations

from dataclasses import replace

from psyclone_storage.analysis.schedules.dependence import dependences, edges
from psyclone_storage.analysis.schedules.halo import plan_halos
from psyclone_storage.domain.lfric.builtins import builtin
from psyclone_storage.domain.lfric.rules import LfricRules
from psyclone_storage.ir.expr import Literal, Name
from psyclone_storage.ir.kernel import Access, ArgKind, Iteration, Kernel, KernelArg, StencilShape
from psyclone_storage.ir.region import Depth
from psyclone_storage.ir.schedule import (
    Actual,
    Datum,
    Extent,
    KernelCall,
    Loop,
    Over,
    Reach,
    Schedule,
)
from psyclone_storage.ir.types import DerivedType, Intrinsic

ONE = Literal("1", Intrinsic.INTEGER)
FIELD = DerivedType("field_type")


def field(access: Access, stencil: StencilShape | None = None) -> KernelArg:
    return KernelArg(ArgKind.FIELD, Intrinsic.REAL, access, "w3", stencil=stencil)


SMOOTH = Kernel(
    "smooth", "m", "code", Iteration.CELL_COLUMN,
    (field(Access.WRITE), field(Access.READ, StencilShape.CROSS)),
)  # fmt: skip


def smooth(number: int, target: str, source: str) -> Loop:
    args = (Actual(target, Name(target)), Actual(source, Name(source), extent=ONE))
    call = KernelCall(f"smooth@loop{number}", SMOOTH, args)
    return Loop(f"loop{number}", Over.CELLS, Extent(Reach.OWNED), 0, (call,))


def fill(number: int, target: str) -> Loop:
    kernel = builtin("setval_c")
    assert kernel is not None
    args = (Actual(target, Name(target)), Actual(None, ONE))
    call = KernelCall(f"fill@loop{number}", kernel, args)
    return Loop(f"loop{number}", Over.DOFS, Extent(Reach.OWNED), 0, (call,))


def schedule(*loops: Loop, alias: bool) -> Schedule:
    data = [Datum(name, Name(name), FIELD, kind=ArgKind.FIELD) for name in ("f_i", "f_j", "g")]
    if alias:
        data[0] = replace(data[0], may_alias=("f_j",))
        data[1] = replace(data[1], may_alias=("f_i",))
    return Schedule("invoke_0", tuple(data), loops, distributed=True, annexed_clean=False)


LOOPS = (smooth(1, "g", "f_i"), fill(2, "f_j"), smooth(3, "g", "f_i"))


def planned(alias: bool) -> list[tuple[str, str, bool]]:
    plan = plan_halos(schedule(*LOOPS, alias=alias), LfricRules())
    return [(item.before, item.exchange.datum, item.exchange.guarded) for item in plan.exchanges]


def test_a_write_to_what_may_be_the_same_field_asks_the_flags_again() -> None:
    assert planned(alias=False) == [("loop1", "f_i", True)]
    assert planned(alias=True) == [("loop1", "f_i", True), ("loop3", "f_i", True)]


def test_flags_are_told_again_after_what_may_be_the_same_field_was_exchanged() -> None:
    loops = (fill(1, "f_j"), smooth(2, "g", "f_i"), fill(3, "f_j"))
    told = {
        alias: [
            item.after for item in plan_halos(schedule(*loops, alias=alias), LfricRules()).marks
        ]
        for alias in (False, True)
    }
    assert told == {False: ["loop1", "loop2"], True: ["loop1", "loop2", "loop3"]}


def test_what_may_be_one_object_must_stay_in_order() -> None:
    apart = schedule(*LOOPS, alias=False)
    near = schedule(*LOOPS, alias=True)
    assert dependences(apart, LOOPS[0], LOOPS[1]) == ()
    assert {edge.datum for edge in dependences(near, LOOPS[0], LOOPS[1])} == {"f_i", "f_j"}
    assert ("loop2", "loop3") not in {(edge.earlier, edge.later) for edge in edges(apart)}
    assert ("loop2", "loop3") in {(edge.earlier, edge.later) for edge in edges(near)}


def test_a_write_that_may_be_elsewhere_covers_nothing() -> None:
    loops = (fill(1, "f_i"), fill(2, "f_j"), smooth(3, "g", "f_i"))
    found = {(edge.earlier, edge.later) for edge in edges(schedule(*loops, alias=True))}
    assert ("loop1", "loop3") in found


def test_depths_are_as_deep_as_without_aliases() -> None:
    plan = plan_halos(schedule(*LOOPS, alias=True), LfricRules())
    assert {item.exchange.depth for item in plan.exchanges} == {Depth.of(1)}
