"""What a script sees of a program."""

from __future__ import annotations

import re

import pytest

from lfric_schedules import (
    OWNED,
    built_in,
    call,
    dof_loop,
    field,
    field_arg,
    kernel,
    loop,
    program,
    scalar,
    scalar_arg,
)
from psyclone_storage import scripting
from psyclone_storage.domains.lfric.rules import LfricRules
from psyclone_storage.ir.expr import Literal
from psyclone_storage.ir.kernel import Access, ReductionOp
from psyclone_storage.ir.region import Depth
from psyclone_storage.ir.schedule import GlobalReduction, HaloExchange, MarkHalo, Reason
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.scripting import KernelCall, Loop, Node, Psy, Schedule

WORK = kernel(field_arg("w3", Access.WRITE), field_arg("w2"), scalar_arg())
REASON = Reason("work_type@loop2", "in halo cells to level 1", "", "its halo stale")
PSY = Psy(
    program(
        (field("f"), field("g"), scalar("a")),
        dof_loop(built_in("setval_c", "f", "a")),
        HaloExchange("halo(g)@loop2", "g", None, Depth(), guarded=True, reasons=(REASON,)),
        loop(call(WORK, "f", "g", Literal("2.0_r_def", Intrinsic.REAL)), uid="loop2"),
        MarkHalo("mark(f)@loop2", "f", None, dirty=True, clean=Depth()),
        GlobalReduction("reduce(a)@loop2", "a", ReductionOp.SUM),
    ),
    LfricRules(),
)
SCHEDULE = PSY.invokes.get("test").schedule


def test_invokes_are_found_by_either_name() -> None:
    assert PSY.invokes.names == ["invoke_test"]
    assert PSY.invokes.get("INVOKE_test").name == "invoke_test"
    with pytest.raises(KeyError, match="There is no invoke 'other'; there are: invoke_test"):
        PSY.invokes.get("other")


def test_every_statement_has_a_view_of_its_own_class() -> None:
    assert [type(child).__name__ for child in SCHEDULE.children] == [
        "Loop", "HaloExchange", "Loop", "MarkHalo", "GlobalReduction",
    ]  # fmt: skip
    assert all(isinstance(child, Node) for child in SCHEDULE.children)


def test_walk_finds_the_outer_before_the_inner() -> None:
    found = SCHEDULE.walk((Loop, KernelCall))
    assert [node.uid for node in found] == [
        "loop1", "setval_c@loop1", "loop2", "work_type@loop1",
    ]  # fmt: skip
    assert PSY.walk(Loop) == SCHEDULE.loops()


def test_a_node_knows_its_place() -> None:
    second = SCHEDULE.loops()[1]
    assert second.position == 2
    assert [node.uid for node in second.following()] == ["mark(f)@loop2", "reduce(a)@loop2"]
    called = second.children[0]
    assert called.parent == second
    assert called.ancestor(Loop) == second
    assert called.ancestor(Schedule) == SCHEDULE == called.root
    assert called.ancestor(KernelCall) is None
    assert called.children == ()
    assert SCHEDULE.parent is None
    assert SCHEDULE.position == 0
    assert SCHEDULE.following() == []


def test_equal_places_are_equal_views() -> None:
    assert SCHEDULE.loops()[0] == SCHEDULE.children[0]
    assert len({*SCHEDULE.loops(), *SCHEDULE.loops()}) == 2
    assert SCHEDULE.loops()[0] != "loop1"


def test_a_loop_says_how_far_it_goes() -> None:
    first = SCHEDULE.loops()[0]
    assert (first.over, first.reach, first.depth) == ("dofs", OWNED.reach.value, "0")


def test_a_call_says_what_it_does() -> None:
    builtin, work = SCHEDULE.kernels()
    assert (builtin.name, builtin.is_builtin) == ("setval_c", True)
    assert (work.name, work.is_builtin) == ("work_type", False)
    assert work.arguments == ("f", "g", "2.0_r_def")
    assert work.accesses == ("write", "read", "read")


def test_an_exchange_says_why() -> None:
    (exchange,) = SCHEDULE.walk(scripting.HaloExchange)
    assert (exchange.field, exchange.component, exchange.guarded) == ("g", None, True)
    (reason,) = exchange.reasons
    assert reason == (
        "work_type@loop2 reads it in halo cells to level 1; "
        "what ran before the invoke left its halo stale"
    )


def test_a_schedule_can_be_shown() -> None:
    assert SCHEDULE.view().startswith("invoke_test: ")
    assert SCHEDULE.dag().startswith('digraph "invoke_test"')
    assert PSY.view() == SCHEDULE.view()


def test_arguments_of_psyclone_are_accepted() -> None:
    (loop, *_), (exchange, *_) = SCHEDULE.loops(), SCHEDULE.walk(scripting.HaloExchange)
    for node in (PSY, SCHEDULE, loop, exchange):
        plain = node.view()
        assert node.view(0, False, "  ") == node.view(colour=False) == plain
        assert node.view(depth=2, indent="..").splitlines()[0] == f"....{plain.splitlines()[0]}"
        assert "\033[1m" in node.view(colour=True)
        assert re.sub(r"\033\[\d*m", "", node.view(colour=True)) == plain
    call = loop.walk(scripting.KernelCall)[0]
    assert loop.ancestor(ancestor_type=scripting.Schedule, excluding=None) == SCHEDULE
    assert call.ancestor(scripting.Node, excluding=scripting.Loop) == SCHEDULE
    assert loop.ancestor(scripting.Node, (scripting.Loop,), True) == SCHEDULE
    assert call.ancestor(scripting.Schedule, limit=loop) is None
    assert call.ancestor(scripting.Loop, limit=loop) == loop
    assert call.ancestor(scripting.Node, shared_with=exchange) == SCHEDULE
    assert SCHEDULE.walk(my_type=scripting.Loop, stop_type=None, depth=2) == SCHEDULE.loops()
    assert SCHEDULE.walk(scripting.Loop, depth=3) == []
    assert SCHEDULE.has_descendant(scripting.Loop)
    assert not exchange.has_descendant((scripting.Loop, scripting.Schedule))
    assert call.is_descendant_of(SCHEDULE)
    first, second = SCHEDULE.children[:2]
    assert second.preceding(False, True) == [first]
    assert first.following(same_routine_scope=True)[0] == second
    assert second.immediately_follows(node=first)
    assert first.immediately_precedes(node=second)


def test_views_change_nothing() -> None:
    with pytest.raises(AttributeError):
        SCHEDULE.name = "other"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        SCHEDULE.loops()[0].fresh = 1  # type: ignore[attr-defined]
