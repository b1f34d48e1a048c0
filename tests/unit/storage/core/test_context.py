"""Tests of executing contexts."""

from __future__ import annotations

import threading

import pytest

from psyclone_storage.storage.core.context import Context, register_context
from psyclone_storage.storage.core.errors import DeviceUnavailableError
from psyclone_storage.storage.core.spaces import device_space, host_space, pinned_space
from psyclone_storage.storage.memory.emulated import EmulatedDeviceMemory
from psyclone_storage.storage.memory.host import HostMemory, PinnedMemory
from psyclone_storage.storage.memory.registry import host_memory, memory_of


@pytest.mark.spec("HM-7", "HM-18", "HM-19", "HM-20", "HM-21")
def test_there_is_one_object_per_device(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Context.getContextPtr(Context.CUDA, 1) is Context.get(Context.CUDA, 1)
    assert Context.getContextPtr(Context.CUDA) is Context.create(Context.CUDA, 0)
    assert Context.getHostPtr() is Context.getContextPtr(Context.Host)
    monkeypatch.setenv("SCAI_DEVICE", "1")
    assert Context.getContextPtr(Context.CUDA).device_id == 1
    with pytest.raises(DeviceUnavailableError, match="There is one host"):
        Context.get(Context.Host, 1)
    with pytest.raises(DeviceUnavailableError, match="node:0:device:7"):
        Context.get(Context.CUDA, 7)


@pytest.mark.spec("HM-13", "HM-14", "HM-15", "HM-16", "HM-29", "HM-30")
def test_the_memories_of_host_and_device() -> None:
    host, device = Context.host(), Context.get(Context.CUDA, 0)
    assert host.getContextMemoryPtr() is host.getHostMemoryPtr() is host_memory()
    assert type(host.getMemoryPtr()) is HostMemory
    assert device.getContextMemoryPtr() is device.getLocalMemoryPtr()
    assert device.getMemoryPtr() is memory_of(device_space(0))
    assert type(device.getMemoryPtr()) is EmulatedDeviceMemory
    assert type(device.getHostMemoryPtr()) is PinnedMemory


@pytest.mark.spec("HM-17")
def test_zero_copy_works_on_host_memory() -> None:
    device = Context.get(Context.CUDA, 0)
    device.enableZeroCopy(True)
    assert device.getMemoryPtr() is memory_of(pinned_space())
    device.enableZeroCopy(False)
    assert device.getMemoryPtr() is device.getLocalMemoryPtr()


@pytest.mark.spec("HM-12")
def test_the_executing_context_nests_and_belongs_to_a_thread() -> None:
    device, other = Context.get(Context.CUDA, 0), Context.get(Context.CUDA, 1)
    seen: list[Context] = []
    assert Context.current() is Context.host()
    with device:
        with other:
            assert Context.current() is other
            thread = threading.Thread(target=lambda: seen.append(Context.current()))
            thread.start()
            thread.join()
        assert Context.current() is device
    assert Context.current() is Context.host()
    assert seen == [Context.host()]
    assert device.submit(Context.current).result(60) is device


@pytest.mark.spec("HM-23", "HM-31")
def test_new_kinds_can_be_registered() -> None:
    with pytest.raises(DeviceUnavailableError, match='"MIC"'):
        Context.get("MIC", 0)
    register_context("MIC", lambda number: Context("MIC", number, host_space()))
    mic = Context.get("MIC", 0)
    assert mic is Context.getContextPtr("MIC", 0)
    assert repr(mic) == "<Context MIC 0>"


def test_work_of_a_context_is_done_in_order() -> None:
    seen: list[int] = []
    device = Context.get(Context.CUDA, 0)
    for number in range(20):
        device.submit(seen.append, number)
    device.synchronize()
    assert seen == list(range(20))
