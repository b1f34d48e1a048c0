"""Tests of data that failed device work invalidates, and how the data become valid again."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.chunks import ChunkLayout
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.core.errors import PoisonedDataError, StorageError
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.token import AccessRequest
from psyclone_storage.storage.core.validity import Validity
from psyclone_storage.storage.memory import emulated, queues
from psyclone_storage.storage.memory.emulated import EmulatedDeviceMemory
from psyclone_storage.storage.memory.registry import memory_of

READ, RDWR, WRONLY = AccessMode.READ, AccessMode.READ_WRITE, AccessMode.WRITE_ONLY
SIZE = 64


@pytest.fixture(autouse=True, params=["late", "eager", "shuffled", "shuffled again"])
def order(request: pytest.FixtureRequest, _emulated: None) -> Iterator[str]:
    """Select emulated devices with the given execution order."""
    use_device("emulated", Emulation(order=request.param))
    yield request.param
    queues.finish_all()


def made(label: str = "a", **options: Any) -> CoherentBuffer:
    return CoherentBuffer(SIZE, "f8", BufferOptions(label, **options))


def set_on_host(buffer: CoherentBuffer, value: float) -> None:
    with buffer.acquire("host", WRONLY) as token:
        token.array[...] = value


def assert_host_sees(buffer: CoherentBuffer, value: float) -> None:
    with buffer.acquire("host") as token:
        assert set(token.array.tolist()) == {value}


def fail_on_device(array: Any) -> None:
    def work() -> None:
        raise ArithmeticError("of the kernel")

    memory = memory_of(array.space)
    assert isinstance(memory, EmulatedDeviceMemory)
    memory.launch("kernel", (array.use(wrote=True),), work)


def fail(*_: object, **__: object) -> None:
    raise OSError("the bus")


@pytest.mark.parametrize("bounds", [(0, SIZE), (0, SIZE // 2, SIZE)], ids=["one", "two chunks"])
@pytest.mark.parametrize("seen", [False, True], ids=["queued", "done before"])
def test_what_is_written_anew_is_good_again(bounds: tuple[int, ...], seen: bool) -> None:
    buffer = made(chunks=ChunkLayout(bounds))
    for fill in (fill_on_the_host, fill_the_halves, fill_every_other, fill_pages):
        set_on_host(buffer, 1.0)
        with buffer.acquire("gpu", RDWR) as token:
            fail_on_device(token.array)
        if seen:
            queues.finish_all()
        fill(buffer)
        for _ in range(2):
            with buffer.acquire("gpu", READ) as token:
                assert token.array.get().tolist() == [5.0] * SIZE
            assert_host_sees(buffer, 5.0)


def fill_on_the_host(buffer: CoherentBuffer) -> None:
    set_on_host(buffer, 5.0)


def fill_the_halves(buffer: CoherentBuffer) -> None:
    with buffer.acquire("gpu", WRONLY) as token:
        token.array[: SIZE // 2] = 5.0
        token.array[SIZE // 2 :] = 5.0


def fill_every_other(buffer: CoherentBuffer) -> None:
    with buffer.acquire("gpu", WRONLY) as token:
        token.array[::2] = 5.0
        token.array[1::2] = 5.0


def fill_pages(buffer: CoherentBuffer) -> None:
    with buffer.acquire("gpu", WRONLY) as token:
        token.kernel_array[...] = 5.0


def test_a_kernel_that_fails_spoils_the_bytes_that_it_was_to_write() -> None:
    buffer = made()
    set_on_host(buffer, 1.0)
    other = made("other")
    with buffer.acquire("gpu", RDWR) as token, other.acquire("gpu", WRONLY) as target:
        array = token.array
        fail_on_device(array[8:16])
        target.array[: SIZE - 16] = array[16:]
        target.array[SIZE - 16 :] = 1.0
        array[8:15:2] = 1.0
        for index in (np.array([9, 11]), np.arange(8, 16)):
            with pytest.raises(ArithmeticError, match="of the kernel"):
                array[index] = 1.0
        with pytest.raises(ArithmeticError, match="of the kernel"):
            array[15:].get()
        with pytest.raises(ArithmeticError, match="of the kernel"):
            _ = token.kernel_array
        assert array[16:].get().sum() == SIZE - 16
    assert_host_sees(other, 1.0)
    with pytest.raises(PoisonedDataError, match="of the kernel"):
        buffer.acquire("host", READ)


def test_only_the_chunk_that_did_not_arrive_is_brought_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    buffer = made(chunks=ChunkLayout((0, 8, SIZE)))
    with buffer.acquire("gpu", WRONLY) as token:
        token.array[...] = 2.0
    with buffer.acquire("host", request=AccessRequest((0, 8))):
        pass
    set_on_host_part(buffer, (0, 8), 3.0)
    with monkeypatch.context() as patched:
        patched.setattr(emulated.np, "copyto", fail)
        with pytest.raises(StorageError, match=r"The next access repeats.*the bus"):
            bring_late(buffer)
    with buffer.acquire("gpu", READ) as token:
        assert token.array.get().tolist() == [3.0] * 8 + [2.0] * (SIZE - 8)


def test_a_chunk_that_did_not_arrive_does_not_undo_a_write_of_another_chunk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    buffer = made(chunks=ChunkLayout((0, 8, SIZE)))
    set_on_host(buffer, 1.0)
    buffer.make_valid("gpu", (8, SIZE))
    queues.finish_all()
    written = threading.Event()
    writer = threading.Thread(target=lambda: write_the_rest(buffer, written))
    distrust, store = Validity.distrust, Validity._set
    distrusts: list[int] = []

    def note_and_distrust(self: Validity, bit: int, chunks: Iterable[int]) -> bool:
        distrusts.append(bit)
        return distrust(self, bit, chunks)

    def store_late(self: Validity, valid: list[int], touched: list[int]) -> None:
        """Let the other thread write after this thread has copied the masks."""
        if distrusts and writer.ident is None:
            writer.start()
            written.wait(0.5)
        store(self, valid, touched)

    with monkeypatch.context() as patched:
        patched.setattr(emulated.np, "copyto", fail)
        patched.setattr(Validity, "distrust", note_and_distrust)
        patched.setattr(Validity, "_set", store_late)
        with pytest.raises(StorageError, match=r"The next access repeats.*the bus"):
            bring_late(buffer, (0, 8))
        writer.join()
    with buffer.acquire("gpu", READ) as token:
        assert token.array.get().tolist() == [1.0] * 8 + [2.0] * (SIZE - 8)


def write_the_rest(buffer: CoherentBuffer, written: threading.Event) -> None:
    with buffer.acquire("host", WRONLY, Policy.WAIT, AccessRequest((8, SIZE))) as token:
        token.array[8:] = 2.0
    written.set()


def bring_late(buffer: CoherentBuffer, region: tuple[int, int] | None = None) -> None:
    buffer.make_valid("gpu", region)
    queues.finish_all()
    buffer.acquire("gpu", READ, request=AccessRequest(region))


def set_on_host_part(buffer: CoherentBuffer, region: tuple[int, int], value: float) -> None:
    with buffer.acquire("host", WRONLY, request=AccessRequest(region)) as token:
        token.array[slice(*region)] = value
