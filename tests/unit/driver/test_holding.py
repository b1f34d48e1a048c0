"""What invokes ask of storages is executed against the adversary where that is asked for."""

from __future__ import annotations

import pytest

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import replace
from psyclone_storage.driver import holding
from psyclone_storage.ir.holding import AcquireData, HoldingPlan, PlacedAction, TouchData
from unit.backend.native.test_loops import built

PLAN = holding.plan_holding


def broken(schedule: object, *others: object) -> HoldingPlan:
    """Return a plan that brings nothing for what is written."""
    found = PLAN(schedule, *others)  # type: ignore[arg-type]
    return HoldingPlan(
        tuple(
            PlacedAction(place, replace(action, covered=Fresh.YES))
            if isinstance(action, AcquireData) and action.writes
            else PlacedAction(place, action)
            for place, action in found.placed
        )
    )


def silent(schedule: object, *others: object) -> HoldingPlan:
    """Return a plan that tells no storage what was written."""
    found = PLAN(schedule, *others)  # type: ignore[arg-type]
    return HoldingPlan(tuple(one for one in found.placed if not isinstance(one.action, TouchData)))


@pytest.mark.parametrize(("plan", "said"), [(broken, "stale"), (silent, "taken for current")])
def test_a_plan_that_is_wrong_is_found(
    monkeypatch: pytest.MonkeyPatch, plan: object, said: str
) -> None:
    built(checks=True)
    monkeypatch.setattr(holding, "plan_holding", plan)
    built(checks=False)
    with pytest.raises(InternalError, match=said):
        built(checks=True)
