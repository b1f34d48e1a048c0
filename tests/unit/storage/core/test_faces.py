"""All faces of one buffer see the same values, whichever door they come through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage import accessors, hmemo, kokkos
from psyclone_storage.storage.device import Emulation, use_device


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
