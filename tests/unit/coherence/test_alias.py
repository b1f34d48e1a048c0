"""Elements of one array of fields that may be the same object at run time."""

from __future__ import annotations

from dataclasses import replace

from psyclone_storage.analysis.schedules.dependence import dependences, edges
from psyclone_storage.analysis.schedules.nests import check_fuse_neighbours
from psyclone_storage.analysis.schedules.races import check_races
from psyclone_storage.coherence.check_halos import check_halos
from psyclone_storage.coherence.halos import plan_halos
from psyclone_storage.coherence.scenarios import HaloScenario
from psyclone_storage.domains.lfric.builtins import builtin
from psyclone_storage.domains.lfric.rules import LfricRules
from psyclone_storage.ir.aliases import APART, Aliases
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.expr import Element, Literal, Member, Name
from psyclone_storage.ir.kernel import Access, ArgKind, Iteration, Kernel, KernelArg, StencilShape
from psyclone_storage.ir.region import Depth
from psyclone_storage.ir.schedule import (
    Actual,
    Datum,
    DirectiveRegion,
    Extent,
    KernelCall,
    Loop,
    Over,
    Reach,
    Schedule,
)
from psyclone_storage.ir.types import DerivedType, Intrinsic
from psyclone_storage.transform.halos import with_halos
from psyclone_storage.transform.legality import check_constructs

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
    return [(item.before, item.statement.datum, item.statement.guarded) for item in plan.exchanges]


def test_a_write_to_what_may_be_the_same_field_asks_the_flags_again() -> None:
    assert planned(alias=False) == [("loop1", "f_i", True)]
    assert planned(alias=True) == [("loop1", "f_i", True), ("loop3", "f_i", True)]


def test_flags_are_told_again_after_what_may_be_the_same_field_was_exchanged() -> None:
    loops = (fill(1, "f_j"), smooth(2, "g", "f_i"), fill(3, "f_j"))
    told = {
        alias: list(plan_halos(schedule(*loops, alias=alias), LfricRules()).marks)
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


def faults(made: Schedule, *same: str) -> list[str]:
    """Return what the adversary finds where the names in `same` mean one object."""
    world = HaloScenario(2, {}, frozenset(), same=(frozenset(same),) if same else ())
    return [fault.message for fault in check_halos(made, world)]


def test_the_adversary_finds_an_exchange_that_was_left_out() -> None:
    blind = with_halos(schedule(*LOOPS, alias=False), LfricRules())
    assert faults(blind) == []
    assert faults(blind, "f_i", "f_j") == [
        "'smooth@loop3' reads halo level 1 of 'f_i', which is stale."
    ]
    assert faults(with_halos(schedule(*LOOPS, alias=True), LfricRules()), "f_i", "f_j") == []


def test_no_exchange_leaves_a_region_in_which_the_field_may_be_written() -> None:
    first, second = fill(1, "f_j"), smooth(2, "g", "f_i")
    region = DirectiveRegion("region", Directive.OMP_PARALLEL, (first, second))
    apart, near = (
        with_halos(replace(schedule(alias=alias), body=(region,)), LfricRules())
        for alias in (False, True)
    )
    assert check_constructs(apart) == ()
    assert faults(apart, "f_i", "f_j") == [
        "'smooth@loop2' reads halo level 1 of 'f_i', which is stale."
    ]
    assert [reason.code for reason in check_constructs(near)] == ["T025"]


def test_loops_whose_fields_may_be_one_object_do_not_share_an_iteration_too_early() -> None:
    write, read = smooth(1, "f_j", "g"), smooth(2, "h", "f_i")
    for alias, expected in ((False, []), (True, ["S009"])):
        made = replace(schedule(alias=alias), body=(write, read))
        made = replace(made, data=(*made.data, Datum("h", Name("h"), FIELD, kind=ArgKind.FIELD)))
        reasons = check_fuse_neighbours(made, LfricRules(), "loop1", "loop2")
        assert [reason.code for reason in reasons] == expected
    assert "'f_i', which may be 'f_j'" in reasons[0].message
    assert reasons[0].hint == APART


def test_messages_name_an_object_as_the_user_does() -> None:
    element = Datum("c_i", Element(Name("c"), (Name("i"),)), FIELD)
    vector = Datum("self_v", Member(Name("self"), "v"), FIELD, vector=3)
    aliases = Aliases({datum.name: datum for datum in (element, vector)}, frozenset())
    one, part = Actual("c_i", Name("c_i")), Actual("self_v", Name("self_v"), 2)
    assert aliases.described(one, one) == "'c(i)'"
    assert aliases.described(part, part) == "'self%v(2)'"
    assert aliases.described(one, part) == "'self%v', which may be 'c(i)'"


def test_a_fused_loop_does_not_race_with_itself_under_two_names() -> None:
    write, read = smooth(1, "f_j", "g"), smooth(2, "g", "f_i")
    both = replace(write, body=(*write.body, *read.body))
    found = {}
    for alias in (False, True):
        made = replace(schedule(alias=alias), body=(both,))
        found[alias] = [reason.message for reason in check_races(made, LfricRules(), both)]
    assert any("'f_i', which 'smooth' writes" in message for message in found[True])
    assert not any("'f_i'" in message for message in found[False])


def test_depths_are_as_deep_as_without_aliases() -> None:
    plan = plan_halos(schedule(*LOOPS, alias=True), LfricRules())
    assert {item.statement.depth for item in plan.exchanges} == {Depth.of(1)}
