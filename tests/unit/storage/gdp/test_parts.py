"""Tests of storages with chunks: only the affected chunks are copied, and no value is lost."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import psyclone_storage.storage as gt
from psyclone_storage.storage.core.spaces import host_space
from psyclone_storage.storage.core.stats import Direction

UP, DOWN = Direction.HOST_TO_DEVICE, Direction.DEVICE_TO_HOST
ROWS, COLUMNS = 12, 5
STRIP = COLUMNS * 8

pytestmark = pytest.mark.usefixtures("device")


def field(shape: tuple[int, int] = (ROWS, COLUMNS), **words: Any) -> Any:
    """Return a field with 3 chunks (rows 0, 1 to 10, 11) that is current on the device only."""
    values = np.arange(ROWS * COLUMNS, dtype=float).reshape(shape)
    made = gt.storage(values, device="gpu", chunks=(1, ROWS - 2, 1), **words)
    with made.access("gpu", "rw") as array:
        array[...] += 0.0
    made.buffer.stats.reset()
    return made


def on_host(array: Any) -> Any:
    """Return a kernel argument as a host array."""
    return array.get() if hasattr(array, "get") else array


def moved(made: Any) -> tuple[int, int]:
    """Return the bytes copied to the device and back since the last call."""
    stats = made.buffer.stats
    found = stats.of(UP).nbytes, stats.of(DOWN).nbytes
    stats.reset()
    return found


@pytest.mark.spec("ACC-4", "GDP-131")
@pytest.mark.parametrize("layout", [(0, 1), (1, 0)])
@pytest.mark.parametrize("alignment", [1, 64])
def test_an_exchange_of_halos_moves_strips_both_ways(layout: Any, alignment: int) -> None:
    rows = slice(None)
    shape = (ROWS, COLUMNS) if layout == (0, 1) else (COLUMNS, ROWS)
    made = field(shape, layout=layout, alignment_size=alignment)
    first, last = (0, -1) if layout == (0, 1) else ((rows, 0), (rows, -1))
    size = made.buffer.chunks.bounds[1] * 8
    expected = gt.storage(made, device=None).data_ro.copy()
    made.buffer.stats.reset()
    with made.access("gpu", "rw") as array:
        array[...] += 1.0
    assert moved(made) == (0, 0)
    expected += 1.0
    for edge in (first, last):
        assert made[edge].data_ro.tolist() == expected[edge].tolist()
    assert moved(made)[1] <= 2 * max(size, made.buffer.nbytes - made.buffer.chunks.bounds[2] * 8)
    assert made[first].is_current(None)
    assert not made.is_current(None)
    made[first] = 7.0
    made[last].data_wo[...] = 8.0
    expected[first], expected[last] = 7.0, 8.0
    assert moved(made) == (0, 0)
    made.make_valid("gpu", first)
    made.make_valid("gpu", last)
    up, down = moved(made)
    assert 0 < up < made.buffer.nbytes / 2
    assert down == 0
    assert made.is_current("gpu")
    assert gt.storage(made, device=None).data_ro.tolist() == expected.tolist()


@pytest.mark.spec("ACC-4")
def test_the_bytes_of_each_use() -> None:
    made = field()
    assert made[0].data_ro.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert moved(made) == (0, STRIP)
    assert made[11, 2] == 57.0
    assert moved(made) == (0, STRIP)
    with made.access(None, "r", region=slice(3, 5)) as array:
        assert array.tolist() == [[15.0, 16.0, 17.0, 18.0, 19.0], [20.0, 21.0, 22.0, 23.0, 24.0]]
    assert moved(made) == (0, (ROWS - 2) * STRIP)
    with made.access(None, "w", region=0) as array:
        array[...] = -1.0
    with gt.bound({"edge": made[0:1]}, device="gpu") as arrays:
        assert on_host(arrays["edge"]).tolist() == [[-1.0] * COLUMNS]
    assert moved(made) == (STRIP, 0)
    made[1:11, 2:3] = 4.0
    assert moved(made) == (0, 0)
    assert not made.is_current("gpu")
    with made.access("gpu", "r"):
        pass
    assert moved(made) == ((ROWS - 2) * STRIP, 0)


@pytest.mark.spec("ACC-31", "GDP-125")
def test_what_is_overwritten_in_part_keeps_the_rest() -> None:
    made = field()
    with made.access(None, "w", region=(slice(2, 4), slice(1, 3))) as array:
        array[...] = -1.0
    made[5] = -2.0
    made[[0, 7], 0] = -3.0
    made[3:3] = 9.0
    expected = np.arange(ROWS * COLUMNS, dtype=float).reshape(ROWS, COLUMNS)
    expected[2:4, 1:3], expected[5], expected[[0, 7], 0] = -1.0, -2.0, -3.0
    assert made.data_ro.tolist() == expected.tolist()


@pytest.mark.spec("ACC-39")
def test_two_chunks_may_be_written_at_two_places() -> None:
    made = field()
    with made[0].access(None, "rw") as low, made[11].access("gpu", "rw") as high:
        low[...] += 1.0
        high[...] += 1.0
    assert made.data_ro.sum() == sum(range(ROWS * COLUMNS)) + 2 * COLUMNS


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("chunks", [1, 3, 12, (2, 3, 7)])
def test_any_uses_of_any_parts_agree_with_an_array(chunks: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    expected = rng.random((ROWS, COLUMNS))
    made = gt.storage(expected, device="gpu", chunks=chunks)
    for _ in range(40):
        low, high = sorted(rng.integers(0, ROWS + 1, 2))
        left, right = sorted(rng.integers(0, COLUMNS + 1, 2))
        key = slice(low, high, int(rng.integers(1, 3))), slice(left, right)
        side = (None, "gpu")[rng.integers(2)]
        match rng.integers(4):
            case 0:
                with made.access(side, "r", region=key) as array:
                    assert np.array_equal(on_host(array), expected[key])
            case 1:
                with made.access(side, "rw", region=key) as array:
                    array[...] += 1.0
                expected[key] += 1.0
            case 2:
                value = rng.random()
                with made[key].access(side, "w") as array:
                    array[...] = value
                expected[key] = value
            case 3:
                made[key] = made[key][::-1]
                expected[key] = expected[key][::-1].copy()
    assert np.array_equal(made.data_ro, expected)


@pytest.mark.parametrize("region", [[0], "0", np.zeros((ROWS, COLUMNS), bool), (True, ...)])
def test_a_region_is_a_view(region: Any) -> None:
    made = field()
    with pytest.raises(TypeError, match="A region is a key of integers and slices"):
        made.make_valid(None, region)
    with pytest.raises(TypeError, match="A region is a key of integers and slices"):
        made.access(None, "r", region=region)


def test_what_exists_is_cut_as_it_is_wrapped() -> None:
    mine = np.zeros((4, 2))
    made = gt.as_storage(mine, device="gpu", chunks=4)
    with made.access("gpu", "rw", region=3) as array:
        array[...] = 1.0
    made.make_valid(None, 3)
    assert made.buffer.stats.of(DOWN).nbytes == 16
    made.close()
    assert mine.tolist() == [[0.0, 0.0]] * 3 + [[1.0, 1.0]]
    assert made.buffer.chunks.bounds == (0, 2, 4, 6, 8)
    for kind in ({}, {"device": "gpu", "managed": None}, {"device": "gpu", "managed": "cuda"}):
        cut = gt.ones((6, 3), chunks=3, **kind)
        assert cut.buffer.chunks.bounds[1:-1] == (6, 12)
        assert gt.storage(cut, device=None).data_ro.tolist() == [[1.0] * 3] * 6


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ({"chunks": 0}, "cannot be divided"),
        ({"chunks": 5}, "cannot be divided"),
        ({"chunks": (0, 4)}, "must be positive and add up to 4"),
        ({"chunks": (2, 1)}, "add up to 4, the extent of the slowest"),
        ({"chunks": (2, 3)}, "add up to 4"),
        ({"chunks": (5, -1)}, "must be positive"),
        ({"chunks": ()}, "add up to 4"),
    ],
)
def test_chunks_that_make_no_sense(words: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        gt.zeros((4, 2), device="gpu", **words)


def test_what_cannot_be_cut() -> None:
    for data in (np.zeros(4), gt.zeros((4,), device="gpu")):
        with pytest.raises(ValueError, match="cannot be cut in chunks"):
            gt.as_storage(data, chunks=2)
    with pytest.raises(ValueError, match="runs backwards"):
        gt.as_storage(np.zeros(4)[::-1], device="gpu", chunks=2)
    with pytest.raises(ValueError, match="move as one"):
        gt.stacked({"a": (4,), "b": (4,)}, chunks=2)
    with pytest.raises(TypeError):
        gt.zeros((4,), device="gpu", chunks=1.5)


def mixed(borrowed: Any, **words: Any) -> Any:
    """Return a field in two chunks, the first current on the host, the second on the device."""
    made = gt.as_storage(borrowed, device="gpu", chunks=2, **words)
    with made.access("gpu", "rw", region=slice(4, 8)) as array:
        array[...] = 5.0
    return made


@pytest.mark.spec("GDP-117", "GDP-132")
def test_sides_that_are_current_in_part_are_not_in_step() -> None:
    borrowed = np.zeros(8)
    made = mixed(borrowed)
    assert made.sync_state.state == gt.SyncState.SYNC_DEVICE_DIRTY
    made.synchronize()
    assert made.is_current(None)
    assert made.is_current("gpu")
    assert made.sync_state.state == gt.SyncState.SYNC_CLEAN
    assert borrowed.tolist() == [0.0] * 4 + [5.0] * 4


@pytest.mark.spec("GDP-52")
def test_what_is_current_on_the_device_in_part_is_written_back() -> None:
    borrowed = np.zeros(8)
    made = mixed(borrowed)
    del made
    gc.collect()
    assert borrowed.tolist() == [0.0] * 4 + [5.0] * 4


@pytest.mark.spec("GDP-112", "GDP-113")
def test_force_takes_what_a_side_held_and_leaves_what_it_never_had() -> None:
    """Chunk 0 is newer on the host, chunk 1 on the device; chunk 2 was never on the device."""
    made = gt.storage(np.ones((ROWS, COLUMNS)), device="gpu", chunks=(1, ROWS - 2, 1))
    with made[:-1].access("gpu", "rw") as array:
        array[...] += 1.0
    made[0] = 7.0
    made.device_to_host(force=True)
    values = made.data_ro
    assert (values[1:-1] == 2.0).all()
    assert (values[-1] == 1.0).all()
    assert not (values[0] == 7.0).any()
    made[0] = 7.0
    made[-1] = 8.0
    with made[1:-1].access("gpu", "rw") as array:
        array[...] += 1.0
    made.host_to_device(force=True)
    with made.access("gpu") as array:
        found = on_host(array)
        assert (found[0] == 7.0).all()
        assert (found[-1] == 8.0).all()


@pytest.mark.spec("GDP-112")
def test_force_brings_parts_of_a_field_that_has_no_values_elsewhere() -> None:
    made = gt.empty((ROWS, COLUMNS), device="gpu", chunks=(1, ROWS - 2, 1))
    with made[0].access("gpu", "w") as array:
        array[...] = 4.0
    made[0].window(host_space())[...] = 5.0
    made.buffer.replicas.validity.add(host_space().bit, [0])
    made.device_to_host(force=True)
    assert (made[0].data_ro == 4.0).all()
