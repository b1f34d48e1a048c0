"""States of two memories follow the table of events, and the plan depends on the table."""

from __future__ import annotations

import pytest

from psyclone_storage.coherence import transfers
from psyclone_storage.coherence.tables import MEMORY, Holders, MemoryEvent
from psyclone_storage.coherence.transfers import MemoryCase, ReplicaStates, plan_transfers
from psyclone_storage.ir.transfer import Side
from theory.test_memory_rows import made_of, on

HERE, THERE, BOTH = Holders.HERE, Holders.THERE, Holders.BOTH
PLANNED = (MemoryEvent.READ, MemoryEvent.READ_WRITE)
MIRRORED = {HERE: THERE, THERE: HERE, BOTH: BOTH}


@pytest.mark.parametrize("event", PLANNED)
@pytest.mark.parametrize("holders", [HERE, THERE, BOTH])
def test_a_case_changes_as_the_table_says_on_either_side(
    event: MemoryEvent, holders: Holders
) -> None:
    assert MemoryCase(holders).after(event, Side.HOST).holders is MEMORY[event, holders].holders
    left = MEMORY[event, MIRRORED[holders]].holders
    assert left is not None
    assert MemoryCase(holders).after(event, Side.DEVICE).holders is MIRRORED[left]


@pytest.mark.parametrize("event", PLANNED)
@pytest.mark.parametrize("side", Side)
def test_without_a_replica_on_the_device_the_host_stays_right(
    event: MemoryEvent, side: Side
) -> None:
    absent = MemoryCase(HERE, present=False)
    assert absent.after(event, side) == absent


def test_a_write_on_the_device_leaves_the_host_right_only_if_there_is_no_replica() -> None:
    state = ReplicaStates().after(MemoryEvent.READ_WRITE, Side.DEVICE, "loop1")
    assert state.cases == {MemoryCase(HERE, present=False), MemoryCase(THERE)}
    assert state.is_right(Side.DEVICE)
    assert not state.is_right(Side.HOST)
    assert not state.entered().may_be_absent
    assert state.writer == "loop1"


def test_the_contract_at_entry_makes_the_device_right_and_leaves_the_host_unknown() -> None:
    entry = ReplicaStates()
    assert entry.is_right(Side.DEVICE)
    assert entry.may_be_absent
    assert not entry.is_right(Side.HOST)
    assert entry.after(MemoryEvent.READ, Side.HOST).is_right(Side.HOST)


@pytest.mark.parametrize("row", [(MemoryEvent.READ, THERE), (MemoryEvent.READ_WRITE, BOTH)])
def test_the_plan_follows_another_table(
    row: tuple[MemoryEvent, Holders], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that no rule of the solver's own hides a row that is wrong."""
    uses = [on(Side.HOST, True), on(Side.DEVICE, True), on(Side.HOST, False), on(Side.DEVICE, True)]
    schedule = made_of([*uses, on(Side.HOST, False), on(Side.DEVICE, False)])
    right = plan_transfers(schedule)
    others = []
    for holders in (HERE, THERE, BOTH):
        changed = {**MEMORY, row: MEMORY[row]._replace(holders=holders)}
        monkeypatch.setattr(transfers, "MEMORY", changed)
        others.append(plan_transfers(schedule) != right)
    assert sum(others) >= 1
