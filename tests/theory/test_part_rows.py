"""Each row of `coherence.tables.PARTS` happens to the Fortran library, which can move parts."""

from __future__ import annotations

import pytest

from psyclone_storage.coherence.tables import PARTS, Holders, MemoryOutcome, PartEvent
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.interop.fortran import FortranOptions, FortranStorage
from psyclone_storage.storage.interop.fortran_functions import Box
from runtime.storage_fortran.conftest import Load, build, load  # noqa: F401

READ, WRITE, READ_WRITE = AccessMode.READ, AccessMode.WRITE_ONLY, AccessMode.READ_WRITE
MODES = {PartEvent.READ: READ, PartEvent.WRITE: WRITE, PartEvent.READ_WRITE: READ_WRITE}
PART: list[Box] = [[(2, 3)]]


def named(one: object) -> str:
    return getattr(one, "name", str(one))


def outcome(storage: FortranStorage, event: PartEvent, state: Holders, here: str) -> MemoryOutcome:
    """Return what really comes of an event, of a storage without values."""
    there = "gpu" if here == "host" else "host"
    if state is not Holders.NONE:
        first = there if state is Holders.THERE else here
        storage.acquire(first, WRITE)
        storage.release(first)
    if state is Holders.BOTH:
        storage.acquire(there, READ)
        storage.release(there)
    storage.reset_statistics()
    if event is PartEvent.EXCHANGE:
        storage.begin_exchange_of_parts(1, PART, PART, here)
        storage.end_exchange()
    else:
        storage.acquire_part(PART, here, MODES[event])
        storage.release(here)
    done = storage.statistics
    moved = done.to_device + done.to_host
    assert done.to_device_bytes + done.to_host_bytes == moved * 16
    valid = storage.is_valid(here), storage.is_valid(there)
    left = {
        (False, False): Holders.NONE,
        (True, False): Holders.HERE,
        (False, True): Holders.THERE,
        (True, True): Holders.BOTH,
    }[valid]
    return MemoryOutcome(left, moved)


@pytest.mark.fortran
@pytest.mark.parametrize("here", ["host", "gpu"])
@pytest.mark.parametrize(("event", "state"), list(PARTS), ids=named)
def test_the_library_in_fortran_follows_the_table(
    load: Load,  # noqa: F811
    event: PartEvent,
    state: Holders,
    here: str,
) -> None:
    with load("emulated").create((8,), "f8", FortranOptions("row", 2)) as storage:
        assert outcome(storage, event, state, here) == PARTS[event, state]


def test_the_table_is_whole() -> None:
    assert set(PARTS) == {(event, state) for event in PartEvent for state in Holders}
