"""Tests that rejected operations change nothing, and that data of failed writes are unusable."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import psyclone_storage.storage as gt
from psyclone_storage.storage.accessors import DeviceAccessor, GpuTask, HostAccessor
from psyclone_storage.storage.core.errors import ConstBufferError, PoisonedDataError
from psyclone_storage.storage.core.locks import MODE_WORDS, AccessMode
from psyclone_storage.storage.gdp import assignment
from psyclone_storage.storage.hmemo import Context, LArray
from psyclone_storage.storage.kokkos import View

EVERYWHERE: list[dict[str, Any]] = [
    {},
    {"device": "gpu"},
    {"device": "gpu", "managed": None},
    {"device": "gpu", "managed": "cuda"},
]


def filled(dtype: str = "i4", **where: Any) -> Any:
    """Return a storage with the values 1, 2, 3, 4, current on its device only, if it has one."""
    made = gt.storage(np.arange(1, 5), dtype=dtype, **where)
    if where.get("device") and where.get("managed", "gt4py") == "gt4py":
        with made.access("gpu", "rw"):
            pass
        assert not made.is_current(None)
    return made


def values(storage: Any) -> list[Any]:
    found: list[Any] = gt.storage(storage, device=None).data_ro.tolist()
    return found


# -- a refused assignment ------------------------------------------------------------------------


@pytest.mark.spec("GDP-106", "GDP-125")
@pytest.mark.parametrize("where", EVERYWHERE, ids=str)
@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        (..., 1 << 40, OverflowError),
        (slice(None), "many", ValueError),
        (..., [1, 2, "x", 4], ValueError),
        (..., [1, 2, 3], ValueError),
        (slice(1, 3), [1, 2, 3], ValueError),
        (..., np.ones((2, 4)), ValueError),
        (9, 1, IndexError),
        ([1, 9], 1, IndexError),
        (..., object(), TypeError),
        (..., None, TypeError),
        (0, [1, 2], ValueError),
        (0, 1 << 40, OverflowError),
        ([0, 1], [1, 2, 3], ValueError),
        ((0, 0), 1, IndexError),
    ],
)
@pytest.mark.usefixtures("device")
def test_a_refused_assignment_changes_nothing(
    where: dict[str, Any], key: Any, value: Any, error: type[Exception]
) -> None:
    made = filled(**where)
    version = made.buffer.version
    with pytest.raises(error):
        made[key] = value
    assert made.buffer.poisoned is None
    assert made.buffer.version == version
    assert made.buffer.table.holders == []
    assert values(made) == [1, 2, 3, 4]


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("bad", ["many", None, 1 << 40], ids=str)
def test_other_faces_refuse_before_they_write(bad: Any) -> None:
    array = LArray(3, Context.getContextPtr(Context.CUDA, 0), 5, dtype="i4")
    with pytest.raises((OverflowError, TypeError, ValueError)):
        array[1] = bad
    assert [int(array[index]) for index in range(3)] == [5, 5, 5]
    view = View["int*"]("v", 3)
    view[0] = 5
    with pytest.raises((OverflowError, TypeError, ValueError)):
        view[0] = bad
    assert view[0] == 5


@pytest.mark.spec("GDP-106", "GDP-119")
@pytest.mark.parametrize("where", EVERYWHERE, ids=str)
@pytest.mark.parametrize(
    ("key", "value", "result"),
    [
        (..., 7, [7, 7, 7, 7]),
        (..., 7.9, [7, 7, 7, 7]),
        (..., [5, 6, 7, 8], [5, 6, 7, 8]),
        (..., np.ones((1, 4)), [1, 1, 1, 1]),
        (slice(1, 3), [8, 9], [1, 8, 9, 4]),
        ([0, 3], 0, [0, 2, 3, 0]),
        (2, np.float64(6.5), [1, 2, 6, 4]),
        (np.array([True, False, False, True]), [5, 6], [5, 2, 3, 6]),
        ((..., None), np.zeros((4, 1)), [0, 0, 0, 0]),
        (slice(2, 2), 5, [1, 2, 3, 4]),
        (slice(2, 4), [True, 2.5], [1, 2, 1, 2]),
        ([2], np.int64(9), [1, 2, 9, 4]),
    ],
)
@pytest.mark.usefixtures("device")
def test_what_fits_is_assigned(where: dict[str, Any], key: Any, value: Any, result: Any) -> None:
    made = filled(**where)
    made[key] = value
    assert values(made) == result


@pytest.mark.parametrize("where", EVERYWHERE, ids=str)
@pytest.mark.parametrize("other", EVERYWHERE, ids=str)
@pytest.mark.usefixtures("device")
def test_storages_are_assigned_to_storages(where: dict[str, Any], other: dict[str, Any]) -> None:
    made, source = filled("f8", **where), filled(**other)
    made[...] = source[::-1]
    assert values(made) == [4, 3, 2, 1]
    made[1:] = made[:-1]
    assert values(made) == [4, 4, 3, 2]
    made[...] = made
    assert values(made) == [4, 4, 3, 2]
    assert made.buffer.table.holders == source.buffer.table.holders == []


@pytest.mark.spec("GDP-125")
@pytest.mark.usefixtures("device")
def test_a_write_that_breaks_off_half_way_is_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    made = filled(device="gpu")

    class Broken:
        def __setitem__(self, key: Any, value: Any) -> None:
            raise MemoryError("half way")

    monkeypatch.setattr(type(made), "window", lambda *_: Broken())
    with pytest.raises(MemoryError):
        made[...] = 7
    monkeypatch.undo()
    with pytest.raises(PoisonedDataError):
        made[0]
    made[...] = 8
    assert values(made) == [8] * 4


# -- modes ---------------------------------------------------------------------------------------


@pytest.mark.spec("ACC-30")
@pytest.mark.parametrize("where", EVERYWHERE, ids=str)
@pytest.mark.parametrize("word", [*MODE_WORDS, *AccessMode])
@pytest.mark.usefixtures("device")
def test_every_door_knows_every_word_for_a_mode(where: dict[str, Any], word: Any) -> None:
    made = filled(**where)
    mode = MODE_WORDS.get(word, word)
    assert DeviceAccessor(gt.zeros((4,), **where), mode=word).mode is mode
    with made.access(made.device, word):
        assert [held.mode for held in made.buffer.table.holders] == [mode]
    task = GpuTask("any").register(made, mode=word)
    with pytest.raises(ValueError, match=r"'r'.*'RDWR'"):
        made.access(made.device, "readwrite")
    with pytest.raises(ValueError, match=r"'r'.*'RDWR'"):
        task.register(made, mode="readwrite")
    with pytest.raises(TypeError, match="neither an AccessMode"):
        made.access(made.device, 3)


# -- failures ------------------------------------------------------------------------------------


@pytest.mark.spec("ACC-40")
@pytest.mark.parametrize("where", EVERYWHERE, ids=str)
@pytest.mark.parametrize("door", ["access", "bound"])
@pytest.mark.usefixtures("device")
def test_a_failed_block_leaves_the_same_everywhere(where: dict[str, Any], door: str) -> None:
    made = filled(**where)
    block = (
        made.access(made.device, "rw")
        if door == "access"
        else gt.bound({"made": made}, device=made.device, writes=["made"])
    )
    with pytest.raises(ZeroDivisionError), block:
        _ = 1 / 0
    for use in (lambda: made[0], lambda: made.__setitem__(0, 1), lambda: gt.storage(made)):
        with pytest.raises(PoisonedDataError):
            use()
    with pytest.raises(PoisonedDataError):
        made.access(made.device, "rw").__enter__()
    made[...] = 9
    assert values(made) == [9] * 4


@pytest.mark.spec("ACC-40")
@pytest.mark.parametrize("where", EVERYWHERE, ids=str)
@pytest.mark.parametrize("healing", range(4))
@pytest.mark.usefixtures("device")
def test_every_door_can_write_all_of_it_anew(where: dict[str, Any], healing: int) -> None:
    made = filled("f8", **where)
    with pytest.raises(ZeroDivisionError), made.access(made.device, "rw"):
        _ = 1 / 0
    accessor = HostAccessor(made)
    for use in (lambda: accessor[0], lambda: accessor.__setitem__(0, 1.0)):
        with pytest.raises(PoisonedDataError):
            use()
    match healing:
        case 0:
            accessor[...] = 5.0
        case 1:
            accessor[:] = [5.0] * 4
        case 2:
            with DeviceAccessor(made, mode=AccessMode.WRITE_ONLY) as opened:
                opened.kernel_array[...] = 5.0
        case 3:
            GpuTask("anew").register(made, mode="WRONLY").run(lambda a: a.__setitem__(..., 5.0))
    assert values(made) == [5.0] * 4


@pytest.mark.spec("ACC-11")
def test_an_accessor_refuses_before_it_writes() -> None:
    made = filled()
    accessor = HostAccessor(made)
    for key, value, error in (
        (..., 1 << 40, OverflowError),
        (..., [1, 2], ValueError),
        (9, 0, IndexError),
    ):
        with pytest.raises(error):
            accessor[key] = value
    assert made.buffer.poisoned is None
    assert values(made) == [1, 2, 3, 4]


# -- memory that may not be written --------------------------------------------------------------


@pytest.mark.spec("GDP-12")
def test_what_is_read_only_on_the_host_is_so_on_the_device(device: str) -> None:
    constant = np.ones(3)
    constant.flags.writeable = False
    wrapped = gt.as_storage(constant, device="gpu")
    assert wrapped.to_cupy().get().tolist() == [1.0] * 3
    for write in (
        lambda: wrapped.access("gpu", "rw").__enter__(),
        lambda: wrapped.access("gpu", "w").__enter__(),
        lambda: gt.bound({"x": wrapped}, device="gpu", writes=["x"]).__enter__(),
        wrapped.set_device_modified,
        lambda: wrapped.__setitem__(..., gt.zeros((3,), device="gpu")),
        lambda: GpuTask("writes").register(wrapped, mode="w").run(lambda a: a.fill(0.0)),
    ):
        with pytest.raises(ConstBufferError, match="read-only at node:0"):
            write()
    assert wrapped.__cuda_array_interface__["data"][1] is True
    assert wrapped.__gt_data_interface__["gpu"]["data"][1] is True
    if device == "emulated":  # arrays of CuPy cannot be read-only
        with pytest.raises(ValueError, match="read-only"):
            wrapped.to_cupy().fill(0.0)
    wrapped.close()
    assert wrapped.data_ro.tolist() == [1.0] * 3


# -- equality ------------------------------------------------------------------------------------


@pytest.mark.spec("GDP-2")
@pytest.mark.parametrize("where", EVERYWHERE, ids=str)
@pytest.mark.parametrize("other", EVERYWHERE, ids=str)
@pytest.mark.usefixtures("device")
def test_storages_are_compared_by_value(where: dict[str, Any], other: dict[str, Any]) -> None:
    mine, theirs = filled(**where), filled("f8", **other)
    assert (mine == theirs).tolist() == [True] * 4
    assert (mine != theirs).tolist() == [False] * 4
    assert (mine == 2).tolist() == [False, True, False, False]
    assert (np.arange(1, 5) == mine).all()
    assert np.array_equal(mine, theirs)
    assert not np.array_equal(mine, theirs[1:])
    theirs[0] = np.nan
    assert np.isnan(theirs).tolist() == [True, False, False, False]
    assert (mine == theirs).tolist() == [False, True, True, True]
    assert len({mine, theirs, mine}) == 2
    with pytest.raises(ValueError, match=r"broadcast|shape"):
        _ = mine == theirs[1:]


@pytest.mark.spec("GDP-2")
@pytest.mark.usefixtures("device")
def test_a_comparison_makes_nothing_stale_and_arithmetic_stays_out() -> None:
    mine = filled(device="gpu")
    _ = mine == 1
    assert mine.is_current("gpu")
    for operation in (
        lambda: mine + 1,
        lambda: 1 + mine,
        lambda: np.ones(4) + mine,
        lambda: np.add(mine, 1),
        lambda: np.equal.reduce(mine),
        lambda: np.equal(mine, 1, out=np.zeros(4, bool)),
        lambda: np.sum(mine),
        lambda: mine < 1,
        lambda: -mine,
    ):
        with pytest.raises(TypeError):
            operation()


@pytest.mark.spec("GDP-35")
@pytest.mark.parametrize("where", EVERYWHERE, ids=str)
@pytest.mark.parametrize("dtype", ["f8", "i4"])
@pytest.mark.usefixtures("device")
def test_xarray_knows_what_is_equal(where: dict[str, Any], dtype: str) -> None:
    xr = pytest.importorskip("xarray")
    mine, same, other = (xr.DataArray(filled(dtype, **where), dims="I") for _ in range(3))
    other.data[2] = 0
    assert mine.equals(same)
    assert mine.identical(same)
    assert not mine.equals(other)
    xr.testing.assert_equal(mine, same)
    with pytest.raises(AssertionError):
        xr.testing.assert_equal(mine, other)
    if dtype == "f8":
        mine.data[1] = same.data[1] = np.nan
        assert mine.equals(same)


# -- conversions that raise ----------------------------------------------------------------------


@pytest.mark.spec("GDP-106")
@pytest.mark.parametrize("where", EVERYWHERE, ids=str)
@pytest.mark.parametrize("from_storage", [None, "cpu"])
@pytest.mark.parametrize(
    ("dtype", "given"), [("f8", 1j), ("i4", np.nan), ("f4", 1e300)], ids=["complex", "nan", "large"]
)
@pytest.mark.usefixtures("device")
def test_a_conversion_that_raises_changes_nothing(
    where: dict[str, Any], from_storage: str | None, dtype: str, given: Any
) -> None:
    made = filled(dtype, **where)
    value: Any = np.full(2, given)
    if from_storage:
        value = gt.storage(value, device=from_storage)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(Warning):
            made[0:2] = value
    assert made.buffer is None or made.buffer.poisoned is None
    assert values(made) == [1, 2, 3, 4]


def test_a_view_keeps_its_values_where_a_conversion_raises() -> None:
    view = View["float*"]("v", 4)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        view[0] = np.float64(1e300)
    assert np.asarray(view).tolist() == [0.0] * 4


@pytest.mark.usefixtures("device")
def test_values_of_a_storage_are_held_while_they_are_converted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No other thread can write to the source during the conversion."""
    source, target = gt.ones((3,), device="gpu"), gt.zeros((3,), dtype="i4", device="gpu")
    held: list[int] = []

    converted = assignment._converted

    def noted(*arguments: Any) -> Any:
        held.append(len(source.buffer.table.holders))
        return converted(*arguments)

    monkeypatch.setattr(assignment, "_converted", noted)
    target[...] = source
    assert held[0] == 1
    assert target.data_ro.tolist() == [1, 1, 1]


@pytest.mark.usefixtures("device")
def test_a_storage_whose_values_cannot_be_had_leaves_those_that_were_there() -> None:
    source = gt.storage(np.array([1.0, np.nan, 3.0]), device="gpu")
    target = gt.storage(np.array([1, 2, 3], "i4"), dtype="i4", device="gpu")
    for side in (None, "gpu"):
        with target.access(side, "rw") as array:
            array[...] = array + 1
        before = target.data_ro.tolist()
        with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
            target[...] = source
        assert target.buffer.poisoned is None
        assert target.data_ro.tolist() == before
