"""Tests that small copies within this process are executed immediately, with the same results."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import psyclone_storage.storage as gt
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.core.errors import AccessConflictError, ConstBufferError
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.native import COMPILED
from psyclone_storage.storage.core.spaces import device_space, memory_space
from psyclone_storage.storage.core.stats import GLOBAL_STATS, Direction, TransferEvent
from psyclone_storage.storage.memory.queues import finish_all
from psyclone_storage.storage.memory.registry import host_memory, memory_of
from storage_threads import PATIENCE, RUNS, THREADS, race

pytestmark = pytest.mark.usefixtures("_emulated")

SIZES = [1, 7, 1 << 10, 1 << 17, (1 << 17) + 1]


def on_both_sides(size: int = 16) -> CoherentBuffer:
    buffer = CoherentBuffer(size, "f8")
    with buffer.acquire("host", AccessMode.WRITE_ONLY) as token:
        token.array[...] = np.arange(size)
    bring(buffer, "gpu")
    return buffer


def bring(buffer: CoherentBuffer, space: str) -> None:
    """Make a memory space valid with the call that may use the fast path."""
    buffer.make_valid(memory_space(space))


def write(buffer: CoherentBuffer, space: str, value: float) -> None:
    with buffer.acquire(space, AccessMode.WRITE_ONLY) as token:
        token.kernel_array[...] = value


def values(buffer: CoherentBuffer) -> set[float]:
    with buffer.acquire("host") as token:
        return set(np.unique(token.array).tolist())


@pytest.mark.parametrize("size", SIZES)
def test_values_go_there_and_back_and_are_counted(size: int) -> None:
    buffer = on_both_sides(size)
    before = GLOBAL_STATS.of(Direction.DEVICE_TO_HOST)
    write(buffer, "gpu", 3.0)
    bring(buffer, "host")
    assert values(buffer) == {3.0}
    write(buffer, "host", 4.0)
    bring(buffer, "gpu")
    write(buffer, "gpu", 5.0)
    bring(buffer, "host")
    assert values(buffer) == {5.0}
    there, back = (
        buffer.stats.of(way) for way in (Direction.HOST_TO_DEVICE, Direction.DEVICE_TO_HOST)
    )
    assert (there.count, there.nbytes) == (2, 16 * size)
    assert (back.count, back.nbytes) == (2, 16 * size)
    assert back.seconds > 0.0
    after = GLOBAL_STATS.of(Direction.DEVICE_TO_HOST)
    assert (after.count - before.count, after.nbytes - before.nbytes) == (2, 16 * size)
    assert buffer.is_valid("gpu")
    assert buffer.point_of_truth() == (device_space(),)
    buffer.stats.reset()
    assert (buffer.stats.count, buffer.stats.nbytes) == (0, 0)


def test_nothing_is_copied_that_is_there_or_has_no_values() -> None:
    buffer = on_both_sides()
    bring(buffer, "gpu")
    assert buffer.stats.count == 1
    empty = CoherentBuffer(16, "f8")
    empty.allocate(["host", "gpu"])
    bring(empty, "gpu")
    assert empty.stats.count == 0
    none = CoherentBuffer(0, "f8")
    none.allocate(["host", "gpu"])
    none.touch("gpu")
    bring(none, "host")
    assert none.stats.count == 0


def test_who_asked_is_told_of_each() -> None:
    buffer, told, all_told = on_both_sides(), list[TransferEvent](), list[TransferEvent]()
    ends = [buffer.stats.add_callback(told.append), GLOBAL_STATS.add_callback(all_told.append)]
    write(buffer, "gpu", 1.0)
    bring(buffer, "host")
    ends[0]()
    write(buffer, "host", 1.0)
    bring(buffer, "gpu")
    ends[1]()
    assert [event.direction for event in told] == [Direction.DEVICE_TO_HOST]
    assert len(all_told) == 2


def test_who_writes_is_waited_for() -> None:
    buffer = on_both_sides()
    token = buffer.acquire("gpu", AccessMode.READ_WRITE)
    with pytest.raises(AccessConflictError, match="read access"):
        bring(buffer, "host")
    done = threading.Event()

    def wait() -> None:
        bring(buffer, "host")
        done.set()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    token.kernel_array[...] = 9.0
    assert not done.is_set()
    token.release()
    assert done.wait(PATIENCE)
    assert values(buffer) == {9.0}


def test_read_only_memory_takes_no_values() -> None:
    pages = np.zeros(16)
    pages.flags.writeable = False
    buffer = CoherentBuffer(16, "f8")
    buffer.adopt(host_memory().adopt(pages)[0])
    bring(buffer, "gpu")
    buffer.assume_valid(["gpu"])
    with pytest.raises(ConstBufferError):
        bring(buffer, "host")


def test_memory_that_was_given_up_is_not_copied_to() -> None:
    buffer = on_both_sides()
    buffer.drop_replica("gpu")
    bring(buffer, "gpu")
    assert buffer.stats.count == 2
    buffer.resize(4096)
    write(buffer, "host", 2.0)
    bring(buffer, "gpu")
    buffer.assume_valid(["gpu"])
    assert values(buffer) == {2.0}


def test_a_copy_takes_the_time_that_is_asked() -> None:
    use_device("emulated", Emulation(latency=0.02))
    buffer = on_both_sides()
    write(buffer, "gpu", 1.0)
    bring(buffer, "host")
    assert buffer.stats.of(Direction.DEVICE_TO_HOST).seconds >= 0.02


def test_a_copy_comes_after_what_the_device_still_does() -> None:
    use_device("emulated", Emulation(order=""))
    buffer = on_both_sides()
    with buffer.acquire("gpu", AccessMode.READ_WRITE) as token:
        token.array[...] = 8.0
    memory = memory_of(device_space())
    assert memory.jobs
    bring(buffer, "host")
    assert values(buffer) == {8.0}
    assert not memory.jobs


def test_copies_are_short_again_once_the_device_is_at_rest() -> None:
    """Completed device work does not prevent the fast path, even if nothing has waited for it."""
    use_device("emulated", Emulation(order=""))
    fields = [gt.ones((8,), device="gpu") for _ in range(3)]
    memory = memory_of(device_space())
    for field in fields:
        field.host_to_device()
    assert memory.jobs
    finish_all()
    for field in fields:
        field.set_host_modified()
        assert not field.buffer.table.attention
        field.host_to_device()
        assert not COMPILED or not memory.jobs
        assert field.is_current("gpu")


def test_wishes_and_chunks_are_heard() -> None:
    wishing = CoherentBuffer(16, "f8", BufferOptions(hints=Hints(read_mostly=True)))
    write(wishing, "host", 1.0)
    bring(wishing, "gpu")
    write(wishing, "host", 2.0)
    wishing.wait()
    assert wishing.is_valid("gpu")
    cut = gt.zeros((8, 4), device="gpu", chunks=4)
    cut[...] = 1.0
    cut.host_to_device()
    assert cut.buffer.stats.count == 4


@pytest.mark.parametrize("run", range(RUNS))
def test_threads_that_copy_both_ways_lose_nothing(run: int) -> None:
    buffer = on_both_sides()
    write(buffer, "host", 0.0)

    def add() -> None:
        for turn in range(10):
            side = "gpu" if (turn + run) % 2 else "host"
            with buffer.acquire(side, AccessMode.READ_WRITE, Policy.WAIT) as token:
                token.kernel_array[...] += 1.0
            bring(buffer, "host" if side == "gpu" else "gpu")

    assert race([add] * THREADS) == []
    assert values(buffer) == {10.0 * THREADS}
