"""Each row of `coherence.tables.MEMORY` holds for all components that track two memory spaces.

These are the transfer planner and its checker, tested through schedules, and the buffer of the
storage runtime and the Fortran library, tested through their APIs. A compiler has no write that
needs no old values, and releases no replica; only Python records the effect of a failed write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from psyclone_storage.coherence.check_devices import check_transfers
from psyclone_storage.coherence.scenarios import DeviceScenario
from psyclone_storage.coherence.tables import (
    MEMORY,
    PARTS,
    Holders,
    MemoryEvent,
    MemoryOutcome,
    PartEvent,
)
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.region import Depth
from psyclone_storage.ir.schedule import (
    DirectiveRegion,
    HaloExchange,
    KernelCall,
    Schedule,
    Statement,
)
from psyclone_storage.ir.transfer import EnterData, Side, Update
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.device import use_device
from psyclone_storage.storage.core.errors import PoisonedDataError, StorageError
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.stats import Direction
from psyclone_storage.storage.interop.fortran import FortranOptions, FortranStorage
from psyclone_storage.transform.transfers import with_transfers
from runtime.storage_fortran.conftest import Load, build, load  # noqa: F401
from unit.analysis.small import cells, schedule

NONE, HERE, THERE, BOTH = Holders.NONE, Holders.HERE, Holders.THERE, Holders.BOTH
READ, WRITE, READ_WRITE = AccessMode.READ, AccessMode.WRITE_ONLY, AccessMode.READ_WRITE
FAILED = {MemoryEvent.FAILED_WRITE: WRITE, MemoryEvent.FAILED_READ_WRITE: READ_WRITE}
MODES = {MemoryEvent.READ: READ, MemoryEvent.WRITE: WRITE, MemoryEvent.READ_WRITE: READ_WRITE}
MODES |= FAILED
ROWS = list(MEMORY)


def named(one: object) -> str:
    return getattr(one, "name", str(one))


def holders_of(*, here: bool, there: bool) -> Holders:
    return {(False, False): NONE, (True, False): HERE, (False, True): THERE, (True, True): BOTH}[
        here, there
    ]


# ---------------------------------------------------------------------------- schedules

LOOKS = cells("a readwrite w3", "u read w3")
CHANGES = cells("u readwrite w3")
Use = tuple[KernelCall, Side] | HaloExchange | Update


def on(side: Side, changes: bool) -> Use:
    return (CHANGES if changes else LOOKS), side


def prior(state: Holders, here: Side) -> list[Use]:
    """Return what leaves the current values where they are to be.

    At entry the host's copy may be old: a look at it has it made equal to the device's.
    """
    both = [on(Side.HOST, changes=False)]
    return (
        both if state is BOTH else [*both, on(here if state is HERE else here.other, changes=True)]
    )


def event_of(event: MemoryEvent, here: Side) -> Use | None:
    """Return what makes an event happen in a schedule; None if nothing does."""
    if event is MemoryEvent.EXCHANGE and here is Side.HOST:
        return HaloExchange("event", "u", None, Depth.of(1), guarded=False, pinned=True)
    if event in (MemoryEvent.READ, MemoryEvent.READ_WRITE):
        return on(here, event is MemoryEvent.READ_WRITE)
    return None


def made_of(uses: list[Use]) -> Schedule:
    bare = schedule(*(use[0] for use in uses if isinstance(use, tuple)))
    loops = iter(bare.body)
    body: list[Statement] = [EnterData("enter", tuple(datum.name for datum in bare.data))]
    for number, use in enumerate(uses):
        if not isinstance(use, tuple):
            body.append(use)
            continue
        loop = next(loops)
        region = DirectiveRegion(f"on{number}", Directive.ACC_KERNELS, (loop,), place=Side.DEVICE)
        body.append(loop if use[1] is Side.HOST else region)
    return replace(bare, body=tuple(body))


PLACED = [
    pytest.param(event, state, side, id=f"{event.name}-{state.name}-{side.value}")
    for event, state in ROWS
    for side in Side
    if state is not NONE and event_of(event, side) is not None
]


def stale_reads(uses: list[Use]) -> int:
    """Return how often the adversary says that the last of `uses` reads what is stale."""
    made = made_of(uses)
    everybody = frozenset(datum.name for datum in made.data)
    world = DeviceScenario(everybody, frozenset())
    whole, before = (
        [one for one in check_transfers(part, world) if one.uid != "end" and one.part.datum == "u"]
        for part in (made, replace(made, body=made.body[:-1]))
    )
    return len(whole) - len(before)


@pytest.mark.parametrize(("event", "state", "here"), PLACED)
def test_the_adversary_of_transfers_follows_the_table(
    event: MemoryEvent, state: Holders, here: Side
) -> None:
    expected = MEMORY[event, state]
    happening = event_of(event, here)
    assert happening is not None
    assert stale_reads([*prior(state, here), happening]) == expected.transfers
    update = [Update("moved", "u", None, here, guarded=False)] if expected.transfers else []
    left = [*prior(state, here), *update, happening]
    found = {side: stale_reads([*left, on(side, changes=False)]) == 0 for side in Side}
    assert holders_of(here=found[here], there=found[here.other]) is expected.holders


def updates(uses: list[Use], in_strips: bool) -> list[list[str]]:
    """Return the transfers of `u` that the planner places before each of `uses`."""
    result = with_transfers(made_of(uses), in_strips=in_strips)
    moved: list[list[str]] = [[]]
    for item in result.body:
        if isinstance(item, Update):
            moved[-1] += [item.to.value] if item.datum == "u" else []
        elif not isinstance(item, EnterData):
            if isinstance(item, HaloExchange) and item.fetched:
                moved[-1].append("host")
            moved.append([])
    return moved


@pytest.mark.parametrize("in_strips", [False, True])
@pytest.mark.parametrize(("event", "state", "here"), PLACED)
def test_the_planner_of_transfers_follows_the_table(
    event: MemoryEvent, state: Holders, here: Side, in_strips: bool
) -> None:
    """A device that has current values is sent the halo: an exchange takes nothing from it.

    Strips are parts; of what is brought as a whole before, the host has all.
    """
    expected = MEMORY[event, state]
    if event is MemoryEvent.EXCHANGE:
        of_parts = PARTS[PartEvent.EXCHANGE, state].holders
        both = state is THERE and not in_strips
        expected = expected._replace(holders=BOTH if both else of_parts)
    happening = event_of(event, here)
    assert happening is not None
    steps = [*prior(state, here), happening]
    assert updates(steps, in_strips)[len(steps) - 1] == [here.value] * expected.transfers
    found = {
        side: not updates([*steps, on(side, changes=False)], in_strips)[len(steps)] for side in Side
    }
    assert holders_of(here=found[here], there=found[here.other]) is expected.holders


# ---------------------------------------------------------------------------- the buffer in Python


@dataclass
class InPython:
    """A buffer, some of whose copies are current."""

    buffer: CoherentBuffer

    def use(self, space: str, mode: AccessMode, error: Exception | None = None) -> None:
        self.buffer.acquire(space, mode, Policy.RAISE).release(error)

    def happen(self, event: MemoryEvent, here: str) -> None:
        if event is MemoryEvent.TOUCH:
            self.buffer.touch(here)
        elif event is MemoryEvent.DROP:
            self.buffer.drop_replica(here)
        elif event is MemoryEvent.EXCHANGE:
            # A buffer has no halo: what it sees of an exchange is a read, and a write in the end.
            self.use(here, READ)
            self.use(here, READ_WRITE)
        else:
            self.use(here, MODES[event], RuntimeError("failed") if event in FAILED else None)

    @property
    def transfers(self) -> int:
        return sum(self.buffer.stats.of(way).count for way in Direction)

    def valid(self, space: str) -> bool:
        return self.buffer.is_valid(space)

    def usable(self) -> bool:
        """Say whether the values may be read wherever they are; of none, nothing is wrong."""
        try:
            self.use("host", READ)
        except PoisonedDataError:
            return False
        return True


@dataclass
class InFortran:
    """A storage of the library in Fortran."""

    storage: FortranStorage

    def use(self, space: str, mode: AccessMode) -> None:
        self.storage.acquire(space, mode)
        self.storage.release(space)

    def happen(self, event: MemoryEvent, here: str) -> None:
        if event is MemoryEvent.TOUCH:
            self.storage.touch(here)
        elif event is MemoryEvent.DROP:
            self.storage.leave_device()
        elif event is MemoryEvent.EXCHANGE:
            self.storage.begin_exchange(1, here)
            self.storage.end_exchange()
        else:
            self.use(here, MODES[event])

    @property
    def transfers(self) -> int:
        done = self.storage.statistics
        return done.to_device + done.to_host

    def valid(self, space: str) -> bool:
        return self.storage.is_valid(space)

    def usable(self) -> bool:
        return True


def outcome(
    subject: InPython | InFortran, row: tuple[MemoryEvent, Holders], here: str
) -> MemoryOutcome:
    """Return what really comes of an event, of a subject without values."""
    event, state = row
    there = "gpu" if here == "host" else "host"
    if state is not NONE:
        subject.use(there if state is THERE else here, WRITE)
    if state is BOTH:
        subject.use(there, READ)
    moved = subject.transfers
    try:
        subject.happen(event, here)
    except StorageError:
        return MemoryOutcome(None)
    moved = subject.transfers - moved
    left = holders_of(here=subject.valid(here), there=subject.valid(there))
    return MemoryOutcome(left, moved, subject.usable())


@pytest.fixture
def device() -> None:
    use_device("emulated")


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("here", ["host", "gpu"])
@pytest.mark.parametrize(("event", "state"), ROWS, ids=named)
def test_the_buffer_in_python_follows_the_table(
    event: MemoryEvent, state: Holders, here: str
) -> None:
    subject = InPython(CoherentBuffer(8, "f8"))
    assert outcome(subject, (event, state), here) == MEMORY[event, state]


# ---------------------------------------------------------------------------- the Fortran library

# The library knows no failed writes, and gives up what it has on a device only.
IN_FORTRAN = [
    pytest.param(event, state, here, id=f"{event.name}-{state.name}-{here}")
    for event, state in ROWS
    for here in ("host", "gpu")
    if event not in FAILED and (event, here) != (MemoryEvent.DROP, "host")
]


@pytest.mark.fortran
@pytest.mark.parametrize(("event", "state", "here"), IN_FORTRAN)
def test_the_library_in_fortran_follows_the_table(
    load: Load,  # noqa: F811
    event: MemoryEvent,
    state: Holders,
    here: str,
) -> None:
    made = load("emulated").create((8,), "f8", FortranOptions("row", 2, False))
    try:
        assert outcome(InFortran(made), (event, state), here) == MEMORY[event, state]
    finally:
        made.abandon()
        made.close()


# ---------------------------------------------------------------------------- the table


def test_the_table_is_whole() -> None:
    assert set(MEMORY) == {(event, state) for event in MemoryEvent for state in Holders}


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("change", ["holders", "transfers", "usable"])
@pytest.mark.parametrize(("event", "state"), ROWS, ids=named)
def test_were_a_row_different_it_would_not_be_followed(
    event: MemoryEvent, state: Holders, change: str
) -> None:
    row = MEMORY[event, state]
    others: dict[str, Callable[[], list[MemoryOutcome]]] = {
        "holders": lambda: [row._replace(holders=one) for one in (*Holders, None)],
        "transfers": lambda: [row._replace(transfers=count) for count in range(3)],
        "usable": lambda: [row._replace(usable=not row.usable)],
    }
    found = outcome(InPython(CoherentBuffer(8, "f8")), (event, state), "gpu")
    assert all(found != other for other in others[change]() if other != row)
