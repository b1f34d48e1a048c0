"""Workbenches with small schedules on them, for the tests of steps."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from psyclone_storage.base.codes import CODES
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.ir.schedule import Extent, KernelCall
from psyclone_storage.transform.halos import with_halos
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.workbench import Workbench
from unit.analysis.small import RULES, schedule


def bench(*calls: KernelCall | tuple[KernelCall, Extent], **options: object) -> Workbench:
    """Return a workbench with the schedule of `calls`, as `small.schedule` builds it."""
    planned = with_halos(schedule(*calls, **options), RULES)  # type: ignore[arg-type]
    return Workbench(planned, RULES)


def codes(reasons: object) -> list[str]:
    return [reason.code for reason in reasons]  # type: ignore[attr-defined]


def refused(bench: Workbench, step: Step) -> list[str]:
    """Return the codes of all reasons against `step`, which must not change anything."""
    before = bench.schedule
    reasons = bench.check(step)
    with pytest.raises(CompileError) as caught:
        bench.apply(step)
    assert caught.value.problems == reasons
    assert bench.schedule is before
    assert all(reason.message.endswith(".") and reason.code in CODES for reason in reasons)
    return codes(reasons)


def message_of(action: Callable[[], object]) -> str:
    """Return the one message with which `action` fails."""
    with pytest.raises(CompileError) as caught:
        action()
    (problem,) = caught.value.problems
    return problem.message
