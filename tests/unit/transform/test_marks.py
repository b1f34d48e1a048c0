"""Only dead updates of halo flags are eliminated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from psyclone_storage.ir.expr import Name
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.region import NOTHING, WHOLE, Depth
from psyclone_storage.ir.schedule import Datum, HaloExchange, MarkHalo, Phase, Schedule
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.transform.marks import eliminate_dead_halo_flags

Item = MarkHalo | HaloExchange
DATA = tuple(
    Datum(name, Name(name), DerivedType("field_type"), kind=ArgKind.FIELD) for name in "uv"
)
N = Depth.value(Name("n"))


def dirty(datum: str = "u", clean: Depth = NOTHING) -> MarkHalo:
    return MarkHalo("", datum, None, True, clean)


def clean(depth: Depth) -> MarkHalo:
    return MarkHalo("", "u", None, False, depth)


def exchange(depth: Depth, datum: str = "u", **more: Any) -> HaloExchange:
    return replace(HaloExchange("", datum, None, depth, guarded=False), **more)


def asked(depth: Depth, datum: str = "u") -> HaloExchange:
    return exchange(depth, datum, guarded=True)


ONE, TWO = Depth.of(1), Depth.of(2)
START, FINISH = exchange(ONE, phase=Phase.START), exchange(ONE, phase=Phase.FINISH)
ONCE = (dirty(), asked(ONE))
ALL_NEEDED: dict[str, tuple[Item, ...]] = {
    "what comes after the schedule asks": (exchange(ONE), dirty()),
    "deeper levels may have been clean at entry": (dirty(), exchange(ONE)),
    "the field may have more levels than the whole halo": (dirty(), exchange(WHOLE)),
    "the second exchange is less deep": (dirty(), asked(TWO), dirty(), exchange(ONE)),
    "the second exchange may be less deep": (*ONCE, exchange(N), dirty(), exchange(TWO)),
    "a guard asks": (*ONCE, dirty(), asked(ONE), exchange(ONE)),
    "it is asked under another name": (*ONCE, dirty(), asked(ONE, "v"), exchange(ONE)),
    "a joint exchange asks": (*ONCE, dirty(), exchange(ONE, joint=("a", "b"))),
    "only the start of an exchange follows": (*ONCE, dirty(), START),
    "what is clean spares an exchange": (dirty(clean=ONE), asked(ONE)),
}
IN_VAIN: dict[str, tuple[tuple[Item, ...], tuple[int, ...]]] = {
    "an exchange to the same depth": ((*ONCE, dirty(), exchange(ONE)), (2,)),
    "a deeper exchange": ((*ONCE, dirty(), exchange(TWO)), (2,)),
    "the same depth, whatever it is": ((dirty(), asked(N), dirty(), exchange(N)), (2,)),
    "an exchange that was started": ((*ONCE, dirty(), START, FINISH), (2,)),
    "another mark": ((clean(ONE), dirty()), (0,)),
    "one after the other": ((dirty(), dirty(), dirty()), (0, 1)),
    "whatever others do": ((dirty(), dirty("v"), asked(ONE, "v"), dirty()), (0,)),
}


def schedule(*items: Item, alias: bool = False) -> Schedule:
    data = [replace(one, may_alias=("uv".strip(one.name),)) if alias else one for one in DATA]
    body = tuple(replace(item, uid=f"item{number}") for number, item in enumerate(items))
    return Schedule("invoke_0", tuple(data), body, distributed=True, annexed_clean=False)


@pytest.mark.parametrize("why", ALL_NEEDED)
def test_a_mark_stays_if_someone_hears_it(why: str) -> None:
    before = schedule(*ALL_NEEDED[why], alias="another name" in why)
    assert eliminate_dead_halo_flags(before) == before


@pytest.mark.parametrize("overtaken_by", IN_VAIN)
def test_a_mark_goes_if_the_flags_come_to_the_same(overtaken_by: str) -> None:
    items, vain = IN_VAIN[overtaken_by]
    before = schedule(*items)
    left = tuple(item for place, item in enumerate(before.body) if place not in vain)
    assert eliminate_dead_halo_flags(before) == replace(before, body=left)


def test_only_the_part_goes_that_nobody_hears() -> None:
    before = schedule(dirty(clean=ONE), exchange(TWO))
    first, second = before.body
    after = eliminate_dead_halo_flags(before)
    assert after.body == (replace(first, clean=NOTHING), second)
