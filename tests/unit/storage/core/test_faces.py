"""Tests that all facades of one buffer access the same values."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage import accessors, hmemo, kokkos
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.core.faces import buffer_behind
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.token import AccessRequest


@pytest.fixture(autouse=True)
def _emulated() -> Iterator[None]:
    use_device("emulated", Emulation())
    yield
    use_device("auto")


@pytest.mark.spec("GDP-52", "HM-1")
@pytest.mark.parametrize("device", [None, "gpu"])
def test_a_storage_of_an_hmemo_array_is_the_same_data(device: str | None) -> None:
    array = hmemo.HArray(12, hmemo.Context.host(), 1.0)
    seen = gt.as_storage(array, device=device)
    assert seen.buffer is array.buffer
    with hmemo.WriteAccess(array, hmemo.Context.get(hmemo.Context.CUDA, 0)) as write:
        write.kernel_array[...] = 5.0
    assert seen[0] == 5.0
    seen[0] = 8.0
    with hmemo.ReadAccess(array, hmemo.Context.host()) as read:
        assert list(read.get()[:2]) == [8.0, 5.0]


@pytest.mark.spec("GDP-52", "VIEW-54")
@pytest.mark.parametrize("device", [None, "gpu"])
def test_a_storage_of_a_view_shows_its_elements(device: str | None) -> None:
    view = kokkos.View["double**", kokkos.LayoutLeft, kokkos.HostSpace]("v", 4, 5)
    part = kokkos.subview(view, slice(1, 3), kokkos.ALL)
    seen = gt.as_storage(part, device=device)
    assert (seen.shape, seen.strides) == ((2, 5), (8, 32))
    view[1, 2] = 7.0
    assert seen[0, 2] == 7.0
    seen[1, 4] = 3.0
    assert view(2, 4) == 3.0
    assert gt.storage(part)[0, 2] == 7.0


@pytest.mark.spec("GDP-52", "VIEW-54")
def test_a_storage_of_a_view_on_a_device_is_on_the_device() -> None:
    view = kokkos.View["double*", kokkos.CudaSpace]("v", 4)
    seen = gt.as_storage(view)
    assert (seen.device, seen.buffer) == ("gpu", view.buffer)
    with view.opened() as elements:
        elements[...] = 2.0
    assert seen[3] == 2.0


@pytest.mark.spec("GDP-52")
def test_a_storage_of_a_pair_of_views_is_the_same_data() -> None:
    dual = kokkos.DualView["double*"]("d", 4)
    with dual.d_view.opened() as elements:
        elements[...] = 2.0
    seen = gt.as_storage(dual, device="gpu")
    assert seen.buffer is dual.buffer
    assert (seen.shape, seen[3]) == ((4,), 2.0)


@pytest.mark.spec("GDP-59", "ACC-1")
def test_a_buffer_keeps_its_shape() -> None:
    buffer = accessors.Buffer((3, 4), init=1.0)
    seen = gt.as_storage(buffer)
    assert (seen.shape, seen.strides) == ((3, 4), (32, 8))
    seen[2, 1] = 5.0
    assert accessors.HostAccessor(buffer)[2, 1] == 5.0
    assert gt.storage(buffer)[2, 1] == 5.0
    view = kokkos.View(buffer)
    assert (view.rank, view.extents, view(2, 1)) == (2, (3, 4), 5.0)


@pytest.mark.spec("GDP-59")
@pytest.mark.parametrize("make", [gt.as_storage, gt.storage])
def test_a_buffer_can_be_seen_in_another_shape_of_equal_size(make: Any) -> None:
    buffer = accessors.Buffer(np.arange(12.0).reshape(3, 4))
    assert make(buffer, shape=(2, 6))[1, 0] == 6.0
    assert make(buffer, shape=(12,))[11] == 11.0
    assert make(hmemo.HArray(12, value=2.0), shape=(3, 4))[2, 3] == 2.0
    with pytest.raises(ValueError, match=r"\(3, 4\), not \(7, 9\)"):
        make(buffer, shape=(7, 9))


@pytest.mark.spec("GDP-59")
def test_a_view_with_gaps_cannot_be_reshaped() -> None:
    view = kokkos.View["double**", kokkos.HostSpace]("v", 4, 5)
    part = kokkos.subview(view, kokkos.ALL, slice(1, 3))
    with pytest.raises(ValueError, match=r"\(4, 2\), not \(8,\)"):
        gt.as_storage(part, shape=(8,))
    assert gt.as_storage(part, shape=(4, 2)).shape == (4, 2)


MAKERS: dict[str, Callable[[], Any]] = {
    "storage": lambda: gt.zeros(4, device="gpu"),
    "storage of the host": lambda: gt.zeros(4),
    "buffer": lambda: accessors.Buffer(4, init=0.0),
    "array": lambda: hmemo.HArray(4, value=0.0),
    "view": lambda: kokkos.View["double*", kokkos.HostSpace]("v", 4),
    "view on the device": lambda: kokkos.View["double*", kokkos.CudaSpace]("v", 4),
    "pair of views": lambda: kokkos.DualView["double*"]("d", 4),
    "view with offsets": lambda: kokkos.OffsetView["double*", kokkos.HostSpace]("o", (1, 4)),
}
"""How to make one face of each kind, of four elements that are zero."""


@pytest.mark.spec("ACC-11", "ACC-18", "ACC-30", "HM-48", "GDP-52", "VIEW-54", "GDP-26")
@pytest.mark.filterwarnings("ignore:The argument:UserWarning")
@pytest.mark.parametrize("kind", MAKERS)
def test_every_face_comes_through_every_door(kind: str) -> None:
    face = MAKERS[kind]()
    accessors.HostAccessor(face)[0] = 1.0
    with accessors.DeviceAccessor(face) as opened:
        opened.kernel_array[1] = 2.0
    task = accessors.GpuTask("t", lambda x: x.__setitem__(2, 3.0))
    task.register(face, mode="rw").run()
    cuda = hmemo.Context.get(hmemo.Context.CUDA, 0)
    with hmemo.WriteAccess(face, cuda) as write:
        write.kernel_array[3] = 4.0
    with hmemo.ReadAccess(face, hmemo.Context.host()) as read:
        assert list(read.get()) == [1.0, 2.0, 3.0, 4.0]
    assert hmemo.HArray.over(face).buffer is buffer_behind(face)
    assert gt.as_storage(face).buffer is buffer_behind(face)
    with gt.bound({"x": face}) as arrays:
        assert list(arrays["x"]) == [1.0, 2.0, 3.0, 4.0]
        assert (arrays.origins, arrays.domain) == ({"x": (0,)}, (4,))


@pytest.mark.spec("GDP-26", "GDP-29")
def test_a_buffer_is_bound_on_a_device_and_written() -> None:
    buffer = accessors.Buffer((2, 3), init=1.0)
    with gt.bound({"b": buffer}, device="gpu", writes=["b"]) as arrays:
        arrays["b"][1, 2] = 6.0
    assert accessors.HostAccessor(buffer, const=True)[1].tolist() == [1.0, 1.0, 6.0]


@pytest.mark.spec("HM-1")
@pytest.mark.parametrize("make", [hmemo.HArray, hmemo.LArray])
def test_an_array_on_another_face_shares_its_elements(make: Any) -> None:
    storage = gt.zeros(3)
    array = make(storage, hmemo.Context.host(), on_conflict="wait")
    assert array.buffer is storage.buffer
    with hmemo.WriteAccess(array, hmemo.Context.host()) as write:
        write[1] = 7.0
    assert storage[1] == 7.0
    with pytest.raises(TypeError, match="the dtype of an HArray on it cannot be chosen"):
        make(storage, dtype="f4")


def test_what_has_no_buffer_has_no_access() -> None:
    with pytest.raises(TypeError, match="int is no buffer"):
        hmemo.ReadAccess(3, hmemo.Context.host())


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda face: pickle.loads(pickle.dumps(face))])
def test_every_face_is_copied_and_pickled_by_value(kind: str, copied: Any) -> None:
    face = MAKERS[kind]()
    with accessors.DeviceAccessor(face) as opened:
        opened.kernel_array[...] = [1.0, 2.0, 3.0, 4.0]
    twin = copied(face)
    assert type(twin) is type(face)
    assert buffer_behind(twin) is not buffer_behind(face)
    assert accessors.HostAccessor(twin, const=True)[:].tolist() == [1.0, 2.0, 3.0, 4.0]
    accessors.HostAccessor(twin)[0] = 9.0
    assert accessors.HostAccessor(face, const=True)[0] == 1.0


def test_a_copied_buffer_keeps_shape_chunks_and_what_has_no_values() -> None:
    buffer = accessors.Buffer((4, 3), "f4", chunks=2, label="b", const=False)
    with buffer.acquire(
        "host", AccessMode.WRITE_ONLY, request=AccessRequest(region=(0, 6))
    ) as access:
        access.array[:6] = 5.0
    twin = copy.deepcopy(buffer)
    assert (twin.shape, twin.dtype, twin.label, twin.chunks) == (
        (4, 3), np.float32, "b", buffer.chunks,
    )  # fmt: skip
    assert (twin.is_initialised((0, 6)), twin.is_initialised((6, 12))) == (True, False)
    assert copy.deepcopy(accessors.Buffer(np.ones(3), const=True)).const


@pytest.mark.spec("HM-83")
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_of_arrays_have_values_of_their_own(copied: Any) -> None:
    data = np.ones(3)
    array = hmemo.HArrayRef(data)
    twin = copied(array)
    with hmemo.WriteAccess(twin, hmemo.Context.host()) as write:
        write[0] = 7.0
    assert type(twin) is hmemo.HArray
    assert data[0] == 1.0
    local = hmemo.LArray(3, hmemo.Context.host(), 2.0)
    assert (type(copied(local)), copied(local)[1]) == (hmemo.LArray, 2.0)
    assert copied(local).context is hmemo.Context.host()
