"""Tests that GPU operations wait where necessary, and only there.

The stand-in for CuPy uses the happens-before relation (`cupy_stand_in.races`): a missing wait is an
error on every machine, whatever the execution order. Each wait of the code is omitted here, to
verify that it is detected.
"""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import psyclone_storage.storage as gt
from cupy_stand_in.races import RaceError, Trace, watched
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.spaces import memory_space
from psyclone_storage.storage.hmemo import Context, HArray, WriteOnlyAccess
from psyclone_storage.storage.memory import cuda, device_driver
from psyclone_storage.storage.memory.host import HostMemory
from psyclone_storage.storage.memory.registry import memory_of
from storage_devices import device_in_place

READ, RDWR, WRONLY = AccessMode.READ, AccessMode.READ_WRITE, AccessMode.WRITE_ONLY
SIZE = 1 << 10

Scenario = Callable[[Trace], None]

# ruff: noqa: ARG001 - a scenario may have no use of its host


@pytest.fixture(autouse=True)
def trace(_emulated: None) -> Iterator[Trace]:
    """Record the memory uses of a test and report races."""
    with device_in_place("stand-in"), watched() as found:
        yield found


def made(label: str = "a") -> CoherentBuffer:
    """Return a buffer without values whose host replica is page-locked."""
    return CoherentBuffer(SIZE, "f8", BufferOptions(label, hints=Hints(pinned=True)))


def on_host(trace: Trace, buffer: CoherentBuffer, mode: AccessMode, value: float = 0.0) -> Any:
    """Use a buffer on the host: set all elements, or return a copy of them."""
    with buffer.acquire("host", mode) as token:
        array = token.array
        trace.host_uses(token.pointer, buffer.nbytes, wrote=mode.writes)
        if mode.writes:
            array[...] = value
        return array.copy()


def on_device(
    buffer: CoherentBuffer, stream: Any, mode: AccessMode, value: float = 1.0, space: str = "gpu"
) -> Any:
    """Use a buffer in a stream of a device: add to all elements, or return their sum."""
    with buffer.acquire(space, mode) as token, stream:
        array = token.array
        result = array.sum() if mode is READ else None
        if mode.writes:
            array[...] = value if mode is WRONLY else array + value
        token.release()
    return result


def stream(device: int = 0) -> Any:
    """Return a non-blocking stream."""
    cp = sys.modules["cupy"]
    with cp.cuda.Device(device):
        return cp.cuda.Stream(non_blocking=True)


# -- what the code waits for -----------------------------------------------------------------------


def a_kernel_after_the_copy_that_feeds_it(trace: Trace) -> None:
    buffer = made()
    on_host(trace, buffer, WRONLY, 2.0)
    on_device(buffer, stream(), RDWR)


def a_copy_after_the_kernel_that_wrote(trace: Trace) -> None:
    buffer = made()
    on_device(buffer, stream(), WRONLY)
    on_host(trace, buffer, READ)


def a_kernel_after_one_in_another_stream(trace: Trace) -> None:
    buffer = made()
    on_device(buffer, stream(), WRONLY)
    on_device(buffer, stream(), RDWR)


def the_host_after_an_access_that_was_dropped(trace: Trace) -> None:
    buffer = made()
    token = WriteOnlyAccess(HArray.over(buffer), Context.get(Context.CUDA))
    with stream():
        token.get()[...] = 1.0
        del token
        gc.collect()
    on_host(trace, buffer, READ)


def a_writer_after_a_reader(trace: Trace) -> None:
    buffer = made()
    on_device(buffer, stream(), WRONLY)
    on_device(buffer, stream(), READ)
    on_device(buffer, stream(), WRONLY)


def the_host_after_a_copy_from_what_it_overwrites(trace: Trace) -> None:
    buffer = made()
    on_host(trace, buffer, WRONLY, 2.0)
    buffer.make_valid("gpu")
    on_host(trace, buffer, WRONLY, 3.0)


def the_host_after_a_copy_that_it_asked_for(trace: Trace) -> None:
    device, host = memory_of(memory_space("gpu")), memory_of(memory_space("pinned"))
    source, target = device.allocate(64), host.allocate(64)
    device.memcpy_to(target, source, (0, 64))
    trace.host_uses(target.pointer, 64, wrote=False)


def a_copy_after_a_kernel_that_nobody_noted(trace: Trace) -> None:
    field = gt.ones((SIZE,), device="gpu")
    array = field.to_cupy()
    with field.access(None, "w") as values:
        values[...] = 3.0
    with stream():
        array.sum()
        field.make_valid("gpu")


def a_copy_between_devices_after_a_kernel_that_nobody_noted(trace: Trace) -> None:
    cp = sys.modules["cupy"]
    field = gt.ones((SIZE,), device="gpu")
    array = field.to_cupy()
    with cp.cuda.Device(0), stream():
        array[...] = array + 1.0
        field.buffer.make_valid("gpu:1")


def an_array_of_the_host_that_was_handed_out_is_written(trace: Trace) -> None:
    field = gt.ones((SIZE,), device="gpu")
    array = field.to_numpy()
    field.make_valid("gpu")
    trace.host_uses(array.__array_interface__["data"][0], array.nbytes, wrote=True)


def memory_that_a_copy_still_fills_is_freed(trace: Trace) -> None:
    buffer = made()
    on_host(trace, buffer, WRONLY, 2.0)
    buffer.acquire("gpu", WRONLY).release()
    on_host(trace, buffer, WRONLY, 3.0)
    with stream():
        buffer.make_valid("gpu")
    buffer.drop_replica("gpu")
    gc.collect()
    on_device(made(), stream(), WRONLY)


def memory_that_a_kernel_still_reads_is_freed(trace: Trace) -> None:
    buffer = made()
    on_device(buffer, stream(), WRONLY)
    del buffer
    gc.collect()
    on_device(made(), stream(), WRONLY)


def memory_is_filled_that_its_stream_still_has_from_before(trace: Trace) -> None:
    cp = sys.modules["cupy"]
    cp.ones((SIZE,))
    gc.collect()
    buffer = made()
    on_host(trace, buffer, WRONLY, 2.0)
    buffer.make_valid("gpu")
    assert on_device(buffer, stream(), READ) is not None


SCENARIOS: list[Scenario] = [
    a_kernel_after_the_copy_that_feeds_it,
    a_copy_after_the_kernel_that_wrote,
    a_kernel_after_one_in_another_stream,
    the_host_after_an_access_that_was_dropped,
    a_writer_after_a_reader,
    the_host_after_a_copy_from_what_it_overwrites,
    the_host_after_a_copy_that_it_asked_for,
    a_copy_after_a_kernel_that_nobody_noted,
    a_copy_between_devices_after_a_kernel_that_nobody_noted,
    an_array_of_the_host_that_was_handed_out_is_written,
    memory_that_a_copy_still_fills_is_freed,
    memory_that_a_kernel_still_reads_is_freed,
    memory_is_filled_that_its_stream_still_has_from_before,
]


def nothing(*_: object, **__: object) -> None:
    """Do not wait."""


def unnoted(allocation: Any, use: Any) -> None:
    """Do not record a use of memory."""


def readers_alone(queue: Any, allocation: Any, _: bool, span: Any) -> None:
    """Omit the wait of a write for earlier reads."""
    WAIT_IN(queue, allocation, writes=False, span=span)


WAIT_IN = device_driver.wait_in

WAITS: list[tuple[Any, str, Any, Scenario]] = [
    (cuda.GpuAllocator, "follow", nothing, a_kernel_after_the_copy_that_feeds_it),
    (cuda.GpuAllocator, "follow", nothing, a_kernel_after_one_in_another_stream),
    (device_driver, "wait_in", nothing, a_copy_after_the_kernel_that_wrote),
    (device_driver, "wait_in", readers_alone, a_writer_after_a_reader),
    (device_driver, "note", unnoted, a_copy_after_the_kernel_that_wrote),
    (cuda.GpuAllocator, "note_use", nothing, the_host_after_an_access_that_was_dropped),
    (CoherentBuffer, "_note_use", nothing, the_host_after_an_access_that_was_dropped),
    (cuda.GpuAllocator, "note_use", nothing, a_kernel_after_one_in_another_stream),
    (
        device_driver.DeviceMemory,
        "note_use",
        nothing,
        memory_is_filled_that_its_stream_still_has_from_before,
    ),
    (HostMemory, "settle", nothing, the_host_after_a_copy_from_what_it_overwrites),
    (device_driver, "finish_copy", nothing, the_host_after_a_copy_that_it_asked_for),
    (device_driver, "finish_copy", nothing, an_array_of_the_host_that_was_handed_out_is_written),
    (device_driver, "wait_for_untracked", nothing, a_copy_after_a_kernel_that_nobody_noted),
    (
        device_driver,
        "wait_for_untracked",
        nothing,
        a_copy_between_devices_after_a_kernel_that_nobody_noted,
    ),
    (cuda._OwnStreams, "keep", nothing, memory_that_a_copy_still_fills_is_freed),
    (cuda._OwnStreams, "keep", nothing, memory_that_a_kernel_still_reads_is_freed),
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda found: found.__name__)
def test_what_the_runtime_does_is_in_order(trace: Trace, scenario: Scenario) -> None:
    scenario(trace)
    assert trace.pieces


@pytest.mark.parametrize("left_out", WAITS, ids=lambda left: f"{left[1]}-{left[3].__name__}")
def test_a_wait_that_is_left_out_is_found(
    monkeypatch: pytest.MonkeyPatch, trace: Trace, left_out: tuple[Any, str, Any, Scenario]
) -> None:
    owner, name, instead, scenario = left_out
    monkeypatch.setattr(owner, name, instead)
    with pytest.raises(RaceError):
        scenario(trace)


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_done_is_in_order_and_right(trace: Trace, seed: int) -> None:
    rng = random.Random(seed)
    streams = [stream(), stream(), stream(1)]
    buffers = [made(label) for label in "abc"]
    values = [0.0] * len(buffers)
    for buffer in buffers:
        on_host(trace, buffer, WRONLY)
    for _ in range(30):
        which = rng.randrange(len(buffers))
        buffer, step = buffers[which], rng.randrange(6)
        device = rng.randrange(2)
        if step == 0:
            assert (on_host(trace, buffer, READ) == values[which]).all()
        elif step == 1:
            values[which] = float(rng.randrange(100))
            on_host(trace, buffer, WRONLY, values[which])
        elif step == 2:
            buffer.prefetch(f"gpu:{device}")
        else:
            chosen = streams[2] if device else rng.choice(streams[:2])
            cp = sys.modules["cupy"]
            with cp.cuda.Device(device):
                mode = rng.choice((READ, RDWR))
                on_device(buffer, chosen, mode, 1.0, f"gpu:{device}")
            values[which] += mode is RDWR
    for buffer, value in zip(buffers, values, strict=True):
        assert (on_host(trace, buffer, READ) == value).all()


# -- and what it does not wait for -----------------------------------------------------------------


def test_a_copy_goes_on_beside_a_kernel_on_other_data(trace: Trace) -> None:
    busy, next_one = made("busy"), made("next")
    on_host(trace, next_one, WRONLY, 4.0)
    on_device(busy, stream(), WRONLY)
    next_one.make_valid("gpu")
    assert trace.at_once("kernel", "copy")
    on_host(trace, next_one, WRONLY, 5.0)
    assert trace.at_once("kernel", "host")
    assert on_device(next_one, stream(), READ) is not None


def test_copies_in_both_directions_go_on_beside_each_other(trace: Trace) -> None:
    here, there = made("here"), made("there")
    on_host(trace, here, WRONLY, 4.0)
    on_device(there, stream(), WRONLY)
    here.make_valid("gpu")
    on_host(trace, there, READ)
    assert trace.at_once("copy", "copy")


def test_readers_go_on_beside_a_copy_of_what_they_read(trace: Trace) -> None:
    buffer = made()
    on_device(buffer, stream(), WRONLY)
    on_device(buffer, stream(), READ)
    on_host(trace, buffer, READ)
    assert trace.at_once("kernel", "copy")


def test_the_host_goes_on_while_its_values_are_copied(trace: Trace) -> None:
    buffer = made()
    on_host(trace, buffer, WRONLY, 4.0)
    buffer.make_valid("gpu")
    on_host(trace, buffer, READ)
    assert trace.at_once("copy", "host")


def test_the_replicas_of_fields_on_the_host_are_page_locked(trace: Trace) -> None:
    field = gt.ones((SIZE,), device="gpu")
    other = gt.ones((SIZE,), device="gpu")
    field.data_ro.sum()
    assert field.buffer.incarnations()[0].space.tag == "node:0:pinned"
    with other.access("gpu", "w") as array:
        array[...] = 2.0
    with field.access("gpu", "r") as array:
        array.sum()
    assert trace.at_once("kernel", "copy")
    assert (np.asarray(field.data_ro) == 1.0).all()
