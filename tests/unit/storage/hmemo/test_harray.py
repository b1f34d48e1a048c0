"""Tests of `HArray`: constructors, the table of incarnations, size and memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.hmemo import (
    AccessConflictError,
    AllocationInUseError,
    ConstBufferError,
    Context,
    CUDAMemory,
    HArray,
    HArrayRef,
    HData,
    HDataManager,
    HostMemory,
    HostReadAccess,
    HostWriteAccess,
    HostWriteOnlyAccess,
    ReadAccess,
    WriteAccess,
    WriteOnlyAccess,
    _HArray,
)

RECORD = np.dtype([("cell", "i4"), ("height", "f8")])


def table(array: _HArray) -> dict[str, tuple[int, bool]]:
    """Return the capacity in bytes and the valid flag of each incarnation by memory space."""
    return {d.memory.space.tag: (d.capacity, d.valid) for d in array.incarnations()}


def on_host(array: _HArray) -> list[Any]:
    with HostReadAccess(array) as access:
        values: list[Any] = access.get().tolist()
        return values


HOST, CUDA, CUDA1 = "node:0", "node:0:device:0", "node:0:device:1"


# -- constructors ------------------------------------------------------------------------------


@pytest.mark.spec("HM-44", "HM-45", "HM-46", "HM-47", "HM-43")
def test_the_tables_of_the_constructors(host: Context) -> None:
    assert table(HArray(1024)) == {}
    empty = HArray(host)
    assert (empty.size(), table(empty)) == (0, {HOST: (0, False)})
    assert table(HArray(1024, host)) == {HOST: (8192, False)}
    assert table(HArray(1024, host, 1.0)) == {HOST: (8192, True)}
    assert HArray(1024).size() == 1024


@pytest.mark.spec("HM-46", "HM-47")
@pytest.mark.parametrize(
    "make",
    [
        lambda ctx: HArray(4, ctx, 2.5),
        lambda ctx: HArray(4, 2.5, ctx),
        lambda ctx: HArray(ctx, 4, 2.5),
        lambda ctx: HArray(4, ctx=ctx, value=2.5),
        lambda ctx: HArray(size=4, value=2.5, first_touch=ctx),
        lambda ctx: HArray(4, float, 2.5, ctx),
        lambda ctx: HArray(4, np.dtype("f8"), ctx, 2.5),
        lambda ctx: HArray([2.5] * 4, ctx),
        lambda ctx: HArray(HArray(4, 2.5), ctx),
    ],
)
def test_arguments_are_known_by_their_type(
    make: Callable[[Context], HArray], cuda: Context
) -> None:
    array = make(cuda)
    assert table(array) == {CUDA: (32, True)}
    assert array.context is cuda
    assert on_host(array) == [2.5] * 4


def test_an_initial_value_without_a_context_is_set_in_that_of_the_scope(cuda: Context) -> None:
    assert table(HArray(4, 1.0)) == {HOST: (32, True)}
    with cuda:
        assert table(HArray(4, 1.0)) == {CUDA: (32, True)}


@pytest.mark.parametrize(
    ("what", "words", "complaint"),
    [
        ((2.5,), {}, "begins with a size"),
        ((4, 1.0, 2.0), {}, "value of an HArray was given twice"),
        ((4,), {"size": 5}, "size of an HArray was given twice"),
        ((4, float), {"dtype": "f4"}, "dtype of an HArray was given twice"),
        ((4,), {"typ": "f8"}, "no keyword 'typ'"),
        (([1, 2], 3), {}, "either values, or a size"),
        ((np.zeros((2, 2)),), {}, r"shape \(2, 2\)"),
        ((HArray(2, 1.0),), {"dtype": "f4"}, "float64 into float32.*LArray converts"),
    ],
)
def test_arguments_that_do_not_fit(
    what: tuple[Any, ...], words: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(TypeError, match=complaint):
        HArray(*what, **words)


def test_a_size_or_a_policy_that_makes_no_sense() -> None:
    with pytest.raises(ValueError, match="-1"):
        HArray(-1)
    with pytest.raises(ValueError, match="must be"):
        HArray(1, on_conflict="auto")
    with pytest.raises(ValueError, match="hope"):
        HArray(1, on_conflict="hope")


@pytest.mark.spec("HM-2")
@pytest.mark.parametrize(
    ("dtype", "value"),
    [("f8", 1.5), ("f4", 1.5), ("i8", 3), ("c16", 1 + 2j), ("?", True), (RECORD, (3, 0.5))],
    ids=str,
)
def test_the_element_type_is_a_parameter(dtype: Any, value: Any, host: Context) -> None:
    array = HArray(3, host, value, dtype=dtype)
    assert array.dtype == np.dtype(dtype)
    assert array.valueSize() == np.dtype(dtype).itemsize
    assert on_host(array) == [value] * 3


def test_structured_elements_travel(device: str, host: Context, cuda: Context) -> None:
    array = HArray(3, host, (3, 0.5), dtype=RECORD)
    array.prefetch(cuda).result(60)
    HostWriteAccess(array).release()
    array.prefetch(cuda).result(60)
    assert array.isValid(cuda)
    with ReadAccess(array, cuda) as access:
        assert access.get().dtype == RECORD
        if device == "emulated":
            assert access.get().get().tolist() == [(3, 0.5)] * 3


@pytest.mark.spec("HM-3")
def test_nothing_is_initialised_implicitly(device: str, cuda: Context) -> None:
    array = HArray(4, cuda)
    assert not array.isValid(cuda)
    with ReadAccess(array, cuda) as access:
        assert not array.isValid(cuda)
        if device == "emulated":
            assert np.isnan(access.kernel_array).all()
    filled = HArray(2, cuda, 1.0)
    filled.purge()
    filled.resize(2)
    with ReadAccess(filled, cuda):
        assert not filled.isValid(cuda)


@pytest.mark.spec("HM-4")
def test_transfers_and_copies_keep_every_bit(host: Context, cuda: Context) -> None:
    bits = np.array([0x7FF8_0000_DEAD_BEEF, 0x8000_0000_0000_0000, 0x0000_0000_0000_0001], "u8")
    array = HArray(bits.view("f8"), host)
    HArray(array, cuda)
    WriteAccess(array, cuda).release()
    copied = HArray(array)
    assert copied.buffer is not array.buffer
    for each in (array, copied):
        with ReadAccess(each, host) as access:
            assert access.get().view("u8").tolist() == bits.tolist()


def test_a_copy_of_what_has_no_values_has_none() -> None:
    copied = HArray(HArray(5, dtype="i4"))
    assert (copied.size(), copied.dtype, table(copied)) == (5, np.dtype("i4"), {})


def test_an_array_may_look_at_the_buffer_of_another_face(cuda: Context) -> None:
    buffer = CoherentBuffer(4, "i8")
    first, second = HArray.over(buffer), HArray.over(buffer, cuda)
    with WriteOnlyAccess(first, cuda) as access:
        access.get()[:] = 5
    assert on_host(second) == [5] * 4
    with ReadAccess(first, cuda), pytest.raises(AccessConflictError):
        HostWriteAccess(second)


# -- state -------------------------------------------------------------------------------------


@pytest.mark.spec("HM-1", "HM-40", "HM-41", "HM-42", "HM-10")
def test_what_is_known_of_an_array_and_of_its_incarnations(host: Context, cuda: Context) -> None:
    array = HArray(1024, host, 1.0)
    ReadAccess(array, cuda).release()
    first, second = array.incarnations()
    assert isinstance(first, HData)
    assert isinstance(first.memory, HostMemory)
    assert isinstance(second.memory, CUDAMemory)
    assert (first.context, second.context) == (host, cuda)
    assert (first.capacity, second.capacity) == (8192, 8192)
    assert first.pointer != second.pointer != 0
    assert first.valid
    assert second.valid
    assert (array.size(), array.valueSize(), array.constFlag, len(array)) == (1024, 8, False, 1024)
    assert isinstance(array.buffer, HDataManager)
    assert array.capacity(cuda) == 8192
    assert array.capacity(host) >= array.size() * array.valueSize()
    assert array.isValid(host)
    assert repr(array) == (
        f'<HArray "" 1024 x float64 [{HOST}: 8192 B valid, {CUDA}: 8192 B valid]>'
    )


@pytest.mark.spec("HM-41")
def test_a_const_array_refuses_writes_and_can_be_read(host: Context, cuda: Context) -> None:
    array = HArray(3, host, 1.0, const=True, label="orography")
    assert array.constFlag
    for access in (WriteAccess, WriteOnlyAccess):
        with pytest.raises(ConstBufferError, match='"orography"'):
            access(array, cuda)
    with ReadAccess(array, cuda):
        assert array.isValid(cuda)
    assert on_host(array) == [1.0] * 3


def test_the_context_that_has_the_values(host: Context, cuda: Context, other: Context) -> None:
    array = HArray(2, cuda, 1.0)
    assert array.getValidContext() is array.getValidContext(host) is cuda
    ReadAccess(array, host).release()
    assert array.getValidContext(host) is host
    assert array.getValidContext() is cuda
    WriteAccess(array, other).release()
    assert array.getValidContext(host) is other
    assert HArray(2).getValidContext() is host
    assert HArray(2).getValidContext(cuda) is cuda


# -- size and memory ---------------------------------------------------------------------------


@pytest.mark.spec("HM-56", "HM-57")
def test_resize_moves_what_is_valid_and_too_small(
    host: Context, cuda: Context, other: Context
) -> None:
    array = HArray(np.arange(1024.0), host)
    WriteAccess(array, cuda).release()
    array.reserve(2048, other)
    WriteAccess(array, other).release()
    HostReadAccess(array).release()
    assert table(array) == {HOST: (8192, True), CUDA: (8192, False), CUDA1: (16384, True)}
    array.resize(2048)
    assert table(array) == {HOST: (16384, True), CUDA: (8192, False), CUDA1: (16384, True)}
    assert array.size() == 2048
    assert on_host(array)[:1024] == list(range(1024))
    HostWriteAccess(array).release()
    with ReadAccess(array, cuda):
        assert array.capacity(cuda) == 16384


@pytest.mark.spec("HM-58", "HM-59", "HM-42")
def test_clear_keeps_memory_and_flags(host: Context, cuda: Context) -> None:
    array = HArray(1024, host, 1.0)
    WriteAccess(array, cuda).release()
    before = table(array)
    array.clear()
    assert (array.size(), table(array)) == (0, before)
    resized = HArray(1024, host, 1.0)
    WriteAccess(resized, cuda).release()
    resized.resize(0)
    assert table(resized) == table(array)
    with ReadAccess(array, host) as access:
        assert access.get().size == 0


@pytest.mark.spec("HM-60")
def test_purge_frees_and_keeps_the_rows(host: Context, cuda: Context) -> None:
    array = HArray(1024, host, 1.0)
    ReadAccess(array, cuda).release()
    used = host.getMemoryPtr().use.in_use
    access = ReadAccess(array, host)
    with pytest.raises(AccessConflictError, match="purged"):
        array.purge()
    access.release()
    array.purge()
    assert (array.size(), table(array)) == (0, {HOST: (0, False), CUDA: (0, False)})
    assert host.getMemoryPtr().use.in_use < used


def test_reserve_leaves_the_size(cuda: Context) -> None:
    array = HArray(3)
    array.reserve(10, cuda)
    assert (array.size(), array.capacity(cuda), array.isValid(cuda)) == (3, 80, False)


# -- HArrayRef ---------------------------------------------------------------------------------


@pytest.mark.spec("HM-83")
def test_given_memory_is_the_host_incarnation(cuda: Context) -> None:
    data = np.arange(6.0)
    array = HArrayRef(data, 4)
    assert array.size() == 4
    assert table(array) == {HOST: (32, True)}
    assert array.incarnations()[0].pointer == data.__array_interface__["data"][0]
    with HostWriteAccess(array) as access:
        access.get()[1] = 7.0
    assert data.tolist() == [0.0, 7.0, 2.0, 3.0, 4.0, 5.0]
    with ReadAccess(array, cuda):
        assert array.buffer.stats.nbytes == 32


@pytest.mark.spec("HM-84")
def test_given_memory_cannot_be_resized(host: Context, cuda: Context) -> None:
    array = HArrayRef(np.arange(4.0), label="lent")
    for resize in (
        lambda: array.resize(8),
        array.clear,
        lambda: WriteOnlyAccess(array, cuda, 8),
        lambda: WriteAccess(array, host).resize(8),
        array.purge,
    ):
        with pytest.raises(AllocationInUseError, match='"lent"'):
            resize()
    assert array.size() == 4
    array.resize(4)
    HostWriteOnlyAccess(array, 4).release()


@pytest.mark.spec("HM-85")
@pytest.mark.parametrize("end", ["close", "with", "del"])
def test_at_its_end_the_values_are_in_the_given_memory(end: str, cuda: Context) -> None:
    data = np.zeros(4)
    array = HArrayRef(data)
    with WriteOnlyAccess(array, cuda) as access:
        access.get()[:] = 3.0
    assert data.tolist() == [0.0] * 4
    match end:
        case "close":
            array.close()
            array.close()
            with pytest.raises(RuntimeError, match="closed"):
                ReadAccess(array, cuda)
        case "with":
            with array:
                pass
        case "del":
            del array
    assert access.size() == 4
    assert data.tolist() == [3.0] * 4


@pytest.mark.spec("HM-85")
def test_what_a_failed_write_left_is_not_written_back(cuda: Context) -> None:
    data = np.ones(4)
    array = HArrayRef(data)
    with pytest.raises(ZeroDivisionError), WriteAccess(array, cuda) as access:
        access.get()[:] = 1 / 0
    del access
    with pytest.warns(RuntimeWarning, match="not written back"):
        del array
    assert data.tolist() == [1.0] * 4


@pytest.mark.spec("HM-83")
def test_what_can_be_looked_at(cuda: Context) -> None:
    fixed = np.arange(3)
    fixed.flags.writeable = False
    assert HArrayRef(fixed).constFlag
    assert on_host(HArrayRef(fixed)) == [0, 1, 2]
    lent = bytearray(b"abc")
    with HArrayRef(lent) as array, WriteOnlyAccess(array, cuda) as access:
        access.get()[:] = ord("x")
    assert lent == b"xxx"
    with pytest.raises(ValueError, match="contiguous"):
        HArrayRef(np.arange(6)[::2])
    with pytest.raises(ValueError, match="9 elements"):
        HArrayRef(np.arange(6), 9)
    with pytest.raises(TypeError, match="list"):
        HArrayRef([1.0, 2.0])


@pytest.mark.spec("HM-81")
@pytest.mark.parametrize("word", ["ctx", "context", "first_touch"])
def test_the_first_touch_has_a_keyword(word: str, host: Context) -> None:
    assert HArray(4, **{word: host}).context is host


def test_sizes_of_numpy_are_sizes() -> None:
    assert type(HArray(np.int64(3)).size()) is int


def test_a_place_is_a_context_a_memory_a_space_or_its_name(cuda: Context) -> None:
    array = HArray(np.ones(4))
    array.prefetch(cuda).result(60)
    tag = cuda.space.tag
    for place in (cuda, cuda.getMemoryPtr(), cuda.space, tag):
        assert array.isValid(place)
        with ReadAccess(array, place) as access:
            assert access.size() == 4
    assert not array.isValid("uvm")


def test_a_copy_may_name_the_type_that_it_has_anyway() -> None:
    array = HArray(np.ones(3, "f4"))
    assert on_host(HArray(array, np.float32)) == [1.0] * 3
    with pytest.raises(TypeError, match="LArray converts"):
        HArray(array, np.float64)
