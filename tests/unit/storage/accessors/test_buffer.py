"""Tests of the buffer of the accessors: metadata, the current replica, hints and chunks."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from psyclone_storage.storage.accessors import (
    Buffer,
    BufferOptions,
    ChunkLayout,
    ConstBufferError,
    DeviceAccessor,
    GpuTask,
    Hints,
    HostAccessor,
    UnknownSpaceError,
    memory_space,
    row_blocks,
)
from psyclone_storage.storage.core.device import own_node
from psyclone_storage.storage.core.stats import Direction
from psyclone_storage.storage.hmemo import HArray
from storage_threads import PATIENCE

HOST, GPU = "node:0", "node:0:device:0"


def truth(buffer: Buffer) -> list[str]:
    return [chunk.tag for chunk in buffer.memory_chunks()]


def write_on(buffer: Buffer, space: str, value: float) -> None:
    with DeviceAccessor(buffer, space) as accessor:
        accessor.array[...] = value


@pytest.mark.spec("ACC-1")
@pytest.mark.parametrize(
    ("what", "shape", "dtype"),
    [
        ((12,), (12,), "f8"),
        (((3, 4), "f4"), (3, 4), "f4"),
        ((np.ones((2, 6), "i2"),), (2, 6), "i2"),
        (([1.5, 2.5],), (2,), "f8"),
        (([1, 2], "f4"), (2,), "f4"),
        ((0,), (0,), "f8"),
        (((), "i4"), (), "i4"),
    ],
)
def test_metadata(what: tuple[Any, ...], shape: tuple[int, ...], dtype: str) -> None:
    buffer = Buffer(*what)
    assert (buffer.shape, buffer.dtype) == (shape, np.dtype(dtype))
    assert buffer.size == int(np.prod(shape))
    assert buffer.itemsize == np.dtype(dtype).itemsize
    assert buffer.nbytes == buffer.size * buffer.itemsize


@pytest.mark.spec("ACC-1")
@pytest.mark.parametrize("size", [2, 9])
def test_a_buffer_that_another_face_resized_has_one_dimension(size: int) -> None:
    buffer = Buffer(np.ones((2, 3)))
    host, device = HostAccessor(buffer), DeviceAccessor(buffer)
    task = GpuTask("extent").register(buffer).setup()
    HArray.over(buffer).resize(size)
    assert buffer.shape == host.shape == np.asarray(host).shape == (size,)
    with device as accessor:
        assert accessor.array.shape == (size,)
    assert task.run(np.shape) == (size,)
    HArray.over(buffer).resize(6)
    assert buffer.shape == (2, 3)


def test_what_makes_no_buffer() -> None:
    with pytest.raises(ValueError, match="-1"):
        Buffer((3, -1))
    with pytest.raises(ValueError, match="3 rows"):
        Buffer((3, 2), chunks=4)
    with pytest.raises(TypeError, match="no buffer"):
        HostAccessor([1.0])


def test_values_are_copied_in() -> None:
    values = np.arange(6.0).reshape(2, 3)
    buffer = Buffer(values, "f4", BufferOptions(label="u"), chunks=2)
    values[:] = 0.0
    assert HostAccessor(buffer, const=True)[...].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert (buffer.label, buffer.chunks.count) == ("u", 2)


# -- point of truth ----------------------------------------------------------------------------


@pytest.mark.spec("ACC-2", "ACC-3")
def test_there_are_read_copies_or_one_write_copy() -> None:
    buffer = Buffer(8, init=0.0)

    def valid() -> set[str]:
        return {state.space.tag for state in buffer.incarnations() if state.valid}

    HostAccessor(buffer)[0] = 1.0
    assert (valid(), truth(buffer)) == ({HOST}, [HOST])
    with DeviceAccessor(buffer, const=True):
        assert valid() == {HOST, GPU}
    assert truth(buffer) == [HOST]
    with DeviceAccessor(buffer):
        assert valid() == {GPU}
    assert truth(buffer) == [GPU]
    assert HostAccessor(buffer, const=True)[0] == 1.0
    assert (valid(), truth(buffer)) == ({GPU, HOST}, [GPU])


@pytest.mark.spec("ACC-4")
def test_the_truth_may_be_spread_over_spaces(second: str) -> None:
    buffer = Buffer((4, 2), chunks=4)
    HostAccessor(buffer)[...] = 1.0
    buffer.set_preferred(GPU, second)
    assert truth(buffer) == [GPU, GPU, second, second]
    buffer.set_preferred(second, HOST)
    assert truth(buffer) == [second, second, second, second]
    buffer.set_preferred(HOST, GPU)
    assert truth(buffer) == [HOST, HOST, GPU, GPU]
    assert HostAccessor(buffer, const=True)[...].tolist() == [[1.0, 1.0]] * 4


@pytest.mark.spec("ACC-28")
def test_the_runtime_places_the_truth_at_creation() -> None:
    assert truth(Buffer(8)) == [HOST]
    assert truth(Buffer(8, hints=Hints(preferred=(memory_space(GPU),)))) == [GPU]
    spread = Hints(preferred=(memory_space(HOST), memory_space(GPU)))
    assert truth(Buffer(8, chunks=2, hints=spread)) == [HOST, GPU]
    assert truth(Buffer(np.ones(8), chunks=2, hints=Hints(preferred=(memory_space(GPU),)))) == [
        GPU,
        GPU,
    ]


# -- hints -------------------------------------------------------------------------------------


@pytest.mark.spec("ACC-5")
def test_read_mostly_brings_the_copies_up_to_date_after_a_write() -> None:
    buffer = Buffer(np.ones(8))
    with DeviceAccessor(buffer, const=True):
        pass
    HostAccessor(buffer)[0] = 2.0
    assert not buffer.is_valid(GPU)
    buffer.set_read_mostly()
    HostAccessor(buffer)[0] = 3.0
    buffer.wait()
    assert buffer.is_valid(GPU)
    buffer.set_read_mostly(on=False)
    HostAccessor(buffer)[0] = 4.0
    buffer.wait()
    assert not buffer.is_valid(GPU)


@pytest.mark.spec("ACC-6")
def test_a_preferred_space_pulls_the_truth_in() -> None:
    buffer = Buffer(np.ones(8))
    buffer.set_preferred("gpu")
    assert truth(buffer) == [GPU]
    HostAccessor(buffer)[0] = 2.0
    assert truth(buffer) == [GPU]
    assert buffer.is_valid(GPU)
    buffer.set_preferred()
    HostAccessor(buffer)[0] = 3.0
    assert truth(buffer) == [HOST]


@pytest.mark.spec("ACC-6")
@pytest.mark.parametrize("const", [True, False])
def test_the_close_of_any_access_pulls_the_truth_in(const: bool) -> None:
    buffer = Buffer(8, init=1.0, hints=Hints(preferred=(memory_space(GPU),)))
    assert HostAccessor(buffer, const=const)[0] == 1.0
    assert truth(buffer) == [GPU]


@pytest.mark.spec("ACC-6")
def test_a_wish_that_comes_during_an_access_is_followed_after_it() -> None:
    buffer = Buffer(np.ones(8))
    with HostAccessor(buffer).held() as window:
        buffer.set_preferred("gpu")
        window[...] = 5.0
    assert truth(buffer) == [GPU]
    with DeviceAccessor(buffer, const=True) as accessor:
        assert float(accessor.array.sum()) == 40.0


@pytest.mark.spec("ACC-7")
def test_access_via_puts_a_copy_where_it_will_be_read() -> None:
    buffer = Buffer(np.ones(8))
    buffer.set_access_via("gpu")
    HostAccessor(buffer)[0] = 2.0
    buffer.wait()
    assert buffer.is_valid(GPU)
    assert truth(buffer) == [HOST]
    moved = buffer.stats.count
    with DeviceAccessor(buffer, const=True):
        assert buffer.stats.count == moved


# -- chunks and spaces -------------------------------------------------------------------------


@pytest.mark.spec("ACC-8")
@pytest.mark.parametrize("tag", ["node:0", "node:3:device:1", "node:0:uvm", "node:12"])
def test_tags_name_memory_spaces(tag: str) -> None:
    assert memory_space(tag).tag == tag
    assert memory_space(tag) is memory_space(tag)


@pytest.mark.spec("ACC-8")
@pytest.mark.parametrize("tag", ["node", "node:0:device", "node:x", "node:0:gpu:1", "Node:0", ""])
def test_other_words_are_no_tags(tag: str) -> None:
    with pytest.raises(UnknownSpaceError, match="is not a memory space"):
        memory_space(tag)


@pytest.mark.spec("ACC-10", "ACC-26")
def test_there_is_one_host_and_devices_belong_to_nodes() -> None:
    host = memory_space("host")
    assert host is memory_space(None) is memory_space(f"node:{own_node()}")
    assert memory_space("gpu:1") is memory_space(f"node:{own_node()}:device:1")
    assert memory_space("gpu:1").node == host.node
    assert (host.device_id, memory_space("gpu:1").device_id) == (None, 1)


@pytest.mark.spec("ACC-8", "ACC-9")
def test_chunks_know_their_space_size_and_type() -> None:
    buffer = Buffer((5, 3), "f4", chunks=2)
    HostAccessor(buffer)[...] = 1.0
    first, last = buffer.memory_chunks()
    assert (first.start, first.stop, first.nbytes) == (0, 9, 36)
    assert (last.start, last.stop, last.nbytes) == (9, 15, 24)
    assert {first.tag, last.tag} == {HOST}
    assert first.dtype == np.dtype("f4")
    write_on(buffer, "gpu", 2.0)
    assert truth(buffer) == [GPU, GPU]


LAYOUTS = """
from psyclone_storage.storage.accessors import Buffer
for shape in ((7, 3), (16,), (5, 2, 2)):
    buffer = Buffer(shape, "f4", chunks=3)
    print([(c.start, c.stop, c.nbytes, str(c.dtype)) for c in buffer.memory_chunks()])
"""


@pytest.mark.spec("ACC-27")
def test_all_nodes_compute_the_same_layout() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", LAYOUTS],
            env=os.environ | {"PSYCLONE_STORAGE_NODE": node, "PYTHONHASHSEED": node},
            capture_output=True,
            text=True,
            check=True,
            timeout=6 * PATIENCE,
        ).stdout
        for node in ("0", "1", "5")
    }
    (output,) = outputs
    assert output.splitlines()[0] == str(
        [(0, 9, 36, "float32"), (9, 15, 24, "float32"), (15, 21, 24, "float32")]
    )


def test_a_layout_may_be_given() -> None:
    assert Buffer(6, chunks=ChunkLayout((0, 1, 6))).chunks.count == 2
    assert row_blocks(5, 1, 2).bounds == (0, 3, 5)


def test_only_stale_chunks_are_moved() -> None:
    buffer = Buffer(np.ones((4, 8)), chunks=4)
    with DeviceAccessor(buffer, const=True):
        pass
    assert buffer.stats.of(Direction.HOST_TO_DEVICE).count == 4


@pytest.mark.spec("ACC-11")
def test_a_const_buffer_keeps_the_values_it_is_given() -> None:
    buffer = Buffer(np.arange(3.0), const=True)
    assert list(HostAccessor(buffer, const=True)[:]) == [0.0, 1.0, 2.0]
    with pytest.raises(ConstBufferError):
        HostAccessor(buffer)[0] = 1.0
