"""Each way in which a schedule can be broken, and that sound ones pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from psyclone_storage.ir.kernel import ReductionOp
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.schedule import (
    Extent,
    GlobalReduction,
    HaloExchange,
    Loop,
    LoopPart,
    MarkHalo,
    Phase,
    Reach,
    Schedule,
    Statement,
)
from psyclone_storage.ir.verify import check_schedule
from psyclone_storage.transform.halos import with_halos
from unit.analysis.small import RULES, cells, dofs, field, schedule

SOUND = with_halos(schedule(dofs("u write w3"), cells("a write w3", "u read w3 stencil 1")), RULES)
LOOP = next(item for item in SOUND.body if isinstance(item, Loop))


def exchange(uid: str, phase: Phase = Phase.WHOLE, component: int | None = None) -> HaloExchange:
    return HaloExchange(uid, "u", component, Depth.of(1), guarded=False, phase=phase, pinned=True)


def added(*items: Statement) -> Schedule:
    return replace(SOUND, body=(*SOUND.body, *items))


def looped(**changes: object) -> Schedule:
    broken = replace(LOOP, **changes)  # type: ignore[arg-type]
    return replace(SOUND, body=tuple(broken if item is LOOP else item for item in SOUND.body))


def codes(broken: Schedule) -> set[str]:
    return {problem.code for problem in check_schedule(broken)}


def test_a_sound_schedule_has_no_problems() -> None:
    assert check_schedule(SOUND) == ()


BROKEN: list[tuple[str, Callable[[], Schedule]]] = [
    ("V001", lambda: added(LOOP)),
    ("V002", lambda: replace(SOUND, data=(*SOUND.data, SOUND.data[0]))),
    ("V003", lambda: added(GlobalReduction("sum", "nobody", ReductionOp.SUM))),
    ("V003", lambda: replace(SOUND, data=SOUND.data[1:])),
    ("V004", lambda: added(exchange("x", component=1))),
    ("V005", lambda: looped(body=(replace(LOOP.body[0], args=()),))),  # type: ignore[type-var]
    ("V006", lambda: added(replace(exchange("x"), depth=NOTHING))),
    ("V007", lambda: added(MarkHalo("m", "u", None, dirty=False, clean=NOTHING))),
    ("V008", lambda: looped(body=())),
    ("V009", lambda: looped(extent=Extent(Reach.HALO))),
    ("V009", lambda: looped(extent=Extent(Reach.OWNED, Depth.of(1)))),
    ("V009", lambda: looped(extent=Extent(Reach.HALO_ONLY, Depth.of(1)))),
    ("V010", lambda: looped(bounds_from=7)),
    ("V019", lambda: looped(parts=(LoopPart("nowhere", 0), LoopPart("call2", 0)))),
    ("V011", lambda: looped(body=(replace(LOOP, uid="in", extent=Extent(Reach.ANNEXED)),))),
    ("V012", lambda: added(exchange("s", Phase.START), replace(LOOP, uid="loop9"))),
    ("V013", lambda: added(exchange("s", Phase.START))),
    ("V013", lambda: added(exchange("f", Phase.FINISH))),
    ("V013", lambda: added(exchange("s", Phase.START), exchange("t", Phase.START))),
    ("V014", lambda: replace(SOUND, distributed=False)),
]


@pytest.mark.parametrize(("code", "broken"), BROKEN)
def test_each_break_is_found(code: str, broken: Callable[[], Schedule]) -> None:
    assert code in codes(broken())


def test_a_split_exchange_that_finishes_is_sound() -> None:
    assert codes(added(exchange("s", Phase.START), exchange("f", Phase.FINISH))) == set()


def test_components_must_exist() -> None:
    vector = schedule(dofs(field("u write w3", component=2)), vectors={"u": 2})
    assert codes(vector) == set()
    shorter = replace(vector, data=tuple(replace(datum, vector=1) for datum in vector.data))
    assert codes(shorter) == {"V004"}


def test_writing_one_component_does_not_spoil_the_exchange_of_another() -> None:
    vector = schedule(dofs(field("u write w3", component=2)), vectors={"u": 2})
    start, finish = exchange("s", Phase.START, 1), exchange("f", Phase.FINISH, 1)
    assert codes(replace(vector, body=(start, *vector.body, finish))) == set()
    start, finish = exchange("s", Phase.START, 2), exchange("f", Phase.FINISH, 2)
    assert codes(replace(vector, body=(start, *vector.body, finish))) == {"V012"}
