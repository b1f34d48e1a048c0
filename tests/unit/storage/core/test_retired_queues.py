"""Tests that the race detector removes finished queues from its clocks, and misses no race.

Its results for random work are compared with clocks that are never reduced.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.core.errors import DataRaceError
from psyclone_storage.storage.core.spaces import memory_space
from psyclone_storage.storage.memory import queues
from psyclone_storage.storage.memory.queues import DeviceQueue, QueueEvent
from psyclone_storage.storage.memory.races import (
    HOST,
    RACES,
    Mark,
    MemoryUse,
    Trail,
    WorkItem,
    traced,
)
from psyclone_storage.storage.memory.registry import memory_of

Clock = dict[int, int]


@pytest.fixture(autouse=True)
def _late(_emulated: None) -> Iterator[None]:
    use_device("emulated", Emulation(order="late"))
    yield
    queues.finish_all()


def allocation(nbytes: int = 64) -> Any:
    return memory_of(memory_space("gpu")).allocate(nbytes)


def use(of: Any, wrote: bool, first: int = 0, stop: int = 64) -> MemoryUse:
    return MemoryUse(of, of.pointer + first, of.pointer + stop, wrote)


def nothing() -> None:
    """Do no work."""


def run_through(count: int, kept: Any, following: DeviceQueue | None = None) -> float:
    """Create and drop queues that use the same memory one after the other; return the seconds.

    The queue `following`, if given, waits for each of them.
    """
    begin = time.thread_time()
    for number in range(count):
        queue = DeviceQueue("one of many", set())
        event = queue.put("kernel", (use(kept, wrote=number % 7 == 0),), nothing)
        queue.finish()
        if following is not None:
            following.wait_event(event)
            following.record()
    return time.thread_time() - begin


def test_ten_thousand_queues_leave_nothing() -> None:
    gc.collect()
    kept, following = allocation(), DeviceQueue("following", set())
    first = run_through(1000, kept, following)
    most = [len(RACES.agents) + 2, len(RACES.host) + 2, len(RACES.gone) + 2]
    run_through(8000, kept, following)
    last = run_through(1000, kept, following)
    sizes = [len(RACES.agents), len(RACES.host), len(RACES.gone)]
    assert all(size <= limit for size, limit in zip(sizes, most, strict=True)), (sizes, most)
    assert len(kept.trail._spans) <= 32
    assert last < 4 * first
    assert len(following.record().clock) <= most[1]


def test_memory_that_many_queues_read_stays_small() -> None:
    kept = allocation()
    alive = [DeviceQueue(f"reader {number}", set()) for number in range(100)]
    for queue in alive:
        queue.put("kernel", (use(kept, wrote=False),), nothing)
        queue.finish()
    assert len(kept.trail._spans) <= 32


def test_queues_that_had_no_work_leave_nothing_when_next_the_host_waits() -> None:
    gc.collect()
    run_through(1, allocation())
    before = len(RACES.agents)
    for number in range(50):
        DeviceQueue(f"idle {number}", set())
    run_through(1, allocation())
    assert len(RACES.agents) <= before + 1


def test_the_host_forgets_what_it_knows_to_be_done_where_it_uses_memory_itself() -> None:
    kept, queue = allocation(), DeviceQueue("one", set())
    queue.put("kernel", (use(kept, wrote=True),), nothing)
    queue.finish()
    assert len(kept.trail) == 1
    RACES.host_uses(kept, writes=True)
    assert len(kept.trail) == 0


@pytest.mark.parametrize("agents", [1, 500], ids=["of one queue", "of one queue each"])
def test_to_look_for_what_can_be_forgotten_takes_few_steps_for_each_use(agents: int) -> None:
    trail, looked_at = Trail(), []

    def is_known(piece: WorkItem) -> bool:
        looked_at.append(piece)
        return False

    for number in range(500):
        mark = Mark("", "", 8 * number, 8 * number + 8, wrote=False, whole=False)
        piece = WorkItem("kernel", "", 1 + number % agents, number, {}, (mark,), "")
        trail.add(piece, mark, is_known)
    assert 0 < len(looked_at) <= 2 * len(trail) == 1000


def test_a_queue_that_is_gone_before_its_work_is_known_keeps_its_place() -> None:
    kept = allocation()
    queue = DeviceQueue("lost", set())
    queue.put("kernel", (use(kept, wrote=True),), nothing)
    del queue
    gc.collect()
    run_through(3, allocation())
    other = DeviceQueue("other", set())
    with pytest.raises(DataRaceError, match="in lost"):
        other.put("kernel", (use(kept, wrote=True),), nothing)


def test_a_trace_knows_what_was_beside_what_of_queues_that_are_gone() -> None:
    one, other = allocation(), allocation()
    with traced() as trace:
        first, second = DeviceQueue("first", set()), DeviceQueue("second", set())
        first.put("kernel", (use(one, wrote=True),), nothing)
        second.put("copy", (use(other, wrote=True),), nothing)
        for queue in (first, second):
            queue.finish()
        del first, second, queue
        run_through(3, other)
        third = DeviceQueue("third", set())
        third.put("poison", (use(one, wrote=True),), nothing)
        third.finish()
    run_through(3, other)
    assert len(trace.beside("kernel", "copy")) == 1
    assert not trace.beside("kernel", "poison")
    assert not trace.beside("copy", "poison")


# -- against clocks that forget nothing ------------------------------------------------------------


class Used(NamedTuple):
    """A recorded use of a range of memory by an agent."""

    where: int
    first: int
    stop: int
    wrote: bool
    agent: int
    position: int


class FullClocks:
    """Vector clocks with an entry for every queue, and a list of all uses."""

    def __init__(self) -> None:
        self.host: Clock = {HOST: 0}
        self.queues: dict[int, Clock] = {}
        self.events: dict[int, Clock] = {}
        self.uses: list[Used] = []

    def is_race(self, clock: Clock, new: Used) -> bool:
        return any(
            old.agent != new.agent
            and old.where == new.where
            and old.first < new.stop
            and new.first < old.stop
            and (old.wrote or new.wrote)
            and clock.get(old.agent, 0) < old.position
            for old in self.uses
        )

    def clock_of(self, number: int) -> Clock:
        return joined(self.queues[number], self.host)


def joined(one: Clock, other: Clock) -> Clock:
    keys = {*one, *other}
    return {key: max(one.get(key, 0), other.get(key, 0)) for key in keys}


class Comparison:
    """Random work that the detector and the full clocks both evaluate."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.full = FullClocks()
        self.memory = [allocation() for _ in range(3)]
        self.alive: list[DeviceQueue] = []
        self.events: list[tuple[QueueEvent, Clock]] = []
        self.races = self.orders = 0
        for _ in range(3):
            self.make()

    def make(self) -> None:
        queue = DeviceQueue(f"queue {len(self.full.queues)}", set())
        self.alive.append(queue)
        self.full.queues[queue.number] = {}

    def put(self) -> None:
        rng, queue = self.rng, self.rng.choice(self.alive)
        where = rng.randrange(3)
        first = rng.randrange(0, 64, 16)
        stop, wrote = rng.randrange(first + 16, 65, 16), rng.random() < 0.5
        position = queue.issued + 1
        clock = self.full.clock_of(queue.number)
        new = Used(where, first, stop, wrote, queue.number, position)
        expected = self.full.is_race(clock, new)
        try:
            queue.put("kernel", (use(self.memory[where], wrote, first, stop),), nothing)
            found = False
        except DataRaceError:
            found = True
        assert found == expected
        self.races += found
        self.orders += not found
        if not found:
            self.full.uses.append(new)
            self.full.queues[queue.number] = joined(clock, {queue.number: position})

    def record(self) -> None:
        queue = self.rng.choice(self.alive)
        event = queue.record()
        clock = self.full.clock_of(queue.number)
        clock[queue.number] = max(clock.get(queue.number, 0), event.position)
        self.full.queues[queue.number] = clock
        self.events.append((event, clock))
        del self.events[:-6]

    def wait(self) -> None:
        if self.events:
            queue, (event, clock) = self.rng.choice(self.alive), self.rng.choice(self.events)
            if event.queue is not queue:
                queue.wait_event(event)
                self.full.queues[queue.number] = joined(self.full.queues[queue.number], clock)

    def synchronize(self) -> None:
        if self.events:
            event, clock = self.events.pop(self.rng.randrange(len(self.events)))
            event.synchronize()
            self.full.host = joined(self.full.host, clock)

    def use_on_host(self) -> None:
        where, wrote = self.rng.randrange(3), self.rng.random() < 0.5
        expected = self.full.is_race(self.full.host, Used(where, 0, 64, wrote, HOST, 0))
        try:
            RACES.host_uses(self.memory[where], writes=wrote)
            found = False
        except DataRaceError:
            found = True
        assert found == expected
        self.races += found

    def replace(self) -> None:
        """Replace a queue by a new one; its submitted work is finished or dropped."""
        queue = self.alive.pop(self.rng.randrange(len(self.alive)))
        if self.rng.random() < 0.8:
            queue.finish()
            self.full.host = joined(self.full.host, self.full.clock_of(queue.number))
        else:
            self.events = [known for known in self.events if known[0].queue is not queue]
            del queue
            gc.collect()  # its set contains its work, which refers to it
        self.make()


@pytest.mark.parametrize("seed", range(6))
def test_the_verdicts_are_those_of_clocks_that_forget_nothing(seed: int) -> None:
    both = Comparison(seed)
    steps = [both.put] * 6 + [both.record] * 3 + [both.wait] * 3 + [both.synchronize] * 2
    steps += [both.use_on_host] * 2 + [both.replace]
    edition = RACES.edition
    for _ in range(400):
        both.rng.choice(steps)()
    assert both.races > 20
    assert both.orders > 20
    assert RACES.edition > edition + 5
    mine = both.full.queues.keys()
    assert len(mine & RACES.host.keys()) < len(mine & both.full.host.keys())
