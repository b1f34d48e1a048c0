"""Tests of buffers: validity, transfers, initial values, chunks, poisoned data and hints."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer, DirtySide
from psyclone_storage.storage.core.chunks import ChunkLayout, row_blocks
from psyclone_storage.storage.core.errors import (
    AccessConflictError,
    AccessReleasedError,
    ConstBufferError,
    PoisonedDataError,
)
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.spaces import (
    MemorySpace,
    device_space,
    host_space,
    managed_space,
    memory_space,
    pinned_space,
)
from psyclone_storage.storage.core.stats import GLOBAL_STATS, Direction, TransferEvent
from psyclone_storage.storage.core.token import AccessRequest
from psyclone_storage.storage.core.validity import ReplicaState
from psyclone_storage.storage.memory.registry import host_memory

READ, WRITE_ONLY, READ_WRITE = AccessMode.READ, AccessMode.WRITE_ONLY, AccessMode.READ_WRITE
HOST, GPU, GPU1 = "host", "gpu", "gpu:1"


def table(buffer: CoherentBuffer) -> dict[str, tuple[int, bool]]:
    """Return capacity and valid flag of each replica by memory space."""
    return {state.space.tag: (state.capacity, state.valid) for state in buffer.incarnations()}


def on_host(size: int = 1024, **options: object) -> CoherentBuffer:
    """Return a buffer that holds 0, 1, 2 ... on the host only."""
    buffer = CoherentBuffer(size, "f8", BufferOptions(label="p", **options))
    with buffer.acquire(HOST, WRITE_ONLY) as access:
        access.array[:] = np.arange(size)
    return buffer


def values(buffer: CoherentBuffer, space: str = HOST) -> np.ndarray:
    with buffer.acquire(space) as access:
        return access.kernel_array.copy()


def moved(buffer: CoherentBuffer) -> dict[Direction, tuple[int, int]]:
    sums = {way: buffer.stats.of(way) for way in Direction}
    return {way: (tally.count, tally.nbytes) for way, tally in sums.items() if tally.count}


@pytest.mark.spec("HM-44", "HM-3", "ACC-1", "HM-41")
def test_a_new_buffer_has_a_size_and_nothing_else() -> None:
    buffer = CoherentBuffer(1024, "f8")
    assert (buffer.size, buffer.itemsize, buffer.nbytes) == (1024, 8, 8192)
    assert table(buffer) == {}
    assert not buffer.is_initialised()
    assert buffer.point_of_truth() == (host_space(),)


@pytest.mark.spec("HM-45", "HM-46", "HM-81")
def test_a_first_touch_is_an_incarnation_without_values() -> None:
    touched = Hints(first_touch=host_space())
    assert table(CoherentBuffer(0, "f8", BufferOptions(hints=touched))) == {"node:0": (0, False)}
    allocated = Hints(first_touch=host_space(), delayed=False)
    assert table(CoherentBuffer(1024, "f8", BufferOptions(hints=allocated))) == {
        "node:0": (8192, False)
    }


@pytest.mark.spec("HM-47", "HM-43")
def test_an_initial_value_is_set_on_the_side_that_is_touched_first() -> None:
    buffer = CoherentBuffer(1024, "f8", BufferOptions(init=1.0))
    assert (values(buffer, GPU) == 1.0).all()
    assert table(buffer) == {"node:0:device:0": (8192, True)}
    assert moved(buffer) == {}
    assert buffer.version == 0


@pytest.mark.spec("HM-52", "HM-48", "HM-4")
def test_a_read_copies_and_keeps_both_valid() -> None:
    buffer = on_host()
    assert values(buffer, GPU)[1023] == 1023
    assert table(buffer) == {"node:0": (8192, True), "node:0:device:0": (8192, True)}
    assert moved(buffer) == {Direction.HOST_TO_DEVICE: (1, 8192)}
    values(buffer, GPU)
    assert buffer.stats.count == 1


@pytest.mark.spec("HM-53", "GDP-125", "ACC-3")
def test_a_write_copies_and_invalidates_the_others_at_once() -> None:
    buffer = on_host()
    with buffer.acquire(GPU, READ_WRITE) as access:
        assert table(buffer) == {"node:0": (8192, False), "node:0:device:0": (8192, True)}
        access.kernel_array[0] = 7
    assert values(buffer)[:2].tolist() == [7, 1]


@pytest.mark.spec("HM-54", "ACC-31")
def test_a_write_only_access_copies_nothing() -> None:
    buffer = on_host()
    with buffer.acquire(GPU, WRITE_ONLY) as access:
        assert np.isnan(access.kernel_array).all()
        access.kernel_array[:] = 5
    assert table(buffer) == {"node:0": (8192, False), "node:0:device:0": (8192, True)}
    assert moved(buffer) == {}
    assert (values(buffer) == 5).all()


@pytest.mark.spec("HM-59", "GDP-133")
def test_uninitialised_is_not_stale_and_never_moves() -> None:
    buffer = CoherentBuffer(8, "f8")
    buffer.make_valid(HOST)
    buffer.make_valid(GPU)
    assert moved(buffer) == {}
    assert {s.freshness for s in buffer.incarnations()} == {(ReplicaState.UNINITIALISED,)}
    buffer.touch(GPU)
    states = {s.space.tag: s.freshness[0] for s in buffer.incarnations()}
    assert states == {"node:0": ReplicaState.UNINITIALISED, "node:0:device:0": ReplicaState.VALID}
    buffer.make_valid(HOST)
    buffer.touch(HOST)
    states = {s.space.tag: s.freshness[0] for s in buffer.incarnations()}
    assert states == {"node:0": ReplicaState.VALID, "node:0:device:0": ReplicaState.STALE}


def test_a_stale_device_replica_is_poisoned_but_foreign_memory_is_not() -> None:
    buffer = on_host(4)
    with buffer.acquire(GPU) as access:
        pages = access.kernel_array
    buffer.touch(HOST)
    assert np.isnan(pages).all()
    data = np.arange(4.0)
    wrapped = CoherentBuffer(4, "f8")
    wrapped.adopt(host_memory().adopt(data)[0])
    wrapped.touch(GPU)
    assert data.tolist() == [0, 1, 2, 3]


@pytest.mark.spec("GDP-132", "GDP-112", "GDP-113", "GDP-114", "GDP-115", "GDP-116", "GDP-117")
def test_the_dirty_side_follows_the_valid_bits() -> None:
    buffer = on_host(4)
    assert buffer.dirty_side() is DirtySide.HOST
    buffer.make_valid(GPU)
    assert buffer.dirty_side() is DirtySide.NONE
    buffer.touch(GPU)
    assert buffer.dirty_side() is DirtySide.DEVICE
    buffer.make_valid(GPU)
    assert buffer.dirty_side() is DirtySide.DEVICE
    before = buffer.stats.count
    buffer.assume_valid([HOST, GPU])
    assert buffer.dirty_side() is DirtySide.NONE
    buffer.assume_valid([HOST])
    assert buffer.dirty_side() is DirtySide.HOST
    assert buffer.stats.count == before
    assert CoherentBuffer(3).dirty_side() is DirtySide.NONE


def test_the_point_of_truth_is_where_values_are_current() -> None:
    buffer = on_host()
    with buffer.acquire(GPU, READ_WRITE):
        pass
    assert buffer.point_of_truth() == (device_space(),)
    buffer.assume_valid([HOST])
    assert buffer.point_of_truth() == (host_space(),)


@pytest.mark.spec("ACC-2", "ACC-24", "ACC-25", "ACC-12")
def test_the_point_of_truth_and_the_version_move_with_writes_only() -> None:
    buffer = on_host(4)
    assert (buffer.version, buffer.point_of_truth()) == (1, (host_space(),))
    values(buffer, GPU)
    assert (buffer.version, buffer.point_of_truth()) == (1, (host_space(),))
    access = buffer.acquire(GPU, READ_WRITE)
    assert buffer.version == 1
    access.release()
    assert (buffer.version, buffer.point_of_truth()) == (2, (device_space(0),))


def test_data_go_between_devices_via_the_host_but_count_once() -> None:
    buffer = on_host(16)
    buffer.touch(HOST)
    with buffer.acquire(GPU, READ_WRITE) as access:
        access.kernel_array[:] += 1
    assert values(buffer, GPU1)[3] == 4
    assert moved(buffer)[Direction.DEVICE_TO_DEVICE] == (1, 128)
    assert not buffer.is_valid(HOST)


def test_callbacks_see_each_transfer_until_removed() -> None:
    buffer, seen = on_host(4), []
    everything: list[TransferEvent] = []
    remove = buffer.stats.add_callback(seen.append)
    stop = GLOBAL_STATS.add_callback(everything.append)
    values(buffer, GPU)
    remove()
    buffer.touch(GPU)
    values(buffer)
    stop()
    assert [(e.label, e.source.tag, e.target.tag, e.nbytes) for e in seen] == [
        ("p", "node:0", "node:0:device:0", 32)
    ]
    assert [e.direction for e in everything] == [Direction.HOST_TO_DEVICE, Direction.DEVICE_TO_HOST]
    buffer.stats.reset()
    assert (buffer.stats.count, buffer.stats.nbytes) == (0, 0)


@pytest.mark.spec("HM-49", "HM-50", "HM-51")
def test_an_access_ends_once_and_its_memory_is_gone() -> None:
    buffer = on_host(4)
    access = buffer.acquire(HOST)
    assert access.pointer == access.array.__array_interface__["data"][0]
    assert not access.array.flags.writeable
    access.release()
    for use in (lambda: access.pointer, lambda: access.array, access.release):
        with pytest.raises(AccessReleasedError, match=r'"p" \(4 x float64\) at node:0'):
            use()


def test_a_window_has_the_shape_that_one_asks_for() -> None:
    with on_host(24).acquire(HOST) as access:
        window = access.window("f8", (2, 3), (8, 32), 40)
        assert window[1, 2] == (40 + 8 + 64) // 8


@pytest.mark.spec("HM-41", "GDP-12")
def test_const_data_cannot_be_written() -> None:
    const = CoherentBuffer(4, "f8", BufferOptions(label="c", init=2.0, const=True))
    assert values(const, GPU).tolist() == [2.0] * 4
    for mode in (WRITE_ONLY, READ_WRITE):
        with pytest.raises(ConstBufferError, match=r'"c" .* the buffer is const'):
            const.acquire(HOST, mode)
    with pytest.raises(ConstBufferError):
        const.open(GPU, READ_WRITE).result()
    data = np.arange(4.0)
    data.flags.writeable = False
    wrapped = CoherentBuffer(4, "f8")
    wrapped.adopt(host_memory().adopt(data)[0])
    with pytest.raises(ConstBufferError, match="memory is read-only"):
        wrapped.acquire(HOST, READ_WRITE)
    assert values(wrapped, GPU).tolist() == [0, 1, 2, 3]
    for _ in range(2):
        # Once its values have been read, an access to write must not take the fast path.
        wrapped.acquire(HOST, READ).release()
        with pytest.raises(ConstBufferError, match="memory is read-only"):
            wrapped.acquire(HOST, READ_WRITE)
    wrapped.touch(GPU)
    with pytest.raises(ConstBufferError, match="newer values than its memory at node:0"):
        wrapped.make_valid(HOST)
    with pytest.raises(ConstBufferError, match="newer values"):
        wrapped.prefetch(HOST).result(60)
    assert not wrapped.table.holders


def fail_in(buffer: CoherentBuffer, space: str, mode: AccessMode) -> None:
    with pytest.raises(ZeroDivisionError), buffer.acquire(space, mode):
        1 / 0  # noqa: B018


@pytest.mark.spec("ACC-40")
def test_a_failed_write_poisons_until_everything_is_written_anew() -> None:
    buffer = on_host(4)
    fail_in(buffer, HOST, READ)
    assert buffer.poisoned is None
    fail_in(buffer, GPU, READ_WRITE)
    assert isinstance(buffer.poisoned, ZeroDivisionError)
    assert not buffer.is_valid(HOST)
    with pytest.raises(PoisonedDataError, match=r'"p" .* failed') as caught:
        buffer.acquire(HOST)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(PoisonedDataError):
        buffer.open(HOST).result()
    with pytest.raises(PoisonedDataError):
        buffer.prefetch(HOST).result()
    with buffer.acquire(HOST, READ, Policy.AUTO, AccessRequest(ignore_failed=True)) as access:
        assert access.array.tolist() == [0, 1, 2, 3]
    fail_in(buffer, HOST, WRITE_ONLY)
    assert buffer.poisoned is not None
    buffer.acquire(HOST, WRITE_ONLY, Policy.AUTO, AccessRequest(region=(0, 2))).release()
    assert buffer.poisoned is not None
    buffer.touch(HOST)
    assert buffer.poisoned is None
    values(buffer, GPU)


# -- chunks ------------------------------------------------------------------------------------


@pytest.mark.spec("ACC-27", "ACC-9")
def test_row_blocks_are_a_pure_function() -> None:
    assert row_blocks(10, 3, 4) == ChunkLayout((0, 9, 18, 24, 30))
    assert row_blocks(4, 2, 4).bounds == (0, 2, 4, 6, 8)
    assert row_blocks(0, 2, 1).bounds == (0, 0)
    with pytest.raises(ValueError, match="3 rows cannot be divided into 4"):
        row_blocks(3, 1, 4)
    with pytest.raises(ValueError, match="ascend"):
        ChunkLayout((0, 5, 4))
    with pytest.raises(ValueError, match="chunks hold 30 elements"):
        CoherentBuffer(31, "f8", BufferOptions(chunks=row_blocks(10, 3, 4)))


def test_which_chunks_a_region_touches() -> None:
    layout = ChunkLayout((0, 4, 8, 12))
    assert layout.touched_by((0, 12)) == (0, 3)
    assert layout.touched_by((3, 5)) == (0, 2)
    assert layout.touched_by((4, 8)) == (1, 2)
    assert layout.touched_by((5, 5)) == (0, 0)
    with pytest.raises(IndexError, match="3:13 do not lie in a buffer of 12"):
        layout.touched_by((3, 13))


def chunked(**options: object) -> CoherentBuffer:
    return on_host(12, chunks=row_blocks(3, 4, 3), **options)


def part(region: tuple[int, int]) -> AccessRequest:
    return AccessRequest(region=region)


@pytest.mark.spec("ACC-4", "ACC-30", "ACC-32")
def test_only_the_chunks_that_are_read_move() -> None:
    buffer = chunked()
    with buffer.acquire(GPU, READ, Policy.AUTO, part((4, 7))) as access:
        assert access.kernel_array[4:8].tolist() == [4, 5, 6, 7]
        assert np.isnan(access.kernel_array[[0, 11]]).all()
    assert moved(buffer) == {Direction.HOST_TO_DEVICE: (1, 32)}
    assert buffer.is_valid(GPU, (4, 8))
    assert not buffer.is_valid(GPU)
    buffer.make_valid(GPU, (0, 6))
    assert moved(buffer) == {Direction.HOST_TO_DEVICE: (2, 64)}


@pytest.mark.spec("ACC-4")
def test_the_truth_may_be_spread_over_spaces() -> None:
    buffer = chunked()
    for space, region in ((GPU, (0, 4)), (GPU1, (8, 12))):
        with buffer.acquire(space, READ_WRITE, Policy.AUTO, part(region)) as access:
            access.kernel_array[slice(*region)] *= 10
    assert buffer.point_of_truth() == (device_space(0), host_space(), device_space(1))
    assert values(buffer).tolist() == [0, 10, 20, 30, 4, 5, 6, 7, 80, 90, 100, 110]
    assert moved(buffer)[Direction.DEVICE_TO_HOST] == (2, 64)


@pytest.mark.spec("ACC-24")
def test_a_write_of_everything_gathers_the_truth() -> None:
    buffer = chunked()
    buffer.acquire(GPU, READ_WRITE, Policy.AUTO, part((0, 4))).release()
    buffer.acquire(GPU, READ_WRITE).release()
    values(buffer)
    assert buffer.point_of_truth() == (device_space(0),) * 3


@pytest.mark.parametrize(
    ("region", "copied"), [((0, 12), 0), ((4, 8), 0), ((4, 9), 1), ((5, 8), 1), ((2, 10), 2)]
)
def test_a_write_only_region_keeps_what_it_does_not_cover(
    region: tuple[int, int], copied: int
) -> None:
    buffer = chunked()
    expected = np.arange(12.0)
    expected[slice(*region)] = -1
    with buffer.acquire(GPU, WRITE_ONLY, Policy.AUTO, part(region)) as access:
        access.kernel_array[slice(*region)] = -1
    assert buffer.stats.of(Direction.HOST_TO_DEVICE).count == copied
    np.testing.assert_array_equal(values(buffer), expected)


def test_an_empty_region_moves_and_invalidates_nothing() -> None:
    buffer = chunked()
    for mode in (READ, WRITE_ONLY, READ_WRITE):
        buffer.acquire(GPU, mode, Policy.AUTO, part((4, 4))).release()
    assert moved(buffer) == {}
    assert buffer.is_valid(HOST)


# -- hints -------------------------------------------------------------------------------------


@pytest.mark.spec("ACC-6", "ACC-28")
def test_a_preferred_space_pulls_the_truth_in() -> None:
    buffer = CoherentBuffer(4, "f8", BufferOptions(hints=Hints(preferred=(device_space(1),))))
    assert buffer.point_of_truth() == (device_space(1),)
    token = buffer.acquire(HOST, WRITE_ONLY)
    token.array[:] = 3.0
    buffer.close(token).result(60)
    assert buffer.point_of_truth() == (device_space(1),)
    assert buffer.is_valid(GPU1)


@pytest.mark.spec("ACC-6")
def test_preferred_spaces_share_the_chunks_out() -> None:
    buffer = chunked(hints=Hints(preferred=(device_space(0), device_space(1))))
    assert buffer.point_of_truth() == (device_space(0), device_space(0), device_space(1))


@pytest.mark.spec("ACC-5", "ACC-7")
@pytest.mark.parametrize(
    "hints", [Hints(read_mostly=True), Hints(access_via=device_space(0))], ids=str
)
def test_copies_are_kept_up_to_date(hints: Hints) -> None:
    buffer = on_host(4, hints=hints)
    values(buffer, GPU)
    buffer.touch(HOST)
    buffer.wait()
    assert buffer.is_valid(GPU)


@pytest.mark.spec("HM-79", "HM-80", "HM-82")
@pytest.mark.parametrize(
    ("hints", "space"),
    [
        (Hints(), host_space()),
        (Hints(pinned=True), pinned_space()),
        (Hints(first_touch=device_space(0)), pinned_space()),
        (Hints(first_touch=host_space()), host_space()),
        (Hints(managed=True), managed_space()),
    ],
    ids=str,
)
def test_the_memory_of_the_host_replica_is_chosen_once(hints: Hints, space: MemorySpace) -> None:
    buffer = on_host(4, hints=hints)
    assert buffer.point_of_truth() == (space,)
    values(buffer, GPU)
    buffer.touch(HOST)
    assert buffer.point_of_truth() == (space,)


@pytest.mark.spec("HM-86")
def test_pinned_memory_serves_host_and_device_without_a_copy() -> None:
    buffer = on_host(4, hints=Hints(pinned=True))
    with buffer.acquire(memory_space("pinned"), READ_WRITE) as access:
        access.kernel_array[:] += 1
    with buffer.acquire(HOST, READ_WRITE) as access:
        assert access.array.tolist() == [1, 2, 3, 4]
    assert moved(buffer) == {}


@pytest.mark.spec("GDP-128")
def test_managed_memory_serves_all_without_a_copy() -> None:
    buffer = on_host(4, hints=Hints(managed=True))
    with buffer.acquire(GPU, READ_WRITE) as access:
        assert type(access.array).__name__ == "EmulatedDeviceArray"
        access.kernel_array[:] += 1
    assert values(buffer, GPU1).tolist() == [1, 2, 3, 4]
    assert values(buffer).tolist() == [1, 2, 3, 4]
    assert moved(buffer) == {}
    assert buffer.dirty_side() is DirtySide.NONE


def test_memory_goes_back_without_the_garbage_collector() -> None:
    gc.disable()
    try:
        buffer = on_host(4096)
        values(buffer, GPU)
        buffer.prefetch(GPU1).result(60)
        gone = weakref.ref(buffer)
        in_use = host_memory().use.in_use
        del buffer
        assert gone() is None
        assert host_memory().use.in_use <= in_use - 4096 * 8
    finally:
        gc.enable()


@pytest.mark.parametrize("size", [0, 1])
def test_the_smallest_buffers_work(size: int) -> None:
    buffer = on_host(size)
    assert values(buffer, GPU).tolist() == [0] * size
    buffer.touch(GPU)
    assert values(buffer).tolist() == [0] * size
    assert buffer.stats.count == 2 * size


def test_negative_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="-1 elements"):
        CoherentBuffer(-1)


def refuse_in(buffer: CoherentBuffer, space: str, mode: AccessMode) -> None:
    with pytest.raises(AccessConflictError), buffer.acquire(space, mode):
        raise AccessConflictError("refused")


@pytest.mark.spec("ACC-40")
def test_a_refusal_cures_nothing() -> None:
    buffer = on_host(4)
    fail_in(buffer, GPU, READ_WRITE)
    refuse_in(buffer, HOST, WRITE_ONLY)
    assert buffer.poisoned is not None


@pytest.mark.spec("ACC-40")
def test_a_refusal_spoils_only_what_was_given_up() -> None:
    buffer = on_host(4)
    refuse_in(buffer, GPU, READ_WRITE)
    assert buffer.poisoned is None
    refuse_in(buffer, GPU, WRITE_ONLY)
    with pytest.raises(PoisonedDataError):
        buffer.acquire(HOST)
