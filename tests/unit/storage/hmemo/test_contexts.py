"""Tests of contexts and memories in the HMemo API."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from psyclone_storage.storage import hmemo
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.core.errors import DeviceUnavailableError
from psyclone_storage.storage.hmemo import (
    Context,
    CUDAContext,
    CUDAHostMemory,
    CUDAMemory,
    HArray,
    HostContext,
    HostMemory,
    Memory,
    MemoryException,
    MICContext,
    MICMemory,
    ReadAccess,
    SyncToken,
    WriteAccess,
    register_context,
)
from storage_threads import PATIENCE

NAMED = """
    Context HostContext CUDAContext Memory HostMemory CUDAMemory CUDAHostMemory HData HDataManager
    _HArray HArray ReadAccess WriteAccess WriteOnlyAccess HArrayRef LArray SyncToken
    AccessConflictError
"""


@pytest.mark.spec("HM-5")
def test_the_door_has_all_classes() -> None:
    assert [name for name in NAMED.split() if not isinstance(getattr(hmemo, name), type)] == []
    assert sorted(hmemo.__all__) == sorted(set(hmemo.__all__))
    assert issubclass(hmemo.LArray, hmemo.HArray)
    assert issubclass(hmemo.HArray, hmemo._HArray)


@pytest.mark.spec("HM-6", "HM-7", "HM-18", "HM-19", "HM-20")
def test_there_is_a_class_for_each_kind_and_an_object_for_each_device(
    host: Context, cuda: Context, other: Context
) -> None:
    assert type(host) is HostContext
    assert type(cuda) is type(other) is CUDAContext
    assert cuda is not other
    assert Context.create(Context.CUDA, 0) is Context.getContextPtr(Context.CUDA, 0) is cuda
    assert Context.getContextPtr(Context.Host) is host


@pytest.mark.spec("HM-21", "HM-22")
def test_the_environment_names_the_default_device(
    monkeypatch: pytest.MonkeyPatch, cuda: Context, other: Context
) -> None:
    assert Context.getContextPtr(Context.CUDA) is cuda
    monkeypatch.setenv("SCAI_DEVICE", "1:0")
    assert Context.getContextPtr(Context.CUDA) is other
    monkeypatch.setenv("SCAI_DEVICE", "zero")
    with pytest.raises(ValueError, match="SCAI_DEVICE"):
        Context.getContextPtr(Context.CUDA)


@pytest.mark.spec("HM-8", "HM-9", "HM-10")
def test_a_device_lives_as_long_as_somebody_refers_to_it() -> None:
    with pytest.raises(DeviceUnavailableError, match="node:0:device:99"):
        Context.getContextPtr(Context.CUDA, 99)
    array = HArray(8, Context.getContextPtr(Context.CUDA, 0), 1.0)
    assert array.context is not None
    memory, context = array.context.getMemoryPtr(), array.context
    (row,) = array.incarnations()
    assert row.memory is memory
    assert row.context is context
    ends = weakref.ref(context), weakref.ref(memory)
    use_device("emulated", Emulation())
    assert Context.getContextPtr(Context.CUDA, 0) is not context
    del memory, context, row
    gc.collect()
    assert None not in [end() for end in ends]
    del array
    gc.collect()
    assert [end() for end in ends] == [None, None]


@pytest.mark.spec("HM-11", "HM-12")
def test_a_scope_sets_the_context_of_accesses_in_its_thread(cuda: Context, host: Context) -> None:
    array = HArray(8, host, 1.0)
    seen: list[Context] = []
    with cuda:
        with host:
            assert Context.current() is host
        thread = threading.Thread(target=lambda: seen.append(Context.current()))
        thread.start()
        thread.join(PATIENCE)
        with ReadAccess(array):
            assert array.isValid(cuda)
    assert seen == [host]
    assert Context.current() is host
    assert HArray(array, cuda).context is cuda


@pytest.mark.spec("HM-13", "HM-14", "HM-15", "HM-16", "HM-17", "HM-24", "HM-28", "HM-29", "HM-30")
def test_the_memories_of_a_context(host: Context, cuda: Context) -> None:
    assert type(host.getContextMemoryPtr()) is HostMemory
    assert host.getHostMemoryPtr() is host.getContextMemoryPtr() is host.getMemoryPtr()
    local, pinned = cuda.getContextMemoryPtr(), cuda.getHostMemoryPtr()
    assert isinstance(local, CUDAMemory)
    assert isinstance(pinned, CUDAHostMemory)
    assert not isinstance(local, HostMemory)
    assert not isinstance(host.getMemoryPtr(), (CUDAMemory, CUDAHostMemory))
    assert cuda.getMemoryPtr() is local is cuda.getLocalMemoryPtr()
    cuda.enableZeroCopy(True)
    assert cuda.getMemoryPtr() is pinned
    cuda.enableZeroCopy(False)
    assert local.getContextPtr() is cuda
    assert pinned.getContextPtr() is host
    assert isinstance(local, Memory)
    with pytest.raises(TypeError):
        CUDAMemory(local.space)  # type: ignore[abstract]


@pytest.mark.spec("HM-6", "HM-31")
def test_a_coprocessor_transfers_from_plain_host_memory(device: str, host: Context) -> None:
    if device == "cuda":
        with pytest.raises(DeviceUnavailableError, match="coprocessor"):
            Context.getContextPtr(Context.MIC, 0)
        return
    mic = Context.getContextPtr(Context.MIC, 0)
    assert type(mic) is MICContext
    assert isinstance(mic.getContextMemoryPtr(), MICMemory)
    assert mic.getHostMemoryPtr() is host.getContextMemoryPtr()


@pytest.mark.spec("HM-23")
def test_a_new_kind_of_context_serves_accesses_and_kernels(device: str, host: Context) -> None:
    kind = f"FPGA beside {device}"
    with pytest.raises(DeviceUnavailableError, match=f'"{kind}"'):
        Context.getContextPtr(kind, 0)
    register_context(kind, lambda n: Context(kind, n, host.space))
    fpga = Context.getContextPtr(kind, 3)
    assert fpga is Context.getContextPtr(kind, 3)
    kernel = hmemo.DispatchedKernel("increment")
    kernel.register(kind, lambda values, n: values.__iadd__(n))
    array = HArray(4, fpga, 1.0)
    with WriteAccess(array, fpga) as access:
        kernel[fpga](access.get(), 2)
        assert access.get().tolist() == [3.0] * 4
    with pytest.raises(hmemo.UnsupportedKernelError, match=r'"increment".*Host.*FPGA beside'):
        kernel[host](None)


# -- memories ----------------------------------------------------------------------------------


@pytest.mark.spec("HM-25", "HM-26", "HM-27")
def test_memory_is_allocated_copied_and_freed(host: Context) -> None:
    memory = host.getMemoryPtr()
    used = memory.use.in_use
    first, second = memory.allocate(64), memory.allocate(64)
    assert memory.use.in_use >= used + 128
    first.block[:] = 7
    second.block[:] = 0
    memory.memcpy(second, first, 48)
    assert second.block[:].tolist() == [7] * 48 + [0] * 16
    with pytest.raises(MemoryException, match="64 B at node:0, but 32 B"):
        memory.free(first, 32)
    memory.free(first, 64)
    memory.free(second, 64)
    with pytest.raises(MemoryException, match="freed twice"):
        memory.free(second, 64)


@pytest.mark.spec("HM-32", "HM-33", "HM-34", "HM-35", "HM-36", "HM-37")
def test_transfers_are_possible_where_the_predicates_say_so(host: Context, cuda: Context) -> None:
    onto, origin = cuda.getContextMemoryPtr(), host.getMemoryPtr()
    assert onto.canCopyFrom(origin)
    assert onto.canCopyTo(origin)
    assert not origin.canCopyTo(onto)
    assert not origin.canCopyFrom(onto)
    sent, back = np.arange(16.0), np.zeros(16)
    there = onto.allocate(sent.nbytes)
    onto.memcpyFrom(there, origin, sent, sent.nbytes)
    onto.memcpyTo(origin, back, there, 64)
    assert back.tolist() == [*range(8), *[0.0] * 8]
    with pytest.raises(MemoryException, match="node:0 to node:0:device:0"):
        origin.memcpyTo(onto, there, sent, 64)
    with pytest.raises(MemoryException, match="node:0:device:0 to node:0"):
        origin.memcpyFrom(back, onto, there, 64)


@pytest.mark.spec("HM-38")
def test_asynchronous_copies_give_a_token_to_wait_on(host: Context, cuda: Context) -> None:
    onto, origin = cuda.getContextMemoryPtr(), host.getMemoryPtr()
    gate = threading.Event()
    blocked = cuda.submit(gate.wait, PATIENCE)
    sent, back = np.arange(16.0), np.zeros(16)
    there = onto.allocate(sent.nbytes)
    going = onto.memcpyFromAsync(there, origin, sent, sent.nbytes)
    coming = onto.memcpyToAsync(origin, back, there, back.nbytes)
    assert isinstance(going, SyncToken)
    assert not going.done()
    assert not coming.done()
    gate.set()
    coming.wait(PATIENCE)
    assert blocked.result(PATIENCE)
    assert back.tolist() == sent.tolist()
    with pytest.raises(MemoryException):
        origin.memcpyToAsync(onto, there, sent, 8)
    with pytest.raises(MemoryException):
        origin.memcpyFromAsync(back, onto, there, 8)


@pytest.mark.spec("HM-39")
def test_memory_of_a_device_is_not_for_the_host(cuda: Context) -> None:
    array = HArray(4, cuda, 1.0)
    with ReadAccess(array, cuda) as access:
        with pytest.raises(TypeError):
            np.asarray(access.get())
        pointer = access.get().data.ptr
    assert pointer == array.incarnations()[0].pointer
    assert array.incarnations()[0].memory is cuda.getMemoryPtr()
