"""Tests of synchronization between host and device: state, calls, and what counts as a write."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage import RDONLY, RDWR, WRONLY, SyncState
from psyclone_storage.storage.core.errors import PoisonedDataError

CLEAN, HOST, DEVICE = (
    SyncState.SYNC_CLEAN, SyncState.SYNC_HOST_DIRTY, SyncState.SYNC_DEVICE_DIRTY,
)  # fmt: skip
VERBS = [
    "device_to_host", "host_to_device", "set_device_modified", "set_host_modified",
    "set_synchronized", "synchronize",
]  # fmt: skip


@pytest.mark.spec("GDP-112", "GDP-114")
@pytest.mark.usefixtures("device")
def test_device_to_host(kernel: Any) -> None:
    made = gt.storage(np.ones(3), device="gpu")
    made.host_to_device()
    kernel(made, 2.0)
    made.set_device_modified()
    assert made.sync_state.state == DEVICE
    made.device_to_host()
    assert made.sync_state.state == CLEAN
    assert made.buffer.stats.count == 2
    made.device_to_host()
    assert made.buffer.stats.count == 2
    assert list(made.data_ro) == [2.0] * 3


@pytest.mark.spec("GDP-113", "GDP-115")
@pytest.mark.usefixtures("device")
def test_host_to_device(download: Any) -> None:
    made = gt.zeros((3,), device="gpu")
    made.host_to_device()
    made.window(made.backing().host)[...] = 4.0
    made.set_host_modified()
    assert made.sync_state.state == HOST
    made.host_to_device()
    assert made.sync_state.state == CLEAN
    made.host_to_device()
    assert made.buffer.stats.count == 1
    assert (download(made.window(made.backing().device)) == 4.0).all()


@pytest.mark.spec("GDP-112", "GDP-113")
@pytest.mark.usefixtures("device")
def test_the_acquire_of_the_current_side_loses_nothing() -> None:
    made = gt.storage(np.ones(3), device="gpu")
    made.device_to_host()
    assert made.sync_state.state == HOST
    assert list(made.data_ro) == [1.0] * 3


@pytest.mark.spec("GDP-112", "GDP-113")
@pytest.mark.usefixtures("device")
def test_force_copies_whatever_the_state(kernel: Any) -> None:
    made = gt.storage(np.ones(3), device="gpu")
    made.host_to_device()
    kernel(made, 2.0)
    made.device_to_host()
    assert list(made.data_ro) == [1.0] * 3
    made.device_to_host(force=True)
    assert made.sync_state.state == CLEAN
    assert list(made.data_ro) == [2.0] * 3
    made.window(made.backing().host)[...] = 5.0
    made.host_to_device(force=True)
    made.device_to_host(force=True)
    assert list(made.data_ro) == [5.0] * 3
    for verb in (made.device_to_host, made.host_to_device):
        with pytest.raises(TypeError, match="positional"):
            verb(True)


@pytest.mark.spec("GDP-114", "GDP-115", "GDP-125")
@pytest.mark.usefixtures("device")
def test_the_next_access_to_the_other_side_copies(kernel: Any) -> None:
    made = gt.zeros((3,), device="gpu")
    kernel(made, 3.0)
    made.set_device_modified()
    assert made[0] == 3.0
    assert made.sync_state.state == CLEAN
    made[0] = 1.0
    assert made.sync_state.state == HOST
    with made.access("gpu") as array:
        assert array[0] == 1.0


@pytest.mark.spec("GDP-116")
@pytest.mark.usefixtures("device")
def test_set_synchronized_copies_nothing(kernel: Any) -> None:
    made = gt.storage(np.ones(3), device="gpu")
    made.window(made.backing().device)
    kernel(made, 8.0)
    made.set_synchronized()
    assert made.sync_state.state == CLEAN
    assert made.buffer.stats.count == 0
    with made.access("gpu") as array:
        assert array[0] == 8.0


@pytest.mark.spec("GDP-117")
@pytest.mark.usefixtures("device")
def test_synchronize_copies_in_the_direction_needed(kernel: Any) -> None:
    made = gt.storage(np.ones(3), device="gpu")
    made.synchronize()
    assert (made.sync_state.state, made.is_current("gpu")) == (CLEAN, True)
    kernel(made, 2.0)
    made.set_device_modified()
    made.synchronize()
    assert (made.sync_state.state, made.is_current()) == (CLEAN, True)
    assert made[0] == 2.0
    before = made.buffer.stats.count
    made.synchronize()
    assert made.buffer.stats.count == before == 2


@pytest.mark.spec("GDP-118")
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "keywords", [{}, {"device": "gpu", "managed": None}, {"device": "gpu", "managed": "cuda"}]
)
@pytest.mark.usefixtures("device")
def test_the_verbs_do_nothing_on_other_storages(keywords: Any, verb: str) -> None:
    made = gt.storage(np.array([1.0, 2.0]), **keywords)
    assert getattr(made, verb)() is None
    if verb.endswith(("host", "device")):
        assert getattr(made, verb)(force=True) is None
    assert made[1] == 2.0
    assert made.buffer.stats.count <= 1


@pytest.mark.spec("GDP-130", "GDP-131")
@pytest.mark.usefixtures("device")
def test_views_share_state_and_values(kernel: Any) -> None:
    made = gt.zeros((4, 4), device="gpu", halo=(1, 1))
    views = [made[1:], made[1:, 2], made.T, made.domain_view, np.transpose(made)]
    for view in views:
        assert view.sync_state is made.sync_state
    kernel(made.domain_view, 5.0)
    views[1].set_device_modified()
    assert made.sync_state.state == DEVICE
    assert views[0][0, 1] == 5.0
    assert made.sync_state.state == CLEAN


@pytest.mark.spec("GDP-132")
def test_the_three_states() -> None:
    assert len({CLEAN, HOST, DEVICE}) == 3
    state = SyncState()
    assert state.state == CLEAN
    state.state = HOST
    assert state.state == HOST
    with pytest.raises(ValueError, match="7"):
        state.state = 7


@pytest.mark.spec("GDP-132", "GDP-116")
@pytest.mark.usefixtures("device")
def test_setting_the_state_moves_the_valid_marks() -> None:
    made = gt.storage(np.ones(3), device="gpu")
    for value, sides in ((DEVICE, (False, True)), (HOST, (True, False)), (CLEAN, (True, True))):
        made.sync_state.state = value
        assert made.sync_state.state == value
        assert (made.is_current(), made.is_current("gpu")) == sides
    assert made.buffer.stats.count == 0


@pytest.mark.spec("GDP-133", "GDP-132")
@pytest.mark.usefixtures("device")
def test_an_array_that_leaves_counts_as_written() -> None:
    made = gt.zeros((3,), device="gpu")
    made.host_to_device()
    made.device_to_host()
    for leave, state in (
        (lambda: np.asarray(made), HOST),
        (made.to_cupy, DEVICE),
        (made.to_numpy, HOST),
        (lambda: made.device_data, DEVICE),
        (lambda: made.data, HOST),
        (lambda: made.__cuda_array_interface__, DEVICE),
        (lambda: made.__array_interface__, HOST),
    ):
        leave()
        assert made.sync_state.state == state
        made.synchronize()


@pytest.mark.usefixtures("device")
def test_looking_does_not_count_as_writing() -> None:
    made = gt.ones((3,), device="gpu")
    made.host_to_device()
    assert list(made.data_ro) == [1.0] * 3
    with made.access() as array:
        assert array.sum() == 3.0
    assert made.sync_state.state == CLEAN
    for array in (made.data_ro, gt.ones((3,)).data_ro):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2.0


@pytest.mark.usefixtures("device")
def test_strict_exports_are_read_only() -> None:
    for keywords in ({}, {"device": "gpu"}):
        made = gt.ones((3,), strict_exports=True, **keywords)
        for array in (made.to_numpy(), np.asarray(made)):
            assert not array.flags.writeable
        with made.access(mode=RDWR) as array:
            array[0] = 5.0
        assert made[0] == 5.0


@pytest.mark.usefixtures("device")
def test_data_wo_brings_nothing_to_the_host() -> None:
    made = gt.ones((3,), device="gpu")
    made.host_to_device()
    made.set_device_modified()
    made.data_wo[...] = 4.0
    assert (made.sync_state.state, made.buffer.stats.count) == (HOST, 0)
    made.host_to_device()
    made.set_device_modified()
    made[:2].data_wo[...] = 6.0
    assert list(made.data_ro) == [6.0, 6.0, 4.0]
    plain = gt.ones((3,))
    plain.data_wo[...] = 2.0
    assert plain[1] == 2.0


@pytest.mark.parametrize("side", [None, "gpu"])
@pytest.mark.usefixtures("device")
def test_the_three_ways_of_access(side: str | None) -> None:
    made = gt.ones((2, 2), device="gpu")
    with made.access(side, WRONLY) as array:
        array[...] = 2.0
    assert (made.buffer.stats.count, made.is_current(side)) == (0, True)
    other = "gpu" if side is None else None
    with made.access(other, RDONLY) as array:
        assert array.sum() == 8.0
    assert (made.buffer.stats.count, made.sync_state.state) == (1, CLEAN)
    with made.access(side, RDWR) as array:
        array[...] += 1.0
    assert (made.is_current(side), made.is_current(other)) == (True, False)
    assert made[1, 1] == 3.0


@pytest.mark.usefixtures("device")
def test_an_access_locks_out_the_other_side() -> None:
    made = gt.ones((2,), device="gpu", label="rho")
    with made.access("gpu", RDWR), pytest.raises(gt.StorageError, match=r'"rho" \(2 x float64\)'):
        _ = made[0]
    assert made[0] == 1.0


@pytest.mark.usefixtures("device")
def test_a_failed_write_is_remembered() -> None:
    made = gt.ones((2,), device="gpu", label="rho")
    with contextlib.suppress(ZeroDivisionError), made.access("gpu", RDWR):
        _ = 1 / 0
    with pytest.raises(PoisonedDataError, match="rho"):
        _ = made[0]
    made[...] = 3.0
    assert made[0] == 3.0


@pytest.mark.usefixtures("device")
def test_is_current_asks_without_copying() -> None:
    made = gt.storage(np.ones(2), device="gpu")
    assert (made.is_current(), made.is_current("gpu")) == (True, False)
    made.host_to_device()
    assert (made.is_current("cpu"), made.is_current("gpu")) == (True, True)
    assert made.is_current("host")
    assert gt.ones((2,)).is_current()
    with pytest.raises(gt.GTNoSuchBufferError, match="on a device"):
        gt.ones((2,)).is_current("gpu")


def test_a_state_names_itself() -> None:
    assert repr(SyncState()) == "<SyncState CLEAN>"
