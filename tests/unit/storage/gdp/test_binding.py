"""Tests of the rules for the arguments of a stencil call, with `bound`."""

from __future__ import annotations

import copy
import gc
import pickle
import warnings
import weakref
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage import SyncState, TransferWarning, bound
from psyclone_storage.storage.core.errors import AccessConflictError
from psyclone_storage.storage.core.native import COMPILED
from psyclone_storage.storage.core.token import AccessToken
from psyclone_storage.storage.gdp.binding import Binding
from psyclone_storage.storage.gdp.indexing import host_values
from storage_devices import device_in_place


class Logged:
    """An object with the data interface that records which of its functions are called."""

    def __init__(self, name: str, log: list[str], array: Any, device: str | None = None) -> None:
        self.array = array
        on_gpu = device == "gpu"
        info = array.__cuda_array_interface__ if on_gpu else array.__array_interface__
        verbs = {
            verb: lambda verb=verb: log.append(f"{verb} {name}")
            for verb in ("acquire", "touch", "release")
        }
        self.__gt_data_interface__ = {device: {**info, **verbs}}


@pytest.mark.spec("GDP-15", "GDP-20", "GDP-22", "GDP-23", "GDP-26")
def test_the_order_of_calls() -> None:
    log: list[str] = []
    things = {name: Logged(name, log, np.zeros(2)) for name in "abc"}
    with bound(things, writes=["b", "c"]) as arrays:
        log.append("run")
        arrays["b"][...] = 1.0
    assert log == [
        "acquire a", "acquire b", "acquire c", "run", "touch b", "touch c",
        "release a", "release b", "release c",
    ]  # fmt: skip
    assert things["b"].array.sum() == 2.0


@pytest.mark.spec("GDP-16", "GDP-21", "GDP-23")
@pytest.mark.parametrize("verbs", [{}, {"acquire": None, "touch": None, "release": None}])
def test_absent_functions_mean_no_action(verbs: Any) -> None:
    array = np.zeros(2)

    class Quiet:
        def __init__(self) -> None:
            self.__gt_data_interface__ = {None: {**array.__array_interface__, **verbs}}

    with bound({"a": Quiet()}, writes=["a"]) as arrays:
        arrays["a"][...] = 3.0
    assert list(array) == [3.0, 3.0]


@pytest.mark.spec("GDP-22", "GDP-26", "GDP-31")
def test_a_failed_run_touches_nothing_and_releases_everything() -> None:
    log: list[str] = []
    things = {name: Logged(name, log, np.zeros(2)) for name in "ab"}
    with pytest.raises(ZeroDivisionError), bound(things, writes=["a"]):
        _ = 1 / 0
    assert log == ["acquire a", "acquire b", "release a", "release b"]


@pytest.mark.spec("GDP-26")
@pytest.mark.usefixtures("device")
def test_a_failed_acquire_releases_what_was_acquired() -> None:
    log: list[str] = []
    mine = gt.ones((2,), device="gpu")
    things = {"a": Logged("a", log, np.zeros(2)), "m": mine, "z": object()}
    with pytest.raises(gt.GTNoSuchBufferError, match='"z"'):
        bound(things, writes=["m"]).__enter__()
    assert log == ["acquire a", "release a"]
    assert mine.buffer.table.holders == []


@pytest.mark.spec("GDP-27", "GDP-29")
def test_an_array_interface_is_main_memory() -> None:
    class OnHost:
        array = np.arange(3.0)
        __array_interface__ = array.__array_interface__

    plain = np.arange(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with bound({"a": OnHost(), "b": plain}, writes=["a", "b"]) as arrays:
            arrays["a"][0] = arrays["b"][0] = 9.0
    assert (OnHost.array[0], plain[0]) == (9.0, 9.0)


@pytest.mark.spec("GDP-28", "GDP-29")
def test_a_cuda_array_interface_is_the_gpu(upload: Any, download: Any) -> None:
    class OnDevice:
        array = upload([1.0, 2.0])
        __cuda_array_interface__ = array.__cuda_array_interface__

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        things = {"a": OnDevice(), "b": OnDevice.array}
        with bound(things, device="gpu", writes=["a"]) as arrays:
            arrays["a"][...] = 9.0
            assert download(arrays["b"])[0] == 9.0
    assert list(download(OnDevice.array)) == [9.0, 9.0]


@pytest.mark.spec("GDP-29", "GDP-83", "GDP-84")
@pytest.mark.parametrize("side", [None, "gpu"])
@pytest.mark.usefixtures("device")
def test_the_buffer_on_the_compute_device_is_used(side: str | None) -> None:
    read, written = gt.ones((2, 2), device="gpu"), gt.zeros((2, 2), device="gpu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with bound({"r": read, "w": written}, device=side, writes=["w"]) as arrays:
            arrays["w"][...] = arrays["r"] + 1.0
    dirty = SyncState.SYNC_HOST_DIRTY if side is None else SyncState.SYNC_DEVICE_DIRTY
    assert written.sync_state.state == dirty
    assert written[1, 1] == 2.0
    assert read.buffer.stats.count == 0


@pytest.mark.spec("GDP-30", "GDP-31", "GDP-32")
@pytest.mark.usefixtures("device")
def test_host_data_are_copied_to_the_device_and_back() -> None:
    read, written = np.ones(3), np.zeros(3)
    with (  # noqa: PT031 - the block is the call
        pytest.warns(TransferWarning, match='"(r|w)" is on cpu only') as caught,
        bound({"r": read, "w": written}, device="gpu", writes=["w"]) as arrays,
    ):
        arrays["w"][...] = arrays["r"] + 1.0
        arrays["r"][...] = 7.0
        assert written.sum() == 0.0
    assert len(caught) == 2
    assert caught[0].filename == __file__
    assert (list(written), list(read)) == ([2.0] * 3, [1.0] * 3)


@pytest.mark.spec("GDP-30", "GDP-31", "GDP-32")
def test_device_data_are_copied_to_the_host_and_back(upload: Any, download: Any) -> None:
    log: list[str] = []
    array = upload([1.0, 2.0])
    thing = Logged("a", log, array, "gpu")
    only = gt.zeros((2,), device="gpu", managed=None)
    with (  # noqa: PT031 - the block is the call
        pytest.warns(TransferWarning, match="on gpu only"),
        bound({"a": thing, "o": only}, writes=["a", "o"]) as arrays,
    ):
        assert log == ["acquire a"]
        arrays["o"][...] = arrays["a"]
        arrays["a"][...] = 5.0
    assert log == ["acquire a", "touch a", "release a"]
    assert list(download(array)) == [5.0, 5.0]
    assert only[1] == 2.0


@pytest.mark.spec("GDP-31")
@pytest.mark.usefixtures("device")
def test_nothing_is_copied_back_after_a_failure() -> None:
    values = np.zeros(3)
    with (
        pytest.warns(TransferWarning),
        pytest.raises(ZeroDivisionError),
        bound({"a": values}, device="gpu", writes=["a"]) as arrays,
    ):
        arrays["a"][...] = 1 / 0
    assert values.sum() == 0.0
    plain = gt.zeros((3,))
    with (  # noqa: PT012, PT031 - the block is the call
        pytest.warns(TransferWarning),
        pytest.raises(ZeroDivisionError),
        bound({"a": plain}, device="gpu", writes=["a"]) as arrays,
    ):
        arrays["a"][...] = 4.0
        _ = 1 / 0
    assert plain[0] == 0.0


@pytest.mark.spec("GDP-33")
@pytest.mark.parametrize("thing", [3.0, object(), [1.0, 2.0], None])
def test_an_argument_without_a_buffer_is_an_error(thing: Any) -> None:
    with pytest.raises(gt.GTNoSuchBufferError, match='argument "a" is a'), bound({"a": thing}):
        pytest.fail("the block must not run")


def test_what_is_written_must_be_an_argument() -> None:
    with pytest.raises(ValueError, match='"b"'):
        bound({"a": np.zeros(2)}, writes=["b"])


@pytest.mark.spec("GDP-19")
@pytest.mark.usefixtures("device")
def test_halos_infer_the_compute_domain() -> None:
    things = {
        "a": gt.zeros((8, 9, 5), halo=(2, (1, 0), 0)),
        "b": gt.zeros((6, 8), dims="IJ", halo=(0, 1)),
        "c": gt.zeros((5,), dims="K", device="gpu"),
        "d": gt.zeros((5, 4, 6, 2), dims=("K", "I", "J", "0")),
        "e": np.zeros((4, 6, 7)),
    }
    with bound(things) as arrays:
        assert arrays.domain == (4, 6, 5)
        assert arrays.origins["a"] == (2, 1, 0)
        assert arrays.origins["b"] == (0, 1)
        assert arrays.origins["e"] == (0, 0, 0)


@pytest.mark.usefixtures("device")
def test_what_is_only_read_on_the_host_is_read_only() -> None:
    for made in (gt.ones((2,)), gt.ones((2,), device="gpu")):
        with bound({"a": made}) as arrays, pytest.raises(ValueError, match="read-only"):
            arrays["a"][0] = 2.0


@pytest.mark.usefixtures("device")
def test_one_storage_may_be_read_and_written() -> None:
    for side in (None, "gpu"):
        made = gt.storage(np.arange(4.0), device="gpu")
        things = {"left": made[:-1], "right": made[1:]}
        with bound(things, device=side, writes=["left"]) as arrays:
            arrays["left"][...] = arrays["right"].copy()
        assert list(np.asarray(made)) == [1.0, 2.0, 3.0, 3.0]


@pytest.mark.usefixtures("device")
def test_the_data_are_locked_during_the_block() -> None:
    made = gt.ones((2,), device="gpu", label="theta")
    with (
        bound({"a": made}, device="gpu", writes=["a"]),
        pytest.raises(gt.StorageError, match="theta"),
    ):
        made.device_to_host()
    assert made[0] == 1.0


def failing(*_: Any) -> Any:
    raise MemoryError("no room")


@pytest.mark.spec("GDP-26")
@pytest.mark.parametrize("owner", [gt.Storage, AccessToken])
@pytest.mark.usefixtures("device")
def test_a_block_that_does_not_begin_leaves_nothing(
    owner: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = gt.ones((2,), device="gpu")
    name = "window_for" if owner is gt.Storage else "on_device"
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, failing)
        with pytest.raises(MemoryError):
            bound({"m": mine}, device="gpu", writes=["m"]).__enter__()
    assert mine.buffer.table.holders == []
    assert mine.data_ro.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("mode", ["r", "rw", "w"])
@pytest.mark.usefixtures("device")
def test_an_access_without_an_array_is_released(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = gt.ones((2,), device="gpu")
    with monkeypatch.context() as patch:
        patch.setattr(gt.Storage, "window_for", failing)
        with pytest.raises(MemoryError):
            mine.access("gpu", mode).__enter__()
    assert mine.buffer.table.holders == []
    assert (mine.buffer.poisoned is not None) == (mode == "w")


@pytest.mark.usefixtures("device")
def test_a_block_is_entered_again_only_after_its_end() -> None:
    both = gt.zeros((3,), device="gpu")
    block = bound({"x": both}, device="gpu", writes=["x"])
    for _ in range(3):
        with block:
            with pytest.raises(AccessConflictError, match="until the block ends"):
                block.__enter__()
            assert len(both.buffer.table.holders) == 1
        assert both.buffer.table.holders == []


def test_a_second_block_sees_what_came_between() -> None:
    read, written = gt.zeros((2,)), gt.zeros((2,))
    arguments = {"r": read, "w": written}
    block = bound(arguments, writes=["w"])
    for turn in range(4):
        read[...] = turn
        with block as arrays:
            assert not arrays["r"].flags.writeable
            arrays["w"][...] = arrays["r"] + 1
        assert list(written.data_ro) == [turn + 1] * 2
    other = arguments["r"] = gt.ones((2,))
    with block as arrays:
        assert np.shares_memory(arrays["r"], other.data_ro)
        assert other.buffer.table.holders
        assert not read.buffer.table.holders


@pytest.mark.parametrize("device", [None, "gpu"])
def test_a_block_gives_the_arrays_whatever_was_done_to_its_last_answer(device: str | None) -> None:
    with device_in_place("emulated"):
        fields = {name: gt.zeros((3,), device="gpu") for name in "ab"}
        block = gt.bound(fields, device=device, writes=("b",))
        with block as arrays:
            expected = dict(arrays)
        changes: list[Any] = [
            lambda answer: answer.update(a=None),
            lambda answer: answer.pop("a"),
            lambda answer: answer.popitem(),
            lambda answer: answer.setdefault("c", None),
            lambda answer: answer.clear(),
            lambda answer: answer.__setitem__("a", None),
            lambda answer: answer.__delitem__("a"),
            lambda answer: answer.__ior__({"c": None}),
        ]
        for change in changes:
            with block as arrays, pytest.raises(TypeError, match=r"dict\(arrays\)"):
                change(arrays)
            assert all(arrays[name] is expected[name] for name in "ab")
        # `exec` with the mapping as globals still adds names.
        with block as arrays:
            exec("global a; a = None", arrays)
        with block as arrays:
            assert list(arrays) == ["a", "b"]
            assert all(arrays[name] is expected[name] for name in "ab")
            assert arrays.domain == (3,)
        assert type(copy.copy(arrays)) is dict
        assert list(pickle.loads(pickle.dumps(arrays))) == ["a", "b"]


def test_blocks_are_entered_and_left_by_whoever_asks_for_their_methods() -> None:
    field = gt.zeros((3,))
    fields: dict[str, Any] = {"a": field}
    for _ in range(3):
        with ExitStack() as stack:
            stack.enter_context(gt.bound(fields, writes=("a",)))["a"][...] += 1.0
    block: Any = gt.bound(fields, writes=("a",))
    ways = [(block.__enter__, block.__exit__) for _ in range(10)]
    for enter, leave in ways:
        enter()["a"][...] += 1.0
        assert field.buffer.table.writers == 1
        leave(None, None, None)
    kind = type(block)
    kind.__enter__(block)["a"][...] += 1.0
    kind.__exit__(block, None, None, None)
    assert field.data_ro.tolist() == [14.0] * 3
    for wrong, given, named in (
        (block.__enter__, (None,), {}),
        (block.__enter__, (), {"way": 1}),
        (block.__exit__, (None, None), {}),
        (block.__exit__, (None,) * 4, {}),
        (kind.__enter__, (None,), {}),
        (kind.__enter__, (), {}),
        (kind.__exit__, (None,) * 9, {}),
    ):
        with pytest.raises((TypeError, AttributeError)):
            wrong(*given, **named)
    with block:
        pass
    gone = weakref.ref(field)
    fields["leave"] = block.__exit__
    del field, fields, block, ways, enter, leave, wrong
    gc.collect()
    assert gone() is None


def test_names_that_are_equal_are_written_as_those_that_are_identical() -> None:
    with device_in_place("emulated"):
        field = gt.zeros((3,), device="gpu")
        for _ in range(3):
            with gt.bound({"field_1": field}, writes=("_".join(("field", "1")),)) as arrays:
                arrays["field_1"][...] += 1.0
            with gt.bound({"field_1": field}) as arrays:
                assert not arrays["field_1"].flags.writeable
        assert field.data_ro.tolist() == [3.0, 3.0, 3.0]


@pytest.mark.skipif(not COMPILED, reason="only the compiled core has a fast path")
def test_names_that_are_equal_take_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    general: list[int] = []
    enter = Binding._enter
    monkeypatch.setattr(Binding, "_enter", lambda block: general.append(1) or enter(block))
    with device_in_place("emulated"):
        fields = {name: gt.zeros((4,), device="gpu") for name in ("alpha", "beta")}
        for _ in range(5):
            written = "".join(["be", "ta"])
            with bound(fields, writes=(written,)) as arrays:
                arrays["beta"][...] += 1.0
        assert len(general) == 1
        assert fields["beta"][0] == 5.0


@pytest.mark.parametrize("device", [None, "gpu"])
def test_blocks_that_read_and_write_in_turn_count_what_is_written(device: str | None) -> None:
    with device_in_place("emulated"):
        field = gt.zeros((3,), device="gpu")
        for _ in range(3):
            with gt.bound({"a": field}, device=device, writes=("a",)):
                pass
            version = field.buffer.version
            with gt.bound({"a": field}, device=device):
                assert not field.buffer.table.writers
            assert field.buffer.version == version
            with gt.bound({"a": field}, device=device, writes=("a",)):
                assert field.buffer.table.writers == 1
            assert field.buffer.version == version + 1


def test_values_that_are_only_on_a_device_are_asked_for_before_they_are_copied() -> None:
    with device_in_place("emulated"):
        log: list[str] = []
        source = gt.full((3,), 2.0, device="gpu", managed=None).to_cupy()
        assert host_values(Logged("v", log, source, "gpu")).tolist() == [2.0] * 3
        assert log == ["acquire v"]


def test_chunks_of_single_bytes_begin_where_their_rows_do() -> None:
    with device_in_place("emulated"):
        field = gt.zeros((4, 3), "i1", device="gpu", chunks=(1, 2, 1))
        assert field.buffer.chunks.bounds == (0, 3, 9, 12)
