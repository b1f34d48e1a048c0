"""The race detector distinguishes chunks, and reports nothing for correct programs with threads.

`PSYCLONE_STORAGE_RUNS=3200` extends the random test to 10^6 operations.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import psyclone_storage.storage as gt
from psyclone_storage.storage.accessors import Buffer, GpuTask
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.chunks import ChunkLayout
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.core.errors import DataRaceError, PoisonedDataError
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.spaces import host_space, memory_space
from psyclone_storage.storage.core.token import AccessRequest
from psyclone_storage.storage.gdp.binding import LaunchBlock
from psyclone_storage.storage.memory import queues
from psyclone_storage.storage.memory.host import HostMemory
from psyclone_storage.storage.memory.races import RACES
from psyclone_storage.storage.memory.registry import memory_of
from storage_threads import PATIENCE, RUNS, THREADS, race

READ, RDWR, WRONLY = AccessMode.READ, AccessMode.READ_WRITE, AccessMode.WRITE_ONLY
PART = 16
SIZE = THREADS * PART
OPERATIONS = 40
"""Operations of each thread in one run of the random test."""


@pytest.fixture(autouse=True, params=["late", "eager", "shuffled"])
def order(request: pytest.FixtureRequest, _emulated: None) -> Iterator[str]:
    """Select emulated devices with the given execution order."""
    use_device("emulated", Emulation(order=request.param))
    yield request.param
    queues.finish_all()


def made(label: str = "a", **options: Any) -> CoherentBuffer:
    """Return a buffer with one chunk for each thread."""
    layout = ChunkLayout(tuple(range(0, SIZE + 1, PART)))
    return CoherentBuffer(SIZE, "f8", BufferOptions(label, chunks=layout, **options))


def region(chunk: int) -> tuple[int, int]:
    return chunk * PART, (chunk + 1) * PART


def span(chunk: int) -> tuple[int, int]:
    return 8 * chunk * PART, 8 * PART


def of(chunk: int) -> AccessRequest:
    return AccessRequest(region=region(chunk))


def memory(space: str) -> Any:
    return memory_of(memory_space(space))


def allocation(buffer: CoherentBuffer, space: str) -> Any:
    replica = buffer.replicas.find(memory_space(space))
    assert replica is not None
    return replica.allocation_there()


def test_a_copy_of_another_chunk_that_starts_after_the_wait_is_no_race(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One thread may start a copy after another thread has waited, before that thread writes."""
    buffer = made()
    with buffer.acquire("host", WRONLY) as token:
        token.array[...] = 1.0
    buffer.acquire("gpu", WRONLY, request=of(1)).release()
    settle, started = HostMemory.settle, []

    def settle_then_copy(*args: Any, **keywords: Any) -> None:
        settle(*args, **keywords)
        if not started:
            started.append(True)
            buffer.acquire("gpu", READ, request=of(0)).release()

    monkeypatch.setattr(HostMemory, "settle", settle_then_copy)
    with buffer.acquire("host", RDWR, request=of(7)) as token:
        token.array[slice(*region(7))] += 1.0
    assert started
    with buffer.acquire("host", request=of(7)) as token:
        assert set(token.array[slice(*region(7))]) == {2.0}


@pytest.mark.parametrize("order", ["late"], indirect=True)
@pytest.mark.usefixtures("order")
def test_the_detector_compares_the_bytes_of_host_uses() -> None:
    buffer = made()
    with buffer.acquire("host", WRONLY) as token:
        token.array[...] = 1.0
    buffer.acquire("gpu", READ, request=of(2)).release()
    pages = allocation(buffer, "host")
    RACES.host_uses(pages, writes=True, span=span(3))
    RACES.host_uses(pages, writes=True, span=(span(2)[0], 0))
    RACES.host_uses(pages, writes=False, span=span(2))
    for part in (span(2), (span(2)[0] - 8, 16), None):
        with pytest.raises(DataRaceError, match="in no order with"):
            RACES.host_uses(pages, writes=True, span=part)


@pytest.mark.parametrize("order", ["late"], indirect=True)
@pytest.mark.usefixtures("order")
def test_the_host_waits_for_copies_of_its_own_chunks_only() -> None:
    buffer = made()
    with buffer.acquire("host", WRONLY) as token:
        token.array[...] = 1.0
    buffer.acquire("gpu", READ, request=of(2)).release()
    pages = allocation(buffer, "host")
    for used in (of(3), AccessRequest(region=(5, 5))):
        with buffer.acquire("host", RDWR, request=used) as token:
            assert token.array.shape == (SIZE,)
        assert any(not use.event.known for use in pages.pending)
    with buffer.acquire("host", RDWR, request=of(2)):
        assert all(use.event.known for use in pages.pending)


@pytest.mark.parametrize("order", ["late"], indirect=True)
@pytest.mark.usefixtures("order")
def test_an_initial_value_of_one_chunk_keeps_the_notes_on_others() -> None:
    """Without the recorded uses, later work would overtake a copy of another chunk."""
    buffer = made(init=3.0)
    with buffer.acquire("host", WRONLY, request=of(1)) as token:
        token.array[slice(*region(1))] = 1.0
    buffer.acquire("gpu", READ, request=of(1)).release()
    there = allocation(buffer, "gpu")
    before = {use.span for use in there.pending}
    assert span(1) in before
    buffer.acquire("gpu", RDWR, request=of(0)).release()
    assert {use.span for use in there.pending} >= before | {span(0)}


@pytest.mark.parametrize("order", ["late"], indirect=True)
@pytest.mark.usefixtures("order")
def test_a_failure_is_found_while_another_chunk_is_being_written() -> None:
    buffer = made()
    with buffer.acquire("host", WRONLY) as token:
        token.array[...] = 1.0
    with buffer.acquire("gpu", RDWR, request=of(0)) as token, np.errstate(divide="raise"):
        array = token.array[slice(*region(0))]
        array /= 0.0
    memory("gpu").kernels.finish()
    buffer.acquire("gpu", READ, request=of(5)).release()
    with pytest.raises(PoisonedDataError):
        buffer.acquire("gpu", RDWR, request=of(0))


class Shared:
    """The storages that all threads use, and their expected values."""

    def __init__(self) -> None:
        self.parts = made("parts")
        self.field = gt.zeros((SIZE,), device="gpu", label="field")
        self.task = Buffer(np.zeros(SIZE), label="task")
        self.expected = [0.0] * THREADS
        self.added = [0.0] * THREADS
        self.tasks = [0.0] * THREADS
        with self.parts.acquire("host", WRONLY) as token:
            token.array[...] = 0.0

    def run(self, number: int, seed: str) -> None:
        chance = random.Random(f"{seed} {number}")
        works = (
            self.add_to_part, self.add_to_part, self.overwrite_part, self.read_all,
            self.prefetch, self.bind, self.access, self.launch, self.submit,
        )  # fmt: skip
        for _ in range(OPERATIONS):
            chance.choice(works)(number, chance)

    def add_to_part(self, number: int, chance: random.Random) -> None:
        space, mine = chance.choice(("host", "gpu", "gpu:1")), slice(*region(number))
        with self.parts.acquire(space, RDWR, request=of(number)) as token:
            array = token.array if chance.random() < 0.5 else token.kernel_array
            if space == "host" or isinstance(array, np.ndarray):
                assert set(array[mine].tolist()) == {self.expected[number]}
            array[mine] += 1.0
        self.expected[number] += 1.0

    def overwrite_part(self, number: int, chance: random.Random) -> None:
        space = chance.choice(("host", "gpu", "gpu:1"))
        with self.parts.acquire(space, WRONLY, request=of(number)) as token:
            token.array[slice(*region(number))] = value = float(chance.randrange(100))
        self.expected[number] = value

    def read_all(self, _: int, chance: random.Random) -> None:
        with self.parts.acquire(chance.choice(("host", "gpu"))) as token:
            array = token.array
            found = array if isinstance(array, np.ndarray) else array.get()
            assert all(len(set(part)) == 1 for part in found.reshape(THREADS, PART).tolist())

    def prefetch(self, number: int, chance: random.Random) -> None:
        part = chance.choice((region(number), region(chance.randrange(THREADS)), None))
        self.parts.prefetch(chance.choice(("host", "gpu", "gpu:1")), part)

    def bind(self, number: int, chance: random.Random) -> None:
        device = chance.choice((None, "gpu"))
        with gt.bound({"a": self.field}, device=device, writes=["a"]) as arrays:
            arrays["a"][...] += 1.0
        self.added[number] += 1.0

    def access(self, number: int, chance: random.Random) -> None:
        device, mode = chance.choice((None, "gpu")), chance.choice(("r", "rw"))
        with self.field.access(device, mode) as array:
            assert len(set(array.tolist())) == 1
            if mode == "rw":
                array[...] += 1.0
        self.added[number] += mode == "rw"

    def launch(self, number: int, _: random.Random) -> None:
        def work(array: Any) -> None:
            array += 1.0

        block = LaunchBlock({"a": self.field}, "gpu", ("a",))
        with block as arrays:
            block.start(partial(work, arrays["a"]), block.uses()[0])
        self.added[number] += 1.0

    def submit(self, number: int, _: random.Random) -> None:
        task = GpuTask("add").register(self.task, mode="rw")
        task.submit(lambda array: array.__iadd__(1.0)).result(PATIENCE)
        self.tasks[number] += 1.0

    def check(self) -> None:
        with self.parts.acquire(host_space()) as token:
            assert token.array[::PART].tolist() == self.expected
        assert set(self.field.to_numpy().tolist()) == {sum(self.added)}
        with self.task.acquire("host") as token:
            assert set(token.array.tolist()) == {sum(self.tasks)}


def test_random_operations_of_threads_race_with_nothing(order: str) -> None:
    for run in range(max(1, RUNS // 3)):
        shared = Shared()
        works = [partial(shared.run, number, f"{order} {run}") for number in range(THREADS)]
        assert race(works) == []
        shared.check()


@pytest.mark.parametrize("order", ["late"], indirect=True)
@pytest.mark.usefixtures("order")
def test_pages_of_a_chunk_race_with_a_copy_of_that_chunk_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    buffer = made()
    with buffer.acquire("host", WRONLY) as token:
        token.array[...] = 1.0
    buffer.make_valid("gpu")
    queues.finish_all()
    with buffer.acquire("host", RDWR, request=of(3)) as token:
        token.array[slice(*region(3))] = 2.0
    monkeypatch.setattr(type(memory("gpu")), "follow", lambda *_, **__: None)
    with buffer.acquire("gpu", RDWR, request=of(3)) as token:
        # Nothing but the copy of chunk 3 is pending; nothing waits for it.
        window = token.array
        for other in (2, 4):
            memory("gpu").kernel_view(window, True, span(other))
        with pytest.raises(DataRaceError, match="in no order with"):
            memory("gpu").kernel_view(window, True, span(3))
        monkeypatch.undo()
